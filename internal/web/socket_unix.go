//go:build unix

package web

import "syscall"

// setLowWater sets the number of bytes for which the kernel wakes a reader. If it fails, reads only return sooner.
func setLowWater(fd uintptr, n int) {
	syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
}

// readNow reads the available data.
func readNow(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }
