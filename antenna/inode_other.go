//go:build !unix

package antenna

import "io/fs"

// inode is the number of a file in its file system, which is not known here.
func inode(fs.FileInfo) (number uint64, ok bool) { return 0, false }
