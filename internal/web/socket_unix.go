//go:build unix

package web

import "syscall"

// setLowWater tells the kernel for how many bytes to wake a reader. Where this fails, reads return sooner.
func setLowWater(fd uintptr, n int) {
	syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
}

// readNow reads what is there.
func readNow(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }
