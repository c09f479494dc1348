//go:build !linux

package apt

import (
	"errors"
	"os"
)

// enter returns an error if root's rights must be dropped, which is supported only on Linux.
func enter(name string) error {
	if name == "" || name == "root" || os.Getuid() != 0 {
		return nil
	}
	return errors.New("the sandbox: root privileges can be dropped only on Linux")
}
