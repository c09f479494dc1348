package partfile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"braid/internal/fsys"
)

// holder asks the kernel who has locked f. It is 0 if that cannot be told.
func holder(f fsys.File) int {
	info, err := f.Info()
	if err != nil {
		return 0
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer locks.Close()
	return findHolder(locks, fmt.Sprintf("%02x:%02x:%d", unix.Major(info.ID.Dev), unix.Minor(info.ID.Dev), info.ID.Ino))
}

// findHolder looks in what proc_locks(5) describes for the process that has locked file. Lines of those
// who wait have one more field, "->".
func findHolder(locks io.Reader, file string) int {
	for s := bufio.NewScanner(locks); s.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF
		if f := strings.Fields(s.Text()); len(f) == 8 && f[1] == "FLOCK" && f[5] == file {
			pid, err := strconv.Atoi(f[4])
			if err != nil {
				return 0
			}
			return max(pid, 0) // -1: in another PID namespace
		}
	}
	return 0
}
