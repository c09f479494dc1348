package download_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// A flaky network fails at its n-th call of a kind, and, if down, at every later one.
type flaky struct {
	kind  string // "dial", "read" or "write"
	n     int64
	down  bool
	count atomic.Int64
	hit   atomic.Bool
}

func (f *flaky) fails(kind string) error {
	if f.kind != kind && (!f.down || !f.hit.Load()) {
		return nil
	}
	if n := f.count.Add(1); n == f.n || f.down && n > f.n {
		f.hit.Store(true)
		return &net.OpError{Op: kind, Net: "tcp", Err: syscall.ECONNRESET}
	}
	return nil
}

func (f *flaky) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := f.fails("dial"); err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &flakyConn{conn, f}, nil
}

// A flakyConn is a connection that fails with the network, and keeps failing.
type flakyConn struct {
	net.Conn
	f *flaky
}

func (c *flakyConn) Read(p []byte) (int, error) {
	if err := c.f.fails("read"); err != nil {
		c.Conn.Close()
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *flakyConn) Write(p []byte) (int, error) {
	if err := c.f.fails("write"); err != nil {
		c.Conn.Close()
		return 0, err
	}
	return c.Conn.Write(p)
}

// unplugged is a run with a failing network. over is true if it no longer failed.
func (s *scene) unplugged(f *flaky) (over bool, err error) {
	disk := s.start.Crash(s.start.Changes(), fsystest.Kept)
	faulty := *s
	faulty.client.HTTP = &httpsource.Client{Dial: f.dial}
	faulty.client.RetryWait, faulty.client.Tries = time.Millisecond, 3
	ended := faulty.run(s.t.Context(), disk)
	faulty.client.HTTP.CloseIdle()
	e, _ := errors.AsType[*download.Error](ended)
	switch {
	case ended == nil:
		return !f.hit.Load(), s.final(disk, true)
	case e == nil || !f.down || e.Kind != download.Network && e.Kind != download.Budget:
		return false, fmt.Errorf("it ended with %w", ended)
	case e.Kind == download.Budget && e.Kept == 0:
		return false, fmt.Errorf("nothing is kept to go on with: %w", ended)
	}
	if err := s.final(disk, false); err != nil {
		return false, err
	}
	if err := errors.Join(s.run(s.t.Context(), disk), s.final(disk, true)); err != nil {
		return false, fmt.Errorf("the next run: %w", err)
	}
	return false, nil
}

// Each dial, read and write fails once: other sources, or another try, still complete the file (rules 21, 22
// and 39). If the network stays down, the exit code is 4, or 13 if bytes were kept, and the next run ends
// well.
func TestNetworkFaults_Rule22_Rule39(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"dial", "read", "write"} {
		for _, down := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, down %t", kind, down), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, kind, 3*mib)
				s.client.RetryWait = time.Millisecond
				if s.start = s.prepared(); down { // bytes exist that can be resumed
					if err := s.interrupted(s.start, mib/2); err != nil {
						t.Fatal(err)
					}
				}
				for _, server := range s.servers { // fast, and slow enough that all of them are used
					server.Set(mirrortest.Rate(5 * mib))
				}
				tried := 0
				for n := int64(1); n < 10_000; n += 1 + n/8 { // each of the first, and some of hundreds
					over, err := s.unplugged(&flaky{kind: kind, n: n, down: down})
					if err != nil {
						t.Errorf("%s %d: %v", kind, n, err)
					}
					if over {
						break
					}
					tried++
				}
				t.Logf("%d calls failed", tried)
			})
		}
	}
}
