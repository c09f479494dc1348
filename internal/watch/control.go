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
	"syscall"
	"time"

	"braid/antenna"
	"braid/internal/listen"
)

// A running watcher answers other processes of the same user over a Unix socket in its state folder, because only one
// process at a time can open the store. The requests are GET /status, POST /run?name=NAME, POST /forget?name=NAME and
// POST /forget-version?name=NAME&version=VERSION.
// Only the permissions of the folder protect the socket. No request changes the configuration.

// watcher answers the requests. Its methods must be safe for concurrent use.
type watcher interface {
	Status(ctx context.Context) (antenna.Status, error)
	RunNow(ctx context.Context, name string) error
	Forget(ctx context.Context, name string) error
	ForgetVersion(ctx context.Context, name, version string) error
}

// patience is the time limit for an answer.
const patience = 20 * time.Second

// Serve answers requests until ctx is done.
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
	mux.HandleFunc("POST /forget-version", func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		q := r.URL.Query()
		answer(rw, reply{PID: os.Getpid()}, w.ForgetVersion(ctx, q.Get("name"), q.Get("version")))
	})
	return mux
}

// reply is the body of an answer.
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

// Client sends requests to the watcher whose state folder is Dir.
type Client struct{ Dir string }

// ErrNotRunning reports that no watcher runs with the state folder of a Client.
var ErrNotRunning = errors.New("no watcher is running")

// Status returns the status of the watcher, and the ID of its process.
func (c Client) Status(ctx context.Context) (s antenna.Status, pid int, err error) {
	r, err := c.ask(ctx, http.MethodGet, "/status")
	if err == nil && r.Status == nil {
		err = errors.New("the watcher's response has no status")
	}
	if err != nil {
		return s, 0, err
	}
	return *r.Status, r.PID, nil
}

// RunNow makes the watcher check a feed or a watch now. It returns the ID of the watcher's process.
func (c Client) RunNow(ctx context.Context, name string) (pid int, err error) {
	r, err := c.ask(ctx, http.MethodPost, "/run?name="+url.QueryEscape(name))
	return r.PID, err
}

// Forget makes the watcher forget the state of a feed or a watch. It returns the ID of the watcher's process.
func (c Client) Forget(ctx context.Context, name string) (pid int, err error) {
	r, err := c.ask(ctx, http.MethodPost, "/forget?name="+url.QueryEscape(name))
	return r.PID, err
}

// ForgetVersion makes the watcher never fetch a version for a watch. It returns the ID of the watcher's process.
func (c Client) ForgetVersion(ctx context.Context, name, version string) (pid int, err error) {
	r, err := c.ask(ctx, http.MethodPost, "/forget-version?name="+url.QueryEscape(name)+"&version="+url.QueryEscape(version))
	return r.PID, err
}

// mostAnswer limits the size of an answer. Ten thousand URLs need one or two kilobytes each.
const mostAnswer = 256 << 20

func (c Client) ask(ctx context.Context, method, path string) (r reply, err error) {
	t := &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return listen.Dial(ctx, c.Dir) }}
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
