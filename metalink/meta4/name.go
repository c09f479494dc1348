package meta4

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a name: what file systems have as the longest, and Linux as the longest path.
const (
	maxSegment = 255
	maxPath    = 4096
)

// SafePath says why a file may not be put at the path name below a folder, or nothing if it may (rule 10). The
// path has slashes, whatever the system. RFC 5854, section 4.1.2.1, wants it relative and without directory
// traversal; what is refused beyond that hides, deceives a reader, or means something else on another system.
func SafePath(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxPath:
		return fmt.Errorf("the name is longer than %d bytes", maxPath)
	case !utf8.ValidString(name):
		return errors.New("the name is not valid UTF-8")
	case name[0] == '/':
		return errors.New("the name is an absolute path")
	case strings.ContainsAny(name, `\:`):
		return errors.New("the name contains a backslash or a colon")
	case strings.ContainsFunc(name, deceptive):
		return errors.New("the name contains control characters")
	}
	for segment := range strings.SplitSeq(name, "/") {
		if err := safeSegment(segment); err != nil {
			return err
		}
	}
	return nil
}

// safeSegment judges the name of a file or folder.
func safeSegment(s string) error {
	switch {
	case s == "":
		return errors.New("a part of the name is empty")
	case len(s) > maxSegment:
		return fmt.Errorf("a part of the name is longer than %d bytes", maxSegment)
	case s[0] == '.':
		return errors.New("a part of the name begins with a dot")
	case s[0] == '~':
		return errors.New("a part of the name begins with a tilde")
	case strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
		return errors.New("a part of the name ends with a dot or a space")
	case reserved(s):
		return errors.New("a part of the name is reserved on some systems")
	}
	return nil
}

// deceptive tells control characters and those that change how text around them is read.
func deceptive(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// reserved tells the device names of Windows, which no extension makes safe.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, com := strings.CutPrefix(stem, "COM")
	if !com {
		port, com = strings.CutPrefix(stem, "LPT")
	}
	return com && utf8.RuneCountInString(port) == 1 && strings.Contains("123456789¹²³", port)
}
