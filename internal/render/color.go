package render

import "os"

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Colored reports whether to use colors. The flag of this run has precedence over NO_COLOR, which is for all
// programs (no-color.org: set and not empty).
func Colored(word string, terminal bool) bool {
	switch word {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return terminal && os.Getenv("NO_COLOR") == ""
}

// A hue is the escape sequence of a color (ECMA-48, SGR).
type hue string

const (
	red    hue = "\x1b[1;31m"
	green  hue = "\x1b[32m"
	yellow hue = "\x1b[33m"
)

// paint colors text, which must be escaped already.
func (h hue) paint(text string) string { return string(h) + text + "\x1b[0m" }
