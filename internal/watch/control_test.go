package watch

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/internal/listen"
)

// fake is a watcher that records its calls.
type fake struct{ asked []string }

func (f *fake) Status(context.Context) (antenna.Status, error) {
	return antenna.Status{
		Feeds:   []antenna.FeedStatus{{Name: "f", Kind: antenna.Kind(feed.LIRS), Polled: time.Unix(5, 0).UTC(), Err: "x"}},
		Watches: []antenna.WatchStatus{{Name: "w", Reason: feed.Modified, Last: antenna.Outcome{Size: 7}}},
	}, nil
}

func (f *fake) RunNow(_ context.Context, name string) error {
	f.asked = append(f.asked, "run "+name)
	return nil
}

func (f *fake) Forget(_ context.Context, name string) error {
	f.asked = append(f.asked, "forget "+name)
	return errors.New("there is none")
}

func (f *fake) ForgetVersion(_ context.Context, name, version string) error {
	f.asked = append(f.asked, "forget "+name+" "+version)
	return nil
}

// serve serves f in dir until stop is called.
func serve(t *testing.T, dir string, f *fake) (stop func()) {
	t.Helper()
	l, err := listen.Socket(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, f) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestAsk(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 40)) // longer than the maximum for the path of a socket
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), long} {
		f := &fake{}
		c := Client{dir}
		if _, _, err := c.Status(t.Context()); !errors.Is(err, ErrNotRunning) {
			t.Errorf("nobody there: %v", err)
		}
		stop := serve(t, dir, f)
		info, err := os.Stat(filepath.Join(dir, listen.SocketName))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the socket: %v, %v", info, err)
		}
		s, pid, err := c.Status(t.Context())
		want, _ := f.Status(t.Context())
		if err != nil || pid != os.Getpid() || len(s.Feeds) != 1 || s.Feeds[0] != want.Feeds[0] ||
			s.Watches[0] != want.Watches[0] {
			t.Errorf("%+v, %d, %v", s, pid, err)
		}
		if pid, err := c.RunNow(t.Context(), "a b&c"); err != nil || pid != os.Getpid() {
			t.Errorf("%d, %v", pid, err)
		}
		if _, err := c.Forget(t.Context(), "ä"); err == nil || err.Error() != "there is none" {
			t.Errorf("error is %v", err)
		}
		if got := strings.Join(f.asked, ", "); got != "run a b&c, forget ä" {
			t.Errorf("asked %s", got)
		}
		stop()
		if _, err := os.Lstat(filepath.Join(dir, listen.SocketName)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is left: %v", err)
		}
	}
}

// The socket of a killed process does not answer, and is replaced.
func TestLeftBehind(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, listen.SocketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := (Client{dir}).RunNow(t.Context(), "x"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("error is %v", err)
	}
	stop := serve(t, dir, &fake{})
	defer stop()
	if _, err := (Client{dir}).RunNow(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	if _, err := (Client{filepath.Join(dir, listen.SocketName)}).RunNow(t.Context(), "x"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a file in place of the folder: %v", err)
	}
	if _, err := listen.Socket(filepath.Join(dir, "none")); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("error is %v", err)
	}
}
