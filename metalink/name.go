package metalink

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxName is the maximum length of a file name in common file systems, in bytes.
const MaxName = 255

// A NameError is the reason why a name from a server, a document or a URL is refused.
type NameError struct {
	What string // what is wrong, such as "begins with a dot"
	// Own reports that braid gives such a name to its own files beside a download. A file of that name from a server
	// would be mistaken for the state of an earlier run.
	Own bool
}

func (e *NameError) Error() string { return "the name " + e.What }

// CheckName returns an error if a server or document must not name a file s. s is one element of a path. It refuses a
// name that leaves the folder, is hidden, deceives a reader, has another meaning on another system, or is used by braid
// itself.
func CheckName(s string) error {
	switch {
	case s == "":
		return &NameError{What: "is empty"}
	case len(s) > MaxName:
		return &NameError{What: fmt.Sprintf("is longer than %d bytes", MaxName)}
	case !utf8.ValidString(s):
		return &NameError{What: "is not valid UTF-8"}
	case strings.ContainsAny(s, `\:`):
		return &NameError{What: "contains a backslash or a colon"}
	case strings.ContainsFunc(s, deceptive):
		return &NameError{What: "contains control characters"}
	case Hidden(s):
		return &NameError{What: "begins with a dot"}
	case s[0] == '~':
		return &NameError{What: "begins with a tilde"}
	case strings.Contains(s, "/"):
		return &NameError{What: "contains a slash"}
	case strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
		return &NameError{What: "ends with a dot or a space"}
	case device(s):
		return &NameError{What: "is reserved on some systems"}
	}
	if ending := ownEnding(s); ending != "" {
		return &NameError{What: "ends with " + ending + ", which marks the files of unfinished downloads", Own: true}
	}
	return nil
}

// Hidden reports whether some file system treats s as a name that begins with a dot. HFS+ and ext4 with case folding
// ignore invisible characters.
func Hidden(s string) bool { return strings.HasPrefix(strings.TrimLeftFunc(s, ignored), ".") }

// maxPath is the maximum length of a path in Linux.
const maxPath = 4096

// CheckPath returns an error if a server or document must not choose name as a path of a file below a folder. The path
// has slashes on every system, and CheckName must accept each element. RFC 5854, section 4.1.2.1, requires a relative
// path without directory traversal.
func CheckPath(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxPath:
		return fmt.Errorf("the name is longer than %d bytes", maxPath)
	case !utf8.ValidString(name):
		return errors.New("the name is not valid UTF-8")
	case name[0] == '/':
		return errors.New("the name is an absolute path")
	}
	for segment := range strings.SplitSeq(name, "/") {
		if err := CheckName(segment); err != nil {
			return fmt.Errorf("a part of %w", err)
		}
	}
	return nil
}

// deceptive reports whether r is a control character or changes the display of the text around it.
func deceptive(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' ||
		r == unicode.ReplacementChar
}

// device reports whether name is the name of a Windows device, with or without an extension.
func device(name string) bool {
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

// IsOwn reports whether name is a name that braid gives to files of an unfinished download, or equal to such a name in
// some file system.
func IsOwn(name string) bool { return ownEnding(name) != "" }

// ownEnding returns the ending of name that marks a file of braid, or "". The marked files are partial files, their
// journals and files that were set aside.
func ownEnding(name string) string {
	name = fold(name)
	for _, ending := range []string{".part", ".part.journal", ".part.bad", ".part.journal.bad"} {
		if strings.HasSuffix(name, ending) {
			return ending
		}
	}
	return ""
}

// fold maps two names to the same string if some file system treats the names as equal. It folds case (APFS, NTFS,
// ext4), normalizes (HFS+), removes invisible characters (ext4 folds by NFDICF, which ignores them), and removes dots
// and spaces at the end (Windows). It also folds compatibility characters, which look alike to a reader.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if ignored(r) {
			return -1
		}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f < utf8.RuneSelf {
				return unicode.ToLower(f)
			}
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(name))
	return strings.TrimRight(strings.ToLower(norm.NFKC.String(name)), ". ")
}

// ignored reports whether some file system ignores r in a name.
func ignored(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
