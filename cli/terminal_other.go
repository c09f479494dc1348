//go:build !windows

package cli

import "os"

// understands reports whether a terminal knows what moves its cursor and colours words.
func understands(*os.File) bool { return true }
