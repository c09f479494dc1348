package antenna

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"braid/internal/mask"
)

// A LockedError says that another process has the store open.
type LockedError struct {
	Path string
	// PID and Command are those of the process that has it, if they are known.
	PID     int
	Command string
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Command != "" {
		who += fmt.Sprintf(" (%s)", mask.Escape(e.Command))
	}
	return fmt.Sprintf("%s is in use by %s", e.Path, who)
}

// lockedBy finds the process that has the lock of a file, in the list of the kernel.
func lockedBy(path string) *LockedError {
	e := &LockedError{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		return e
	}
	number, ok := inode(info)
	locks, err := os.Open("/proc/locks")
	if !ok || err != nil {
		return e
	}
	defer locks.Close()
	if e.PID = holder(locks, number); e.PID != 0 {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", e.PID))
		e.Command = strings.TrimSpace(string(name))
	}
	return e
}

// holder finds the process with a flock on an inode in the kernel's list, whose lines are
//
//	1: FLOCK  ADVISORY  WRITE 2345 08:01:131078 0 EOF
//
// The device is not compared: some file systems have another one there than stat says.
func holder(locks io.Reader, inode uint64) (pid int) {
	lines := bufio.NewScanner(locks)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" {
			continue
		}
		place := strings.Split(f[5], ":")
		if place[len(place)-1] != strconv.FormatUint(inode, 10) {
			continue
		}
		if n, err := strconv.Atoi(f[4]); err == nil && n > 0 {
			return n
		}
	}
	return 0
}
