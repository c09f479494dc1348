package option

import (
	"strings"
	"testing"
)

// braid is a program with the difficult cases.
var braid = Program{
	Command: Command{
		Name: "braid", Summary: "fetch files", Usage: []string{"braid COMMAND"},
		Options: []Option{{Names: "version V", Kind: Switch, Usage: "show the version"}},
		Commands: []Command{
			{
				Name: "get", Summary: "download files",
				Usage: []string{"braid get [FLAG]... URL", "braid get [FLAG]... -i LIST", "braid get FILE"},
				Options: []Option{
					{Names: "out o", Kind: Word, Usage: "call it `NAME`; - is standard output"},
					{Names: "require", Kind: Choice, Usage: "`none|digest|signature`: what must be proven"},
					{Names: "dir d P", Kind: Word, Usage: "into `FOLDER`"},
					{Names: "split s", Kind: Word, Usage: "`N|auto`"},
					{Names: "quiet q", Kind: Switch, Usage: "say nothing"},
				},
			},
			{Name: "feed", Summary: "feeds", Commands: []Command{
				{Name: "feed check", Usage: []string{"braid feed check FILE"}},
				{Name: "feed convert", Options: []Option{{Names: "to", Kind: Choice, Words: "atom|lirs",
					Usage: "write `FORMAT`"}}},
			}},
			{Name: "completion", Usage: []string{"braid completion bash|zsh"}},
			{Name: "complete", Hidden: true},
		},
	},
}

// TestTextsOfCommands: each command that has options is in the texts, with everything that its help shows.
func TestTextsOfCommands(t *testing.T) {
	seen := 0
	for _, c := range Braid().withBelow() {
		if c.of != 0 {
			seen++
		}
		if c.Summary == "" || len(c.Usage) == 0 || len(c.Examples) == 0 {
			t.Errorf("%s: %+v", c.Name, c)
		}
		for _, way := range c.Usage {
			if !strings.HasPrefix(way, "braid ") {
				t.Errorf("%s: %s", c.Name, way)
			}
		}
	}
	if seen != len(typed) {
		t.Errorf("%d commands with options, of %d", seen, len(typed))
	}
	if p := Braid(); len(p.About) != 3 || len(p.Exits) != 16 || len(p.Environment) == 0 || len(p.Files) == 0 {
		t.Errorf("%+v", p)
	}
}

func TestPlaceholder(t *testing.T) {
	for usage, want := range map[string][2]string{
		"call it `NAME`; or not": {"NAME", "call it NAME; or not"},
		"`a|b`: what":            {"a|b", "what"},
		"`N` times":              {"N", "N times"},
		"nothing":                {"", "nothing"},
		"one ` only":             {"", "one ` only"},
	} {
		if word, plain := (Option{Usage: usage}).placeholder(); word != want[0] || plain != want[1] {
			t.Errorf("%q: %q, %q", usage, word, plain)
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

// TestReplyIsLines: the reply has its lines, whatever the user typed.
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

// FuzzComplete: for every line, each completion begins with the last word and is a single line.
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
