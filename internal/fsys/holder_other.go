//go:build !linux

package fsys

// Holder returns 0: the system does not say which process has locked a file.
func Holder(File) (pid int, sure bool) { return 0, false }
