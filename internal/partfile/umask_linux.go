package partfile

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// umask is the mask of this process, which nothing here changes.
var umask = sync.OnceValue(readUmask)

// readUmask reads it. The system call for it would change it, for other goroutines too.
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
