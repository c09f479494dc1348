package fsys

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Holder returns the process that has locked f according to the kernel's list, or 0 if it is unknown. If sure is false,
// the process may have locked another file with the same inode number.
func Holder(f File) (pid int, sure bool) {
	info, err := f.Info()
	if err != nil {
		return 0, false
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0, false
	}
	defer locks.Close()
	return findHolder(locks, fmt.Sprintf("%02x:%02x:%d", unix.Major(info.ID.Dev), unix.Minor(info.ID.Dev), info.ID.Ino))
}

// findHolder searches the list of locks (proc_locks(5)) for the process that has locked file. The lines of waiting
// processes have an additional field, "->". On some file systems stat(2) returns another device than the list. So if no
// line matches both device and inode, a line with the same inode is used.
func findHolder(locks io.Reader, file string) (pid int, sure bool) {
	inode := file[strings.LastIndexByte(file, ':'):]
	for s := bufio.NewScanner(locks); s.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF
		f := strings.Fields(s.Text())
		if len(f) != 8 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		n, err := strconv.Atoi(f[4])
		if err != nil || n < 0 { // -1: in another PID namespace
			n = 0
		}
		if f[5] == file {
			return n, n > 0
		}
		if pid == 0 {
			pid = n
		}
	}
	return pid, false
}
