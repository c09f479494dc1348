package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"braid/download"
	"braid/download/promises"
	"braid/verify"
)

// TestWatchRemembers: what was learned is written within a minute, for a watcher that is killed, and not with each file.
func TestWatchRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "promises")
		memory := promises.Open(path)
		s := &service{}
		s.current.Store(&setup{client: &download.Client{Promises: memory}})
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go s.remember(ctx)
		for _, name := range []string{"a", "b"} {
			u := &url.URL{Scheme: "https", Host: "example.org", Path: "/" + name}
			memory.Keep(u, promises.Promise{HTTPS: verify.SHA256}, time.Now())
		}
		time.Sleep(rememberEvery - time.Second)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is written at once, or somewhere else: %v", err)
		}
		time.Sleep(2 * time.Second)
		written, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if again, err := os.Stat(path); err != nil || !os.SameFile(written, again) {
			t.Errorf("it is written again though nothing is new: %v", err)
		}
	})
}
