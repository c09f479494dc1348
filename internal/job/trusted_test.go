package job

import (
	"io/fs"
	"syscall"
	"testing"

	"braid/download"
	"braid/internal/problem"
)

// TestLookForTrust_Rule78: a folder that exists and cannot be searched may have keys, so it is an error. A folder above it
// that cannot be searched shows nothing, which is told.
func TestLookForTrust_Rule78(t *testing.T) {
	const path = "/home/me/.config/braid/trust.json"
	for _, tt := range []struct {
		name         string
		file, folder error // of lstat
		there        bool
		unread       string
		fails        bool
	}{
		{name: "a file", there: true},
		{name: "no file", file: syscall.ENOENT},
		{name: "no folder", file: syscall.ENOENT, folder: syscall.ENOENT},
		{name: "a folder that cannot be searched", file: syscall.EACCES, fails: true},
		{name: "a home that cannot be searched", file: syscall.EACCES, folder: syscall.EACCES,
			unread: "/home/me/.config: permission denied"},
		{name: "a damaged disk", file: syscall.EIO, there: true},
	} {
		there, unread, err := lookForTrust(path, func(name string) (fs.FileInfo, error) {
			of := tt.folder
			if name == path {
				of = tt.file
			}
			if of != nil {
				of = &fs.PathError{Op: "lstat", Path: name, Err: of}
			}
			return nil, of
		})
		p, _ := err.(*problem.Problem)
		if there != tt.there || unread != tt.unread || (p != nil) != tt.fails ||
			p != nil && (p.Kind != download.Usage || p.Where != "/home/me/.config/braid") {
			t.Errorf("%s: %v, %q, %v", tt.name, there, unread, err)
		}
	}
}
