package fsys

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// watched is a Guard that watches an inode with inotify(7).
type watched struct {
	f osFile

	mu      sync.Mutex
	fd      int // -1 before Watch
	written bool
}

func (f osFile) Guard() (Guard, error) { return &watched{f: f, fd: -1}, nil }

// Watch uses inotify(7), because a program that writes to a file opens and closes it. Written reads the events. A file
// that only this process writes to has no events.
func (w *watched) Watch() error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return &fs.PathError{Op: "watch", Path: w.f.Name(), Err: err}
	}
	err = w.f.control("watch", func(own int) error {
		_, err := unix.InotifyAddWatch(fd, "/proc/self/fd/"+strconv.Itoa(own), unix.IN_CLOSE_WRITE)
		return err
	})
	if err != nil {
		unix.Close(fd)
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fd = fd
	return nil
}

// Written implements Guard.
func (w *watched) Written() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var buf [4096]byte
	for w.fd >= 0 {
		n, err := unix.Read(w.fd, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN || n == 0 && err == nil:
			return w.written, nil
		case err != nil:
			return true, &fs.PathError{Op: "watch", Path: w.f.Name(), Err: err}
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			mask := binary.NativeEndian.Uint32(buf[at+4:])
			w.written = w.written || mask&(unix.IN_CLOSE_WRITE|unix.IN_Q_OVERFLOW) != 0
			at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:]))
		}
	}
	return false, nil
}

// Open implements Guard. The system grants a write lease (fcntl(2)) only if no other process has the file open.
func (w *watched) Open() bool {
	err := w.f.control("lease", func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		}
		return err
	})
	return errors.Is(err, unix.EAGAIN)
}

// Hole implements Guard; see lseek(2).
func (w *watched) Hole(size int64) bool {
	at := size
	err := w.f.control("seek", func(fd int) (err error) {
		at, err = unix.Seek(fd, 0, unix.SEEK_HOLE)
		return err
	})
	return err == nil && at < size
}

// Forget implements Guard.
func (w *watched) Forget() {
	w.Written()
	w.mu.Lock()
	w.written = false
	w.mu.Unlock()
}

func (w *watched) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd < 0 {
		return nil
	}
	defer func() { w.fd = -1 }()
	return unix.Close(w.fd)
}
