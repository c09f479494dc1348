package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"braid/internal/option"
)

// TestDocumentedCommands: each line of the documentation that begins with braid is one that the flag parser takes. The
// recipes are also run (TestRealRecipes).
func TestDocumentedCommands(t *testing.T) {
	tried := 0
	for _, page := range pages(t, "../doc/*.md", "../*.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(data)) {
			tried++
			if err := tryLine(line); err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
	if tried < 40 {
		t.Errorf("%d lines only", tried)
	}
}

func pages(t *testing.T, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		all = append(all, some...)
	}
	return all
}

// TestLinksOfPages lead to something.
func TestLinksOfPages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages(t, "../doc/*.md", "../doc/decisions/*.md", "../*.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(data, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), string(m[1]))); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestManualNamesCommands: the table at the top of the manual has each command that help shows.
func TestManualNamesCommands(t *testing.T) {
	manual, err := os.ReadFile("../doc/manual.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(manual), "\n## ")
	for _, c := range option.Braid().Commands {
		if name, _, _ := strings.Cut(c.Name, " "); !c.Hidden && !strings.Contains(table, "`braid "+name+"`") {
			t.Errorf("no braid %s", name)
		}
	}
}

// TestExamplesOfHelp can be typed, too.
func TestExamplesOfHelp(t *testing.T) {
	for _, c := range allCommands() {
		for _, line := range c.Examples {
			for _, command := range commandLines("    " + line.Line + "\n") {
				if err := tryLine(command); err != nil {
					t.Errorf("%s: %s: %v", c.Name, command, err)
				}
			}
		}
	}
}

// TestTryLineCatches what the parser refuses.
func TestTryLineCatches(t *testing.T) {
	for _, line := range []string{"braid gte x", "braid get --ouput x u", "braid get -x many u", "braid feed chek u",
		"braid get --require u"} {
		if tryLine(line) == nil {
			t.Errorf("%s is taken", line)
		}
	}
	text := "    $ braid get 'a b' # why\n\tbraid serve x\n```sh\nX=1 braid probe u > f &\nno braid\n```\nbraid in " +
		"prose\n`braid inline`\n"
	if got := commandLines(text); !slices.Equal(got, []string{"braid get 'a b'", "braid serve x", "braid probe u"}) {
		t.Errorf("%q", got)
	}
}

// commandLine finds braid at the beginning of a line of code, behind a prompt and variables.
var commandLine = regexp.MustCompile(`^\s*(?:\$ )?(?:\./)?(?:[A-Z_]+=\S+ )*(braid .*)$`)

// commandLines are the lines of code in a page that run braid, up to where the shell does something else. Code is indented
// or fenced.
func commandLines(page string) (lines []string) {
	isFenced := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			isFenced = !isFenced
			continue
		}
		if !isFenced && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t") {
			continue
		}
		if m := commandLine.FindStringSubmatch(line); m != nil {
			lines = append(lines, untilOperator(m[1]))
		}
	}
	return lines
}

// untilOperator cuts a line where, outside of quotes, a comment, a pipe, a list or a redirection begins.
func untilOperator(line string) string {
	quote := rune(0)
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune("|;&<>", r), r == '#' && line[i-1] == ' ':
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// tryLine parses a line, and runs nothing.
func tryLine(line string) error {
	l, err := readLine(shellWords(line)[1:])
	if err != nil || l.shows != "" {
		return err
	}
	s := streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	_, targets := commands[l.command.Name](s)
	return l.parse(context.Background(), targets, func(context.Context, []string) error { return nil })
}

// shellWords takes a line apart at spaces that are not in quotes.
func shellWords(line string) (words []string) {
	quote, word, inWord := rune(0), "", false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && r == ' ':
			if inWord {
				words = append(words, word)
			}
			word, inWord = "", false
		default:
			word, inWord = word+string(r), true
		}
	}
	return words
}
