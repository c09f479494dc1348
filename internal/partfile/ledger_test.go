package partfile

import (
	"braid/internal/fsys"
	"sync/atomic"
	"testing"

	"braid/byterange"
	"testing/synctest"
)

// A waiter is woken only when the front has passed its offset, and waiters for lower offsets do not wait for others.
func TestWokenForEnough(t *testing.T) {
	l := newLedger(writing)
	closed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	_, much, _ := l.frontBeyond(9)
	for end := int64(1); end <= 9; end++ {
		if l.restore(span(end-1, end)); closed(much) {
			t.Fatalf("woken at %d, wanted beyond 9", end)
		}
	}
	_, same, _ := l.frontBeyond(11)
	l.restore(span(9, 10))
	if !closed(much) || !closed(same) {
		t.Fatal("not woken at 10, wanted beyond 9")
	}
	_, much, _ = l.frontBeyond(30)
	_, little, _ := l.frontBeyond(10)
	l.restore(span(11, 12)) // not at the front
	if closed(little) {
		t.Fatal("woken by bytes that are not at the front")
	}
	l.restore(span(10, 11))
	if !closed(little) || !closed(much) {
		t.Fatal("not woken at 12, wanted beyond 10")
	}
	if _, much, _ = l.frontBeyond(30); closed(much) {
		t.Fatal("wants beyond 30, which is not there")
	}
	if l.enter(idle); !closed(much) {
		t.Fatal("not woken when the phase changed")
	}
}

// A writer that was stopped while it waited for a void writes nothing afterwards: its range was revoked, too.
func TestStoppedWriter_Rule2(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(fsys.OS, dir, "x")
		must(t, err)
		defer f.Discard()
		must(t, f.Begin(Identity{}))
		put(t, f, []byte("abcdef"), 0)
		f.Revoke(span(2, 4))
		var stopped atomic.Bool
		wrote := make(chan int, 1)
		go func() {
			n, err := f.WriteWhile([]byte("xxxx"), 1, func() bool { return !stopped.Load() }, new(byterange.Set))
			if err != ErrStopped {
				t.Error(err)
			}
			wrote <- n
		}()
		synctest.Wait()
		stopped.Store(true)
		must(t, f.Void())
		if n := <-wrote; n != 0 {
			t.Errorf("%d bytes were written", n)
		}
		wantHave(t, f, span(0, 2), span(4, 6))
	})
}
