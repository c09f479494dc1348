package meta4

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"braid/metalink"
)

// maxPath is the longest path that Linux has.
const maxPath = 4096

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
	}
	for segment := range strings.SplitSeq(name, "/") {
		if err := metalink.CheckName(segment); err != nil {
			return fmt.Errorf("a part of %w", err)
		}
	}
	return nil
}
