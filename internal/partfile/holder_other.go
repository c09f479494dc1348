//go:build !linux

package partfile

import "braid/internal/fsys"

// holder does not know: the system does not say who has locked a file.
func holder(fsys.File) int { return 0 }
