//go:build !unix

package web

import "syscall"

// setLowWater does nothing: this kernel wakes readers for each segment.
func setLowWater(uintptr, int) {}

// readNow finds nothing. Reads that wait bring it.
func readNow(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }
