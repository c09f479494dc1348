package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// SocketName is the name of the socket in the state folder.
const SocketName = "control"

// Socket creates the socket of a process in its folder dir. The caller must hold the lock of the folder's content, so a
// socket that already exists belongs to a process that has ended.
func Socket(dir string) (net.Listener, error) {
	path, done, err := reachable(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the path may be invalid when the socket is closed
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{l, filepath.Join(dir, SocketName)}, nil
}

// listener is a net.Listener that removes its socket when it is closed.
type listener struct {
	net.Listener
	path string
}

func (l *listener) Close() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.Listener.Close())
}

// mostPath is the maximum length of a socket's path in bytes (unix(7)).
const mostPath = 107

// reachable returns a path of the socket that is not longer than mostPath. The path is valid until done is called.
func reachable(dir string) (path string, done func(), err error) {
	if path = filepath.Join(dir, SocketName); len(path) <= mostPath {
		return path, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), SocketName), func() { f.Close() }, nil
}

// Dial connects to the socket that Socket created in dir.
func Dial(ctx context.Context, dir string) (net.Conn, error) {
	path, done, err := reachable(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}
