package metalink

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxName is the longest name of a file, in bytes, that file systems have.
const MaxName = 255

// A NameError says why a stranger (a server, a document, a URL) may not give a file some name.
type NameError struct {
	What string // "begins with a dot", ...
	// Own: braid itself keeps files of such names beside a download. A file of a stranger there would be taken for the work and
	// the word of an earlier run.
	Own bool
}

func (e *NameError) Error() string { return "the name " + e.What }

// CheckName says why a stranger may not name a file s, or nothing if it may. s is one segment of a path. What is
// refused leaves the folder, hides, deceives a reader, means something else on another system, or is a name that braid
// itself uses.
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
		return &NameError{What: "ends with " + ending + ", as the files do in which unfinished downloads are kept", Own: true}
	}
	return nil
}

// Hidden reports whether some file system takes a name for one that begins with a dot, as files of settings have: HFS+
// and ext4 (with folded case) ignore characters that say nothing.
func Hidden(s string) bool { return strings.HasPrefix(strings.TrimLeftFunc(s, ignored), ".") }

// maxPath is the longest path that Linux has.
const maxPath = 4096

// CheckPath says why a stranger may not have a file put at the path name below a folder, or nothing if it may. The path
// has slashes, whatever the system, and each part of it must pass CheckName. RFC 5854, section 4.1.2.1, wants it
// relative and without directory traversal; what is refused beyond that hides, deceives a reader, or means something
// else on another system.
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

// deceptive tells control characters and those that change how text around them is read.
func deceptive(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// device tells the device names of Windows, which no extension makes safe.
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

// IsOwn reports whether a name, in a form that some file system takes for it, is one that braid gives to files of its
// own: those of unfinished downloads.
func IsOwn(name string) bool { return ownEnding(name) != "" }

// ownEnding is the ending of a name that braid gives to files of its own: part files, their journals, which are their locks as
// well, and what was set aside.
func ownEnding(name string) string {
	name = fold(name)
	for _, ending := range []string{".part", ".part.journal", ".part.bad", ".part.journal.bad"} {
		if strings.HasSuffix(name, ending) {
			return ending
		}
	}
	return ""
}

// fold makes one of all names that some file system may take for each other: those with folded case (APFS, NTFS, ext4), other
// normal forms (HFS+), without characters that say nothing (ext4 folds by NFDICF, which ignores them), and without dots and
// spaces at the end (Windows). What it takes for equal beyond that (by compatibility) deceives a reader.
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

// ignored reports whether a file system may take a name without r for the same.
func ignored(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
