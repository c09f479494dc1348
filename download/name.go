package download

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"braid/source/ftpsource"
)

// nameFrom takes the final name from the path of a URL (rule 12). The name must then pass safeName.
func nameFrom(u *url.URL) (string, error) {
	path := u.EscapedPath()
	if isFTP(u) {
		path, _ = ftpsource.CutType(path)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	name, err := url.PathUnescape(last)
	if err != nil || name == "" {
		return "", fmt.Errorf("the URL ends without a file name")
	}
	return name, safeName(name)
}

// safeName refuses what must not become the name of a file (rule 10): what leaves the folder, hides, deceives a
// reader or means something else on another system.
func safeName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name is not valid UTF-8")
	case name[0] == '.':
		return fmt.Errorf("the name begins with a dot")
	case name[0] == '~':
		return fmt.Errorf("the name begins with a tilde")
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("the name ends with a dot or a space")
	case strings.ContainsAny(name, `/\:`):
		return fmt.Errorf("the name contains a path or a drive")
	case strings.ContainsFunc(name, deceptive):
		return fmt.Errorf("the name contains control characters")
	case reserved(name):
		return fmt.Errorf("the name is reserved on some systems")
	}
	return nil
}

// maxName leaves room for the suffixes of the part file and its journal in the 255 bytes of a file name.
const maxName = 255 - len(".part.journal.bad")

// deceptive tells control characters and those that change the direction of text.
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
	if len(stem) < 4 || stem[:3] != "COM" && stem[:3] != "LPT" {
		return false
	}
	return len(stem) == 4 && stem[3] >= '1' && stem[3] <= '9' || stem[3:] == "¹" || stem[3:] == "²" || stem[3:] == "³"
}
