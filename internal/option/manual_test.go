package option

import (
	"strings"
	"testing"
)

// braid is a program with what can be hard about one.
var braid = Program{
	Version: "1.0-rc1", Date: "2026-11-21",
	Command: Command{
		Name: "braid", Summary: "fetch files", Usage: []string{"COMMAND"},
		Flags: []Flag{{Names: []string{"version", "V"}, Usage: "show the version"}},
		Commands: []Command{
			{
				Name: "get", Summary: "download files", Usage: []string{"[FLAG]... URL", "braid get -i LIST"}, Operands: File,
				Examples: []Example{{"a file", "braid get -o 'a b' https://h/~me/`x`"}, {"hidden", ".x \\n"}},
				Notes:    []string{".first words\nare no request. 'nor these'", "Exit codes: 0 done"},
				Flags: []Flag{
					{Names: []string{"out", "o"}, Group: "File", Value: "NAME", Usage: "call it NAME; - is standard output", Variable: "BRAID_OUT", Kind: File},
					{Names: []string{"require"}, Group: "Proof", Value: "WORD", Usage: "what must be proven", Words: []string{"none", "digest", "signature"}},
					{Names: []string{"dir", "d", "P"}, Group: "File", Value: "FOLDER", Kind: Folder},
					{Names: []string{"split", "s"}, Value: "N|auto", Words: []string{"auto"}},
					{Names: []string{"quiet", "q"}, Group: "Output"},
				},
			},
			{Name: "feed", Summary: "feeds", Commands: []Command{{Name: "check", Operands: File}, {Name: "convert", Flags: []Flag{{Names: []string{"to"}, Value: "FORMAT", Words: []string{"atom", "lirs"}}}}}},
			{Name: "completion", Words: []string{"bash", "zsh"}},
		},
	},
	Exits: []Term{{"0", "done"}},
}

// TestPages: each command has its page, and nothing that is said can be taken for a request or an escape.
func TestPages(t *testing.T) {
	var names []string
	texts := map[string]string{}
	for _, p := range braid.Pages() {
		names = append(names, p.Name)
		texts[p.Name] = string(p.Text)
	}
	if got := strings.Join(names, " "); got != "braid braid-get braid-feed braid-feed-check braid-feed-convert braid-completion" {
		t.Errorf("pages: %s", got)
	}
	for _, want := range []string{
		".TH \"BRAID\\-GET\" 1 \"2026-11-21\" \"braid 1.0\\-rc1\" \"braid manual\"\n",
		"\nbraid\\-get \\- download files\n",
		"\n\\fBbraid get\\fR [FLAG]... URL\n.br\n\\fBbraid get\\fR \\-i LIST\n",
		"\n\\&.first words are no request. \\(aqnor these\\(aq\n",
		"\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fINAME\\fR\ncall it NAME; \\- is standard output\n",
		"\n\\fB\\-d\\fR, \\fB\\-P\\fR, \\fB\\-\\-dir\\fR \\fIFOLDER\\fR\n",
		"\nbraid get \\-o \\(aqa b\\(aq https://h/\\(time/\\`x\\`\n",
		"\n\\&.x \\en\n",
		".SH \"EXIT STATUS\"\nExit codes: 0 done\n",
		"\\-\\-out is BRAID_OUT",
	} {
		if !strings.Contains(texts["braid-get"], want) {
			t.Errorf("no %q in\n%s", want, texts["braid-get"])
		}
	}
	if strings.Count(texts["braid-get"], ".SS \"File\"") != 1 {
		t.Errorf("a group is not in one place:\n%s", texts["braid-get"])
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if len(line) > 81 && !strings.HasPrefix(line, ".TH") {
				t.Errorf("%s: a long line: %s", name, line)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"":                             "words||: get feed completion help",
		"g":                            "words||g: get",
		"help f":                       "words||f: feed",
		"help feed c":                  "words||c: check convert",
		"help get x":                   "words||: ",
		"feed ":                        "words||: check convert",
		"bogus ":                       "words||: ",
		"feed bogus ":                  "words||: ",
		"-":                            "words||-: --version --help",
		"get -":                        "files||-: --out --require --dir --split --quiet --help",
		"get --":                       "words||--: --out --require --dir --split --quiet --help",
		"get --re":                     "words||--re: --require",
		"get -o":                       "words||-o: -o",
		"get --require ":               "words||: none digest signature",
		"get --require d":              "words||d: digest",
		"get --require=":               "words|--require=|: none digest signature",
		"get --require=si":             "words|--require=|si: signature",
		"get --require=digest --out x": "files||x: ",
		"get --bogus=":                 "words||: ",
		"get --quiet=":                 "words||: ",
		"get -P ":                      "folders||: ",
		"get -P x ":                    "files||: ",
		"get -qd ":                     "folders||: ",
		"get -dx ":                     "files||: ",
		"get -sa":                      "words|-s|a: auto",
		"get -q ":                      "files||: ",
		"get -q -- --re":               "files||--re: ",
		"get --out -- --re":            "words||--re: --require",
		"feed convert --to ":           "words||: atom lirs",
		"completion ":                  "words||: bash zsh",
	} {
		r := braid.Complete(strings.Split(line, " "))
		var words []string
		for _, w := range r.Words {
			words = append(words, w.Word)
		}
		if got := kinds[r.Kind] + "|" + r.Prefix + "|" + r.Rest + ": " + strings.Join(words, " "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	if r := braid.Complete(nil); len(r.Words) != 4 {
		t.Errorf("of nothing: %v", r)
	}
}

// TestReplyIsLines: what the scripts read has its lines, whatever the user typed.
func TestReplyIsLines(t *testing.T) {
	r := Reply{Kind: Folder, Prefix: "--dir=", Rest: "a\nb", Words: []Term{{"x", "one\ttwo: three"}}}
	if got := r.String(); got != "folders\n--dir=\na b\nx\tone two\n" {
		t.Errorf("%q", got)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range Shells() {
		if s := Completion(shell, "fetch"); !strings.Contains(s, "fetch completion "+shell) || strings.Contains(s, "PROGRAM") {
			t.Errorf("%s: %s", shell, s)
		}
	}
	if Completion("tcsh", "fetch") != "" {
		t.Error("a completion for tcsh")
	}
}

// FuzzComplete: whatever is typed, what is offered goes on as the line ends, and is on one line.
func FuzzComplete(f *testing.F) {
	for _, line := range []string{"get --require=si", "get -qd x", "help feed c", "get -sa -- -", "get -q -o"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		r := braid.Complete(words)
		last := words[len(words)-1]
		if r.Kind != Anything || len(r.Words) > 0 {
			if r.Prefix+r.Rest != last {
				t.Errorf("%q: goes on from %q", line, r.Prefix+r.Rest)
			}
		}
		for _, w := range r.Words {
			if !strings.HasPrefix(r.Prefix+w.Word, last) {
				t.Errorf("%q: %s", line, w.Word)
			}
		}
		if n := strings.Count(r.String(), "\n"); n != 3+len(r.Words) {
			t.Errorf("%q: %d lines for %d words", line, n, len(r.Words))
		}
	})
}
