package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"braid/internal/option"
)

// TestManPagesShowEveryFlag of every command that users type, with each of its names.
func TestManPagesShowEveryFlag(t *testing.T) {
	program := option.Braid()
	pages := manPages(t, program)
	for _, c := range append(allCommands(), program.Command) {
		name := strings.ReplaceAll("braid "+c.Name, " ", "-")
		if c.Name == "braid" {
			name = "braid"
		}
		page, ok := pages[name]
		if ok == c.Hidden {
			t.Errorf("%s: a page: %t", c.Name, ok)
		}
		for _, o := range c.Options {
			for name := range strings.FieldsSeq(o.Names) {
				if written := strings.ReplaceAll("--"+name, "-", `\-`); len(name) > 1 && ok &&
					!strings.Contains(page, `\fB`+written+`\fP`) {
					t.Errorf("%s: no --%s", c.Name, name)
				}
			}
		}
		if ok && !strings.Contains(page, "\n.SH EXAMPLES\n") {
			t.Errorf("%s: no examples", c.Name)
		}
	}
	for _, code := range program.Exits {
		if !strings.Contains(pages["braid"], `\fB`+code.Word+`\fP`) {
			t.Errorf("no exit code %s", code.Word)
		}
	}
}

// manPages are the pages of a program by their names.
func manPages(t *testing.T, program option.Program) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, p := range program.Pages() {
		texts[p.Name] = roff(p.Text)
	}
	return texts
}

// TestManPageIsAsTyped: nothing that is said can be taken for a request, an escape or a mark, and what is typed can be copied.
func TestManPageIsAsTyped(t *testing.T) {
	page := manPages(t, option.Program{
		Version: "1.0-rc1", Date: "2026-11-21",
		Command: option.Command{
			Name: "braid", Summary: "fetch files", Usage: []string{"braid COMMAND"},
			Commands: []option.Command{{
				Name: "get", Summary: "download files", Usage: []string{"braid get [FLAG]... URL", "braid get -i LIST"},
				Examples: []option.Example{{What: "a file", Line: "braid get -o 'a b' https://h/~me/`x`"},
					{What: "hidden", Line: ".x y\\n"}},
				Notes: []string{".first *words*\nare no request. 'nor these' <b> _x_ [y](z) & \\", "Exit codes: 0 done"},
				Options: []option.Option{
					{Names: "out o", Group: option.FileGroup, Kind: option.Word, Usage: "call it `NAME`; - is standard output"},
					{Names: "dir d P", Group: option.FileGroup, Kind: option.Word, Usage: "into `FOLDER`, as in --dir '*'"},
					{Names: "require", Group: option.ProofGroup, Kind: option.Choice,
						Usage: "`none|digest`: what must be proven"},
				},
			}},
		},
	})["braid-get"]
	for _, want := range []string{
		".TH BRAID-GET 1 \"2026-11-21\" \"braid 1.0-rc1\" \"braid manual\"\n",
		"\nbraid\\-get \\- download files\n",
		"\n\\fBbraid get\\fP [FLAG]\\&... URL\n.br\n\\fBbraid get\\fP \\-i LIST\n",
		"\n\\&.first *words*\nare no request. \\(aqnor these\\(aq <b> _x_ [y](z) & \\e\n",
		"\n\\fB\\-o\\fP, \\fB\\-\\-out\\fP \\fINAME\\fP\ncall it NAME; \\- is standard output\n",
		"\n\\fB\\-d\\fP, \\fB\\-P\\fP, \\fB\\-\\-dir\\fP \\fIFOLDER\\fP\ninto FOLDER, as in \\-\\-dir \\(aq*\\(aq\n",
		"\nbraid get \\-o \\(aqa b\\(aq https://h/\\(time/\\`x\\`\n",
		"\n\\&.x y\\e\\&n\n",
		".SH EXIT STATUS\nExit codes: 0 done\n",
		"\\-\\-out is BRAID_OUT",
		"\n.SH SEE ALSO\n\\fBbraid\\fP(1)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Count(page, ".SS File\n") != 1 {
		t.Errorf("a group is not in one place:\n%s", page)
	}
}

// TestExitCodesAreSaidOnce: help and README say what the table of exit codes says.
func TestExitCodesAreSaidOnce(t *testing.T) {
	exitCodes := option.Braid().Exits
	for code := exitDone; code <= exitLimit; code++ {
		if got := exitCodes[code].Word; got != strconv.Itoa(code) {
			t.Errorf("row %d is about %s", code, got)
		}
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range exitCodes {
		if row := "| " + code.Word + " | " + code.Text + " |\n"; !strings.Contains(string(readme), row) {
			t.Errorf("README.md has no row %q", row)
		}
	}
}

// TestCompleteKnowsTheFlags, and what their values can be.
func TestCompleteKnowsTheFlags(t *testing.T) {
	for line, want := range map[string]string{
		"|get|--requ":             "words\n\n--requ\n--require\twhat must be proven before the file gets its name\n",
		"|get|--require|":         "words\n\n\nnone\t\ndigest\t\nsignature\t\n",
		"|get|--progress=b":       "words\n--progress=\nb\nbar\t\n",
		"|get|-j|":                "words\n\n\nauto\t\n",
		"|get|-d|":                "folders\n\n\n",
		"|get|--keyring|":         "files\n\n\n",
		"|get|":                   "files\n\n\n",
		"|serve|":                 "folders\n\n\n",
		"|probe|":                 "words\n\n\n",
		"|feed|convert|--to|":     "words\n\n\nhina-di\t\nlirs\t\nsoif\t\natom\t\n",
		"|completion|":            "words\n\n\nbash\t\nzsh\t\nfish\t\n",
		"|watch|s":                "files\n\ns\nstatus\t\n",
		"|m":                      "words\n\nm\nmeta\twrite documents about files\n",
		"|get|--bogus|--no-refer": "words\n\n--no-refer\n--no-referer\tdo not send the original URL to mirrors\n",
		"|get|-qo|x|--max-connect": "words\n\n--max-connect\n--max-connection-per-server\tsend at most N concurrent " +
			"requests to one server\n",
		"|feed|check|--max-entries": "words\n\n--max-entries\n--max-entries\t",
	} {
		code, out, err := command(t, append([]string{"complete", "--"}, strings.Split(line, "|")[1:]...)...)
		if code != exitDone || err != "" || !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit code %d, %q, %q; want %q", line, code, out, err, want)
		}
	}
}

func TestCompletionCommand(t *testing.T) {
	for _, line := range []string{"completion", "completion tcsh", "completion bash zsh"} {
		if code, out, err := command(t, strings.Fields(line)...); code != exitUsage || out != "" ||
			!strings.Contains(err, "needs the name of one shell (choose one of bash, zsh, fish)") {
			t.Errorf("%s: exit code %d, %q, %q", line, code, out, err)
		}
	}
	if code, out, _ := command(t, "completion", "zsh"); code != exitDone || !strings.HasPrefix(out, "#compdef braid\n") {
		t.Errorf("exit code %d, %q", code, out)
	}
}

// TestManCommand writes the same pages always, compressed or not.
func TestManCommand(t *testing.T) {
	dir, packed := t.TempDir(), t.TempDir()
	for _, words := range [][]string{{"man", "--date", "2026-11-21", dir}, {"man", "--date=2026-11-21", "--gzip", packed}} {
		if code, out, err := command(t, words...); code != exitDone || out+err != "" {
			t.Fatalf("exit code %d, %q, %q", code, out, err)
		}
	}
	plain, err := os.ReadFile(filepath.Join(dir, "braid-get.1"))
	if err != nil {
		t.Fatal(err)
	}
	small, err := os.ReadFile(filepath.Join(packed, "braid-get.1.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if got := gunzip(t, small); !bytes.Equal(got, plain) || !bytes.Contains(plain, []byte(`1 "2026-11-21"`)) {
		t.Errorf("the pages differ, or have no date:\n%s", plain[:200])
	}
	if !bytes.Equal(small[4:8], make([]byte, 4)) {
		t.Errorf("a time in the compressed page: %x", small[:10])
	}
	if code, _, err := command(t, "man", filepath.Join(dir, "gone")); code != exitLocal ||
		!strings.Contains(err, "man braid.1: ") {
		t.Errorf("exit code %d, %q", code, err)
	}
	if code, _, _ := command(t, "man"); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
