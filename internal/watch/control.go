package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"braid/antenna"
)

// A running watcher answers other processes of the same user over a socket in the folder of its state, as the store is
// for one process at a time: GET /status, POST /run?name=NAME, POST /forget?name=NAME. Nothing but the permissions of
// the folder protects the socket, and nothing that it answers to changes what is watched.

// socketName is the name of the socket.
const socketName = "control"

// A watcher is what the socket answers for. Its methods may be called by several goroutines at once.
type watcher interface {
	Status(ctx context.Context) (antenna.Status, error)
	RunNow(ctx context.Context, name string) error
	Forget(ctx context.Context, name string) error
}

// Listen makes the socket. The caller has the lock of the store: a socket that is there belongs to a process that has ended.
func Listen(dir string) (net.Listener, error) {
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
	l.SetUnlinkOnClose(false) // by a path that may mean nothing then
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{l, filepath.Join(dir, socketName)}, nil
}

// A listener removes its socket when it is closed.
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

// mostPath is how long the path of a socket may be (unix(7)).
const mostPath = 107

// reachable is a path of the socket that is short enough, as long as done is not called.
func reachable(dir string) (path string, done func(), err error) {
	if path = filepath.Join(dir, socketName); len(path) <= mostPath {
		return path, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), socketName), func() { f.Close() }, nil
}

// Dial connects to the socket that Listen made in a folder.
func Dial(ctx context.Context, dir string) (net.Conn, error) {
	path, done, err := reachable(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{}).DialContext(ctx, "unix", path)
}

// patience is how long an answer may take.
const patience = 20 * time.Second

// Serve answers until ctx ends.
func Serve(ctx context.Context, l net.Listener, w watcher) error {
	s := &http.Server{Handler: handler(w), ReadTimeout: patience, WriteTimeout: 2 * patience, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	err := s.Serve(l)
	if !stop() || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func handler(w watcher) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		s, err := w.Status(ctx)
		answer(rw, reply{PID: os.Getpid(), Status: &s}, err)
	})
	for path, do := range map[string]func(context.Context, string) error{"POST /run": w.RunNow, "POST /forget": w.Forget} {
		mux.HandleFunc(path, func(rw http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			answer(rw, reply{PID: os.Getpid()}, do(ctx, r.URL.Query().Get("name")))
		})
	}
	return mux
}

// A reply is what is answered.
type reply struct {
	PID    int             `json:"pid"`
	Status *antenna.Status `json:"status,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func answer(rw http.ResponseWriter, r reply, err error) {
	rw.Header().Set("Content-Type", "application/json")
	if err != nil {
		r.Status, r.Error = nil, err.Error()
		rw.WriteHeader(http.StatusUnprocessableEntity)
	}
	json.NewEncoder(rw).Encode(r)
}

// A Client asks the watcher whose state is in Dir.
type Client struct{ Dir string }

// ErrNotRunning says that no watcher runs there.
var ErrNotRunning = errors.New("no watcher runs")

// Status asks how it stands. Pid is the process that answered.
func (c Client) Status(ctx context.Context) (s antenna.Status, pid int, err error) {
	r, err := c.ask(ctx, http.MethodGet, "/status")
	if err == nil && r.Status == nil {
		err = errors.New("an answer without status")
	}
	if err != nil {
		return s, 0, err
	}
	return *r.Status, r.PID, nil
}

// RunNow has a feed or a watch looked after now.
func (c Client) RunNow(ctx context.Context, name string) (pid int, err error) {
	r, err := c.ask(ctx, http.MethodPost, "/run?name="+url.QueryEscape(name))
	return r.PID, err
}

// Forget has a feed or a watch forgotten.
func (c Client) Forget(ctx context.Context, name string) (pid int, err error) {
	r, err := c.ask(ctx, http.MethodPost, "/forget?name="+url.QueryEscape(name))
	return r.PID, err
}

// mostAnswer bounds an answer: each of ten thousand URLs has a kilobyte or two.
const mostAnswer = 256 << 20

func (c Client) ask(ctx context.Context, method, path string) (r reply, err error) {
	t := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, c.Dir) }}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://watcher"+path, nil)
	if err != nil {
		return r, err
	}
	resp, err := t.RoundTrip(req)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return r, ErrNotRunning
	case err != nil:
		return r, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostAnswer)).Decode(&r); err != nil {
		return r, fmt.Errorf("the watcher answered %s: %w", resp.Status, err)
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}
