package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"braid/internal/fsys"
)

// A Host is a server for the processes of one machine. All of them have one: the first runs it, and when that process
// ends another does, with what is stored in the folder. It has no port: a user that may enter the folder may use the
// socket in it.
type Host struct {
	dir    string
	socket Socket
	log    *slog.Logger
	stop   context.CancelFunc
	ending sync.WaitGroup

	server atomic.Pointer[server.Server] // while it runs here
	lines  atomic.Int32                  // to the server, which may be elsewhere
	lost   chan struct{}                 // one of them ended
}

// A Socket is how the processes of a machine find each other by a folder. Listen is called by one process at a time: a
// socket that it finds there is of a process that has ended.
type Socket struct {
	Listen func(dir string) (net.Listener, error)
	Dial   func(ctx context.Context, dir string) (net.Conn, error)
}

const (
	lockFile = "lock"
	// lookEvery is how often a process looks whether there is no server any more, and lookRarely while it has a
	// connection to one: that ends with the server.
	lookEvery, lookRarely = 200 * time.Millisecond, 10 * time.Second
	startTime             = 20 * time.Second
	// lookHealthy is how often the process with the server looks whether that can store anything, and beginAgain how
	// long it waits where it cannot.
	lookHealthy, beginAgain = time.Second, 2 * time.Second
	// mostUnknown is in how many looks a stream may be on disk and not known.
	mostUnknown = 30
	// mostPayload is how many bytes a stored value may have.
	mostPayload = 8 << 20
)

// HasQueue reports whether a process has made a queue in a folder.
func HasQueue(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, lockFile))
	return err == nil
}

// NewHost has this process run the server of a folder, whenever no other does, until Close.
func NewHost(dir string, socket Socket, log *slog.Logger) (*Host, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	h := &Host{dir: dir, socket: socket, log: log, lost: make(chan struct{}, 1)}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	lock, err := h.openLock() // what keeps it from that is told at once
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.ending.Go(func() { h.run(ctx) })
	return h, lock.Close()
}

func (h *Host) openLock() (fsys.File, error) {
	folder, err := fsys.OS.OpenDir(h.dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := folder.Create(lockFile, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = folder.Open(lockFile)
	}
	return f, err
}

// run runs the server whenever the lock is free.
func (h *Host) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := h.serve(ctx); err != nil {
			h.log.Error("queue", "server", err)
			rest(ctx, beginAgain)
		}
		if h.lines.Load() == 0 {
			rest(ctx, lookEvery)
			continue
		}
		select {
		case <-ctx.Done():
		case <-h.lost:
		case <-time.After(lookRarely):
		}
	}
}

// serve runs the server until ctx ends, if this process gets the lock.
func (h *Host) serve(ctx context.Context) error {
	lock, err := h.openLock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if mine, err := lock.TryLock(); !mine || err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "braid", DontListen: true, JetStream: true, StoreDir: h.dir, JetStreamMaxMemory: 64 << 20,
		SyncAlways: true, MaxPayload: mostPayload, NoLog: true, NoSigs: true, DisableJetStreamBanner: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(startTime) {
		return errors.New("does not start")
	}
	listener, err := h.socket.Listen(h.dir)
	if err != nil {
		return err
	}
	h.log.Debug("queue", "server", "here", "folder", h.dir)
	h.server.Store(s)
	defer h.server.Store(nil)
	var lines sync.WaitGroup
	defer lines.Wait()
	well, end := context.WithCancelCause(ctx)
	defer end(nil)
	lines.Go(func() { end(whileHealthy(well, s)) })
	defer context.AfterFunc(well, func() { listener.Close() })()
	for {
		c, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if well.Err() != nil {
			return context.Cause(well)
		}
		if err != nil {
			return err
		}
		lines.Go(func() { connect(well, s, c) })
	}
}

// whileHealthy returns when a server does not store anything any more, with the reason: after one write that failed, as
// on a full disk, it takes none until it begins again. The error is nil if ctx ended.
func whileHealthy(ctx context.Context, s *server.Server) error {
	ticker := time.NewTicker(lookHealthy)
	defer ticker.Stop()
	unknown := map[string]int{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if why := illness(s.Healthz(&server.HealthzOptions{Details: true}), unknown); why != "" {
			return fmt.Errorf("stores nothing any more, as on a full disk, and begins again: %s", why)
		}
	}
}

// illness is why a server stores nothing any more, or "" if that is not shown. That it does not answer within a
// millisecond, as it asks of itself, shows nothing, as the machine may be busy. Nor does what another program has put
// into its folder. Nor does a stream that has a folder and is not known: it is being made, unless that goes on. Of
// those unknown has in how many looks, one after the other, they were not known.
func illness(now *server.HealthStatus, unknown map[string]int) string {
	seen := map[string]int{}
	for _, e := range now.Errors {
		switch {
		case e.Type == server.HealthzErrorConn: // nothing else was looked at
			return ""
		case e.Type == server.HealthzErrorAccount: // a name in its folder is none of its own, and will not be after a new beginning
		case e.Type == server.HealthzErrorStream && strings.HasSuffix(e.Error, "could not be recovered"):
			if seen[e.Stream] = unknown[e.Stream] + 1; seen[e.Stream] >= mostUnknown {
				return e.Error
			}
		default:
			return e.Error
		}
	}
	clear(unknown)
	maps.Copy(unknown, seen)
	return ""
}

// connect is the line of a client to the server in this process.
func connect(ctx context.Context, s *server.Server, c net.Conn) {
	defer c.Close()
	inside, err := s.InProcessConn()
	if err != nil {
		return
	}
	defer inside.Close()
	defer context.AfterFunc(ctx, func() { c.Close(); inside.Close() })()
	var back sync.WaitGroup
	defer back.Wait()
	defer inside.Close()
	back.Go(func() {
		io.Copy(c, inside)
		c.Close()
	})
	io.Copy(inside, c)
}

// ready waits until there is a server.
func (h *Host) ready(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, startTime)
	defer stop()
	for {
		conn, err := h.socket.Dial(ctx, h.dir)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no server begins in %s: %w", h.dir, err)
		}
		rest(ctx, 10*time.Millisecond)
	}
}

// Dial connects to the server of the folder, whichever process runs it now.
func (h *Host) Dial(_, _ string) (net.Conn, error) {
	ctx, stop := context.WithTimeout(context.Background(), oneCall)
	defer stop()
	c, err := h.socket.Dial(ctx, h.dir)
	if err != nil {
		return nil, err
	}
	h.lines.Add(1)
	return &line{Conn: c, host: h}, nil
}

// A line is a connection to the server, whose end is noticed.
type line struct {
	net.Conn
	host  *Host
	ended sync.Once
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		l.ended.Do(func() {
			l.host.lines.Add(-1)
			select {
			case l.host.lost <- struct{}{}:
			default:
			}
		})
	}
	return n, err
}

// Close ends the server, if this process runs it; then another process does.
func (h *Host) Close() {
	h.stop()
	h.ending.Wait()
}
