package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"braid/download"
	"braid/download/state"
)

// TestWatchRemembers: what was learned is written within a minute, for a watcher that is killed, and not with each file.
func TestWatchRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &state.Store{Dir: t.TempDir()}
		path := filepath.Join(store.Dir, "hosts")
		s := &service{}
		s.current.Store(&setup{client: &download.Client{State: store}})
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go s.remember(ctx)
		for range 2 {
			store.Learn("example.org:443", state.Speed{Rate: 1e6})
		}
		time.Sleep(RememberEvery - time.Second)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is written at once, or somewhere else: %v", err)
		}
		time.Sleep(2 * time.Second)
		written, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if again, err := os.Stat(path); err != nil || !written.ModTime().Equal(again.ModTime()) {
			t.Errorf("it is written again though nothing is new: %v", err)
		}
	})
}
