package program

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                               nil,
		" \t ":                           nil,
		"tar xf {}":                      {"tar", "xf", "{}"},
		"  a   b  ":                      {"a", "b"},
		`a 'b c' "d e" f\ g`:             {"a", "b c", "d e", "f g"},
		`a'b'"c"d`:                       {"abcd"},
		`'' ""`:                          {"", ""},
		`'a\b' "a\b" "a\"b\\c\$d"`:       {`a\b`, `a\b`, `a"b\c$d`},
		`sh -c 'tar xf "$X" && rm "$X"'`: {"sh", "-c", `tar xf "$X" && rm "$X"`},
		`sh -c "echo $X"`:                {"sh", "-c", "echo $X"},
		`it\'s \$5 *.iso ~ # {}.x`:       {"it's", "$5", "*.iso", "~", "#", "{}.x"},
	} {
		if got, err := Words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
	for line, want := range map[string]error{
		`a 'b`: errQuote, `a "b`: errQuote, `a "b\"`: errQuote, `a \`: errQuote,
		"a && b": errShell, "a | b": errShell, "a > b": errShell, "a $X": errShell, "a; b": errShell, "a `b`": errShell,
		"(a)": errShell, "x$X": errShell,
	} {
		if got, err := Words(line); !errors.Is(err, want) {
			t.Errorf("%q: %q, %v, want %v", line, got, err, want)
		}
	}
}

// Whatever words there are, quoted they come back as they were; and no line makes it fail otherwise than by an error.
func FuzzSplitWords(f *testing.F) {
	f.Add("a b", `it's "x"`, `\`)
	f.Add("", "\x00\xff", "$X | y")
	f.Fuzz(func(t *testing.T, a, b, line string) {
		single := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		double := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
		}
		if got, err := Words(single(a) + " " + double(b)); err != nil || !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q, %q: %q, %v", a, b, got, err)
		}
		words, err := Words(line)
		if err != nil {
			return
		}
		if n := len(strings.Join(words, "")); n > len(line) {
			t.Errorf("%q has %d bytes in its words", line, n)
		}
	})
}
