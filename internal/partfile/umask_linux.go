package partfile

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// umask returns the file mode creation mask, which this program never changes.
var umask = sync.OnceValue(readUmask)

// readUmask reads the mask from /proc, because the system call umask(2) changes it, for all threads.
func readUmask() fs.FileMode {
	const private = 0o077
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return private
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "Umask:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(value), 8, 9); err == nil {
				return fs.FileMode(n)
			}
		}
	}
	return private
}
