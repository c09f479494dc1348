package antenna

import (
	"fmt"
	"os"
	"strings"

	"braid/internal/fsys"
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

// lockedBy finds the process that has the lock of a file.
func lockedBy(path string) *LockedError {
	e := &LockedError{Path: path}
	f, err := fsys.OS.Open(path)
	if err != nil {
		return e
	}
	defer f.Close()
	if e.PID, _ = fsys.Holder(f); e.PID != 0 {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", e.PID))
		e.Command = strings.TrimSpace(string(name))
	}
	return e
}
