package small_test

import (
	"context"
	"io"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"braid/byterange"
	"braid/internal/small"
	"braid/source"
)

// A bulk is a source of a document of bulkSize bytes. It counts the bytes that sinks have taken.
type bulk struct{ taken *taken }

func (bulk) Traits() source.Traits { return source.Traits{} }

const (
	bulkSize  = 1 << 20
	bulkChunk = 16 << 10
)

type taken struct {
	sync.Mutex
	bytes, most int
}

func (t *taken) add(n int) {
	t.Lock()
	defer t.Unlock()
	t.bytes += n
	t.most = max(t.most, t.bytes)
}

func (b bulk) Fetch(_ context.Context, _ byterange.Range, to source.Sink) error {
	if err := to.Answer(source.Answer{Size: bulkSize}); err != nil {
		return err
	}
	for at := int64(0); at < bulkSize; at += bulkChunk {
		if _, err := to.WriteAt(make([]byte, bulkChunk), at); err != nil {
			return err
		}
		b.taken.add(bulkChunk)
	}
	return nil
}

// TestSlots checks that at most as many documents as there are slots are in memory beyond their first bytes. A fetch
// that waits for a place does not fail as silent, and stops waiting when its context ends.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all, places = 32, 4
		r, n := small.NewSlots(places), &taken{}
		u := &url.URL{Scheme: "http", Host: "a.example.net", Path: "/list"}
		parsed, failed := make(chan struct{}), make(chan error, all)
		fetch := func(ctx context.Context) {
			ctx, release := r.WithSlot(ctx)
			defer release()
			data, _, err := small.Whole(ctx, bulk{n}, u, time.Minute, bulkSize)
			if err == nil && len(data) != bulkSize {
				err = io.ErrUnexpectedEOF
			}
			select {
			case <-parsed:
			case <-ctx.Done():
				err = ctx.Err()
			}
			n.add(-len(data))
			failed <- err
		}
		for range all {
			go fetch(t.Context())
		}
		ctx, cancel := context.WithCancel(t.Context())
		go fetch(ctx)
		time.Sleep(5 * time.Minute) // virtual, and longer than a server may be silent
		cancel()
		if err := <-failed; err == nil {
			t.Error("a canceled fetch succeeded")
		}
		for range all {
			parsed <- struct{}{}
			synctest.Wait()
		}
		for range all {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		if limit := places*bulkSize + (all+1)*small.Free; n.most > limit {
			t.Errorf("%d bytes at once, want at most %d", n.most, limit)
		}
	})
}

// TestSlotsAwaited checks that a server is not given up as slow because others have the slots for long.
func TestSlotsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := small.NewSlots(1)
		slow, release := r.WithSlot(t.Context())
		if err := small.TakeSlot(slow, bulkSize); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc((small.Longest+1)*time.Minute, release)
		ctx, release := r.WithSlot(t.Context())
		defer release()
		u := &url.URL{Scheme: "http", Host: "a.example.net", Path: "/list"}
		if data, _, err := small.Whole(ctx, bulk{&taken{}}, u, time.Minute, bulkSize); err != nil || len(data) != bulkSize {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	})
}
