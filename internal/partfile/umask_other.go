//go:build !linux && unix

package partfile

import (
	"io/fs"
	"syscall"
)

// umask returns the file mode creation mask, which this program never changes. The mask is read during initialization,
// before any file can be created, because reading the mask changes it for a moment.
var umask = func() func() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return func() fs.FileMode { return fs.FileMode(mask) }
}()
