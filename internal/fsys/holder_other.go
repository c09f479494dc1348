//go:build !linux

package fsys

// Holder returns 0: this system does not report which process has locked a file.
func Holder(File) (pid int, sure bool) { return 0, false }
