//go:build !unix

package web

import "syscall"

// setLowWater does nothing, so the kernel wakes readers for each segment.
func setLowWater(uintptr, int) {}

// readNow returns no data. Blocking reads return the data instead.
func readNow(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }
