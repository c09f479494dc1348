package release

import (
	"cmp"

	"braid/internal/once"
)

// suffixes matches the suffixes of a file name, as sort -V defines them. sort -V compares suffixes last.
var suffixes = once.Pattern(`(?:\.[A-Za-z~][A-Za-z0-9~]*)*$`)

// A fileName is a text that is compared as the name of a file. stem is the text without its suffixes.
type fileName struct{ text, stem string }

func nameOf(text string) fileName { return fileName{text, text[:suffixes().FindStringIndex(text)[0]]} }

// compareNames compares like the program sort with the option -V (GNU coreutils, filevercmp), for texts that do not begin
// with a dot.
func compareNames(a, b fileName) int {
	return cmp.Or(compareRuns(a.stem, b.stem), compareRuns(a.text, b.text))
}

// compareRuns compares runs of digits as numbers, and other runs byte by byte. A tilde comes first, then the end of the
// text, then letters, then other bytes.
func compareRuns(a, b string) int {
	for a != "" || b != "" {
		for a != "" && !isDigit(a[0]) || b != "" && !isDigit(b[0]) {
			if c := rank(a) - rank(b); c != 0 {
				return c
			}
			a, b = a[1:], b[1:]
		}
		x, y := digits(a), digits(b)
		if c := compareNumber(a[:x], b[:y]); c != 0 {
			return c
		}
		a, b = a[x:], b[y:]
	}
	return 0
}

// rank returns the position of the first byte of s in the order of compareRuns. A digit ranks like the end of the text.
func rank(s string) int {
	switch {
	case s == "", isDigit(s[0]):
		return 0
	case s[0] == '~':
		return -1
	case 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z':
		return int(s[0])
	}
	return int(s[0]) + 256
}

func digits(s string) (n int) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
