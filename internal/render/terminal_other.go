//go:build !windows

package render

import "os"

// understands reports whether a terminal supports escape sequences.
func understands(*os.File) bool { return true }
