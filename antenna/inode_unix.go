//go:build unix

package antenna

import (
	"io/fs"
	"syscall"
)

// inode is the number of a file in its file system.
func inode(info fs.FileInfo) (number uint64, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Ino, true
}
