package option

import (
	_ "embed"
	"strings"
)

// Shells are those that there is a completion for.
var shells = []struct{ name, script string }{{"bash", bashScript}, {"zsh", zshScript}, {"fish", fishScript}}

var (
	//go:embed completion.bash
	bashScript string
	//go:embed completion.zsh
	zshScript string
	//go:embed completion.fish
	fishScript string
)

// Shells are the shells that there is a completion for.
func Shells() (names []string) {
	for _, s := range shells {
		names = append(names, s.name)
	}
	return names
}

// Completion is the script that makes a shell complete lines of a program. It runs "PROGRAM complete -- WORD...", so it
// stays right when the program gets other flags. It is empty for a shell that is not known.
func Completion(shell, program string) string {
	for _, s := range shells {
		if s.name == shell {
			return strings.ReplaceAll(s.script, "PROGRAM", program)
		}
	}
	return ""
}

// kinds are how a Reply calls what fits beside its words.
var kinds = map[Fits]string{Anything: "words", File: "files", Folder: "folders"}

// String is a Reply as the scripts read it: a line that says whether files fit, one with the prefix, one with what files
// begin with, and the words, each with what it is after a tab.
func (r Reply) String() string {
	var b strings.Builder
	for _, head := range []string{kinds[r.Kind], r.Prefix, r.Rest} {
		b.WriteString(oneLine(head) + "\n")
	}
	for _, w := range r.Words {
		b.WriteString(w.Word + "\t" + oneLine(brief(w.Text)) + "\n")
	}
	return b.String()
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// brief is what stands beside a word in a menu: a text up to where it explains itself.
func brief(text string) string {
	for _, end := range []string{": ", "; ", " (", ", as in "} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}
