package render

import (
	"os"

	"golang.org/x/sys/windows"
)

// understands makes a console interpret escape sequences, and reports whether that succeeded.
func understands(f *os.File) bool {
	console, mode := windows.Handle(f.Fd()), uint32(0)
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
