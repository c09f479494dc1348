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

// openLocked opens the journal at name, or creates it, and locks it (rule 9); a new one is empty. The journal is the lock
// because it is the first of the two files to come and the last to go. part is for messages.
func (d folder) openLocked(name, part string) (file fsys.File, isNew bool, err error) {
	const attempts = 100
	for range attempts {
		f, isNew, err := d.openOurs(name)
		if err != nil {
			return nil, false, err
		}
		if held, isNew, err := d.claim(f, name, part, isNew); held || err != nil {
			f, err = closeUnless(f, err)
			return f, isNew, err
		}
		f.Close()
	}
	return nil, false, &InUseError{Path: d.join(part)}
}

// claim locks f, which was opened at name, and says whether it is as new as it was when that was done: somebody may
// have had it, and left something, between its creation and our lock.
func (d folder) claim(f fsys.File, name, part string, wasNew bool) (held, isNew bool, err error) {
	held, err = d.lock(f, name, part)
	if !held || err != nil || !wasNew {
		return held, false, err
	}
	info, err := f.Info()
	return true, info.Size == 0, err
}

// lock locks f, which was opened at name. The lock is the kernel's: it ends with the process. It is not held
// if the last owner of f removed it before we had the lock: such a file locks nothing.
func (d folder) lock(f fsys.File, name, part string) (held bool, err error) {
	switch locked, err := f.TryLock(); {
	case err != nil:
		return false, err
	case !locked:
		return false, &InUseError{d.join(part), holder(f)}
	}
	return d.names(name, f)
}

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
