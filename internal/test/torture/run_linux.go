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

// Limits of every run. They are far above the limits that runs are judged by.
const (
	netMemory = 8 << 30 // of address space; runs are judged by resident memory
	netFile   = 1 << 30

	maxHeard = 1 << 20 // of output
)

// lookEvery is the interval at which the size of the target folder is measured.
const lookEvery = 20 * time.Millisecond

// execution is the result of a run as the system reports it.
type execution struct {
	code     int
	signal   string
	overtime bool
	stdout   []byte
	stderr   []byte
	memory   int64
	disk     int64
}

// execute runs a program in a yard, within a time limit.
func execute(y yard, limit time.Duration, env []string, program string, args ...string) (execution, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr heard
	cmd.Dir, cmd.Stdout, cmd.Stderr = y.work, &stdout, &stderr
	cmd.Env = append(environment(y), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // for its output, on a busy machine
	if err := cmd.Start(); err != nil {
		return execution{}, err
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_AS: netMemory, unix.RLIMIT_FSIZE: netFile} {
		// The process may have ended already.
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

// heard is the output of a client, up to a limit.
type heard struct{ text []byte }

// Write never fails. It drops output beyond the limit.
func (h *heard) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxHeard-len(h.text))]...)
	return len(p), nil
}

// settle chooses between two measurements of the peak memory. The kernel's value after the end of a process begins with
// that of its parent at the start, which is imprecise. The observed value lacks the last moments, or everything if the
// run was short.
func settle(rusage, seen int64) int64 {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil && rusage <= own.Maxrss<<10*9/8 {
		return seen
	}
	return rusage
}

// environment returns the environment of a client: its own home, and nothing of the environment of the tests.
func environment(y yard) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + y.home, "LANG=C.UTF-8", "TMPDIR=" + y.home, "NO_COLOR=1", "no_proxy=*",
		"BRAID_BITTORRENT=off", // no peers on loopback
		"BRAID_NO_LOOKUP=true", // the servers answer everything in their way
		"XDG_CACHE_HOME=" + filepath.Join(y.home, "cache"), "XDG_STATE_HOME=" + filepath.Join(y.home, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(y.home, "config"),
	}
}

// watch measures a run periodically.
type watch struct {
	stop    chan struct{}
	running sync.WaitGroup

	// These belong to the goroutine until it has ended.
	disk, memory int64
}

func newWatch(y yard, pid int) *watch {
	// The program has been started, so this is its own memory and not that of its parent.
	w := &watch{stop: make(chan struct{}), memory: peak(pid)}
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

// peak returns the peak memory of a process, or 0 if it has ended.
func peak(pid int) int64 { return memoryOf(pid, "VmHWM:") }

// memoryOf returns a field of the status of a process (proc(5)) in bytes, or 0 if it has ended.
func memoryOf(pid int, field string) (n int64) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == field {
			n, _ = strconv.ParseInt(words[1], 10, 64) // the kernel writes a number of KiB
		}
	}
	return n << 10
}

// blocks returns the size of a file on disk, without holes.
func blocks(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
