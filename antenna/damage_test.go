package antenna

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStoreDamagedAnywhere_Rule8 checks that a store with damage at any place is either read or set aside with an error
// about it.
func TestStoreDamagedAnywhere_Rule8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		dir := t.TempDir()
		path := filepath.Join(dir, "antenna.db")
		a.Store = storeIn(t, dir)
		watchFor(t, a, j, time.Hour)
		closed(t, a.Store)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		page := os.Getpagesize()
		for i := range 400 {
			data := bytes.Clone(good)
			switch i % 4 {
			case 0:
				data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
			case 1:
				clear(data[r.IntN(len(data)/page)*page:][:page])
			case 2:
				p := r.IntN(len(data)/page) * page
				for k := range 64 {
					data[p+k] = byte(r.Uint32())
				}
			case 3:
				data = data[:r.IntN(len(data))]
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			a.Store, err = OpenStore(path)
			if err != nil {
				t.Errorf("%d: %v", i, err)
				continue
			}
			if lost := a.Store.lost; lost != nil &&
				(strings.Contains(lost.Error(), "runtime") || strings.Contains(lost.Error(), "nil pointer")) {
				t.Errorf("%d: %v", i, lost)
			}
			if _, err := a.Status(t.Context()); err != nil {
				t.Errorf("%d: status: %v", i, err)
			}
			if i%100 == 0 {
				time.Sleep(time.Second) // the lost store has the times of the last requests to hosts
				if err := func() error {
					ctx, stop := context.WithTimeout(t.Context(), time.Minute)
					defer stop()
					return a.Watch(ctx, j.take)
				}(); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%d: watch: %v", i, err)
				}
			}
			if err := a.Store.Close(); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}
