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

// A Host provides a server to the processes of one machine. Each process has a Host; the first process runs the server.
// When that process ends, another one runs a server with the data in the folder. The server has no port but a socket in
// that folder, for all users who may enter it.
type Host struct {
	dir    string
	socket Socket
	log    *slog.Logger
	stop   context.CancelFunc
	ending sync.WaitGroup

	server atomic.Value  // *server.Server, nil unless it runs in this process; not generic, so that importers compile less
	lines  atomic.Int32  // number of connections to the server, in whichever process it runs
	lost   chan struct{} // receives when a connection ended
}

// A Socket connects the processes of a machine through a folder. Only one process at a time calls Listen. Listen
// replaces the socket of a process that has ended.
type Socket struct {
	Listen func(dir string) (net.Listener, error)
	Dial   func(ctx context.Context, dir string) (net.Conn, error)
}

const (
	lockFile = "lock"
	// lookEvery is how often a process without a connection checks whether it must run the server. A process with a
	// connection notices when the connection ends, and checks only every lookRarely.
	lookEvery, lookRarely = 200 * time.Millisecond, 10 * time.Second
	startTime             = 20 * time.Second
	// lookHealthy is how often the process of the server checks that the server can store values. beginAgain is the
	// delay before the server is restarted.
	lookHealthy, beginAgain = time.Second, 2 * time.Second
	// mostUnknown is the number of consecutive checks that must find a stream on disk, but not loaded.
	mostUnknown = 30
	// mostPayload is the maximum size of a stored value in bytes.
	mostPayload = 8 << 20
)

// HasQueue reports whether the folder dir contains a queue.
func HasQueue(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, lockFile))
	return err == nil
}

// NewHost returns a Host for the folder dir. Until Close, this process runs the server whenever no other process does.
func NewHost(dir string, socket Socket, log *slog.Logger) (*Host, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	h := &Host{dir: dir, socket: socket, log: log, lost: make(chan struct{}, 1)}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	lock, err := h.openLock() // report a faulty folder now
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

// run runs the server whenever no other process has the lock.
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

// serve runs the server until ctx is done, if this process gets the lock.
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
	defer h.server.Store((*server.Server)(nil))
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

// whileHealthy returns an error when the server s can no longer store values: after a failed write, for example on a
// full disk, it refuses writes until it is restarted. The error is nil if ctx is done.
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
			return fmt.Errorf("no longer stores data, as on a full disk, and restarts: %s", why)
		}
	}
}

// illness returns why a server cannot store values, or "". now is its health. Other errors are ignored: the server's
// internal deadline of a millisecond may expire on a busy machine, and other programs may put files into its folder. A
// stream that is not loaded may be one that is being created, unless that lasts; unknown has the number of consecutive
// checks that found it, by stream.
func illness(now *server.HealthStatus, unknown map[string]int) string {
	seen := map[string]int{}
	for _, e := range now.Errors {
		switch {
		case e.Type == server.HealthzErrorConn: // the server checked nothing else
			return ""
		case e.Type == server.HealthzErrorAccount: // another program's file, which a restart would not change
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

// connect passes data between the client connection c and the server s in this process, until ctx is done.
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

// ready waits until a server for the folder is running.
func (h *Host) ready(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, startTime)
	defer stop()
	for {
		conn, err := h.socket.Dial(ctx, h.dir)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no server starts in %s: %w", h.dir, err)
		}
		rest(ctx, 10*time.Millisecond)
	}
}

// Dial connects to the server for the folder, in whichever process it runs.
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

// A line is a connection to the server. It notifies its host when it ends.
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

// Close stops the server if it runs in this process. Another process then runs it.
func (h *Host) Close() {
	h.stop()
	h.ending.Wait()
}
