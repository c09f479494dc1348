package source

import "syscall"

func bindToDevice(fd uintptr, device string) error {
	return syscall.SetsockoptString(int(fd), syscall.SOL_SOCKET, syscall.SO_BINDTODEVICE, device)
}
