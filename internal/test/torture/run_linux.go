package torture

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What no run gets more of, whatever is measured: a net below the limits that are judged by.
const (
	netMemory = 8 << 30 // of address space; what is in use is judged
	netFile   = 1 << 30

	maxHeard = 1 << 20 // of what is printed
)

// lookEvery is how often the size of the target folder is looked at.
const lookEvery = 20 * time.Millisecond

// An execution is what the system says of a run.
type execution struct {
	code     int
	signal   string
	overtime bool
	stdout   []byte
	stderr   []byte
	memory   int64
	disk     int64
}

// execute runs a program in a yard, within a time.
func execute(y yard, limit time.Duration, env []string, program string, args ...string) (execution, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr heard
	cmd.Dir, cmd.Stdout, cmd.Stderr = y.work, &stdout, &stderr
	cmd.Env = append(environment(y), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // for what it printed, on a busy machine
	if err := cmd.Start(); err != nil {
		return execution{}, err
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_AS: netMemory, unix.RLIMIT_FSIZE: netFile} {
		// It may have ended by now.
		if err := unix.Prlimit(cmd.Process.Pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil && err != unix.ESRCH {
			return execution{}, errors.Join(err, cmd.Cancel(), cmd.Wait())
		}
	}
	watch := newWatch(y, cmd.Process.Pid)
	err := cmd.Wait()
	e := execution{stdout: stdout.text, stderr: stderr.text, overtime: ctx.Err() != nil}
	e.disk, e.memory = watch.end()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok && !e.overtime && !errors.Is(err, exec.ErrWaitDelay) {
		return e, err
	} else if ok {
		e.code = exit.ExitCode()
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && !e.overtime {
		e.signal = status.Signal().String()
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.memory = settle(u.Maxrss<<10, e.memory)
	}
	return e, nil
}

// heard is what a client printed, up to a limit.
type heard struct{ text []byte }

// Write never fails: a client that talks too much is let talk.
func (h *heard) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxHeard-len(h.text))]...)
	return len(p), nil
}

// settle chooses between two measures of memory: what the kernel says at the end of a process begins with what its parent
// had when it was started, counted roughly; what was seen meanwhile lacks the last moment, or all of it where that was short.
func settle(rusage, seen int64) int64 {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil && rusage <= own.Maxrss<<10*9/8 {
		return seen
	}
	return rusage
}

// environment is that of a client: a home of its own, and nothing that the tests were started with.
func environment(y yard) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + y.home, "LANG=C.UTF-8", "TMPDIR=" + y.home, "NO_COLOR=1", "no_proxy=*",
		"BRAID_BITTORRENT=off", // there are no peers on loopback
		"XDG_CACHE_HOME=" + filepath.Join(y.home, "cache"), "XDG_STATE_HOME=" + filepath.Join(y.home, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(y.home, "config"),
	}
}

// A watch looks at a run from time to time.
type watch struct {
	stop    chan struct{}
	running sync.WaitGroup

	// These belong to the goroutine until it has ended.
	disk, memory int64
}

func newWatch(y yard, pid int) *watch {
	w := &watch{stop: make(chan struct{}), memory: peak(pid)} // the program has been started: this is its own
	w.running.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			w.disk, w.memory = max(w.disk, y.size()), max(w.memory, peak(pid))
			select {
			case <-ticker.C:
			case <-w.stop:
				w.disk = max(w.disk, y.size())
				return
			}
		}
	})
	return w
}

func (w *watch) end() (disk, memory int64) {
	close(w.stop)
	w.running.Wait()
	return w.disk, w.memory
}

// peak is the most memory that a process has had so far, 0 if it has ended.
func peak(pid int) int64 { return memoryOf(pid, "VmHWM:") }

// memoryOf is a field of the status of a process (proc(5)), in bytes; 0 if it has ended.
func memoryOf(pid int, field string) (n int64) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == field {
			n, _ = strconv.ParseInt(words[1], 10, 64) // it is a number of KiB, by the kernel's word
		}
	}
	return n << 10
}

// blocks is how much a file takes on disk; a hole takes nothing.
func blocks(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
