package small_test

import (
	"context"
	"errors"
	"fmt"
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

// at returns the URL of a list of a server.
func at(server int) *url.URL {
	return &url.URL{Scheme: "http", Host: fmt.Sprintf("%d.example.net", server), Path: "/list"}
}

// TestSlots checks that at most as many documents as there are slots are in memory beyond their first bytes. A fetch
// that waits for a place does not fail as silent, and stops waiting when its context ends.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all, places = 32, 4
		r, n := small.NewSlots(places), &taken{}
		parsed, failed := make(chan struct{}), make(chan error, all)
		fetch := func(ctx context.Context, server int) {
			u := at(server)
			ctx, release := r.WithSlot(ctx, u)
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
		for i := range all {
			go fetch(t.Context(), i)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go fetch(ctx, 0)
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
		slow, release := r.WithSlot(t.Context(), at(0))
		if err := small.TakeSlot(slow, bulkSize); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc((small.Longest+1)*time.Minute, release)
		u := at(1)
		ctx, release := r.WithSlot(t.Context(), u)
		defer release()
		if data, _, err := small.Whole(ctx, bulk{&taken{}}, u, time.Minute, bulkSize); err != nil || len(data) != bulkSize {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	})
}

// A stopping source sends n bytes of a document at once, and then a byte every second.
type stopping struct{ n int64 }

func (stopping) Traits() source.Traits { return source.Traits{} }

func (b stopping) Fetch(ctx context.Context, _ byterange.Range, to source.Sink) error {
	if err := to.Answer(source.Answer{Size: bulkSize}); err != nil {
		return err
	}
	if _, err := to.WriteAt(make([]byte, b.n), 0); err != nil {
		return err
	}
	for off := b.n; off < bulkSize; off++ {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := to.WriteAt([]byte{0}, off); err != nil {
			return err
		}
	}
	return nil
}

// TestSlotsOfServer: the slow lists of a server take one slot, and keep it for no more than ten seconds. Other servers
// have to wait only if slow servers have all slots, and Waited has that time alone.
func TestSlotsOfServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := small.NewSlots(2)
		fetch := func(server int, src source.Source) (took time.Duration, err error) {
			began := time.Now()
			ctx, release := r.WithSlot(t.Context(), at(server))
			defer release()
			_, _, err = small.Whole(ctx, src, at(server), time.Minute, bulkSize)
			return time.Since(began), err
		}
		slow := make(chan error)
		for range 6 {
			go func() {
				_, err := fetch(0, stopping{small.Free + 1})
				slow <- err
			}()
		}
		synctest.Wait()
		if took, err := fetch(1, bulk{&taken{}}); took > 0 || err != nil {
			t.Errorf("another server waited for %v: %v", took, err)
		}
		go func() {
			_, err := fetch(2, stopping{small.Free + 1})
			slow <- err
		}()
		synctest.Wait()
		ctx, cancel := r.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if took, err := fetch(1, bulk{&taken{}}); took != 10*time.Second || err != nil {
			t.Errorf("with all slots taken, a server waited for %v: %v", took, err)
		}
		if ctx.Err() != nil || r.Waited() != 10*time.Second {
			t.Errorf("the time counted, of which %v did not: %v", r.Waited(), ctx.Err())
		}
		for range 7 {
			if err := <-slow; !errors.Is(err, small.ErrSlow) {
				t.Error(err)
			}
		}
		if context.Cause(ctx) != context.DeadlineExceeded || r.Waited() > 11*time.Second {
			t.Errorf("waited %v: %v", r.Waited(), context.Cause(ctx))
		}
	})
}
