//go:build !linux && unix

package partfile

import (
	"io/fs"
	"syscall"
)

// umask is the mask of this process, which nothing here changes. It is read before anything runs that could make files:
// to read it is to change it for a moment.
var umask = func() func() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return func() fs.FileMode { return fs.FileMode(mask) }
}()
