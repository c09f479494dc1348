package download_test

import (
	"testing"
	"time"

	"braid/download"
	"braid/download/limit"
	"braid/internal/test/mirrortest"
)

// A limit applies to all sources together, whatever their number, and no source looks silent because of it:
// its range is not given to another one.
func TestLimit(t *testing.T) {
	const size, most = 3 * mib / 2, mib / 2
	var mirrors []*mirrortest.Server
	for range 3 {
		mirrors = append(mirrors, sized(t, size))
	}
	r := newRun(t, vouch(t, size, mirrors...).URL)
	r.client.Limit = limit.New(most)
	begun := time.Now()
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	for _, ev := range r.events {
		if down, ok := ev.(download.SourceDown); ok {
			t.Errorf("%s: %v", down.URL, down.Err)
		}
	}
	if least := (size-most/20)*time.Second/most - 10*time.Millisecond; time.Since(begun) < least {
		t.Errorf("took %v, at that rate it is %v", time.Since(begun), least)
	}
}

// Two downloads share the limit of their client.
func TestLimitIsShared(t *testing.T) {
	const size, most = mib, mib
	shared := limit.New(most)
	begun := time.Now()
	done := make(chan error, 2)
	for range 2 {
		r := newRun(t, sized(t, size, mirrortest.Digest()).URL)
		r.client.Limit = shared
		go func() {
			_, err := r.get()
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if least := 1900 * time.Millisecond; time.Since(begun) < least {
		t.Errorf("both took %v", time.Since(begun))
	}
}

// A limit within another one obeys both.
func TestLimitWithin(t *testing.T) {
	const size = mib
	for _, tt := range []struct{ own, outer int64 }{{mib, 100 * mib}, {100 * mib, mib}} {
		r := newRun(t, sized(t, size, mirrortest.Digest()).URL)
		r.client.Limit = limit.New(tt.own).Within(limit.New(tt.outer))
		begun := time.Now()
		if _, err := r.get(); err != nil {
			t.Error(err)
		}
		if least := 940 * time.Millisecond; time.Since(begun) < least {
			t.Errorf("%v: took %v", tt, time.Since(begun))
		}
	}
}

// A changed limit counts at once, also for running downloads: without it, the rest comes without waiting;
// with a new one, the next file waits.
func TestLimitSet(t *testing.T) {
	const size = mib
	r := newRun(t, sized(t, size, mirrortest.Digest()).URL)
	most := limit.New(size / 1024) // a quarter of an hour
	r.client.Limit = most
	lifted := false
	r.req.Observe = func(ev download.Event) {
		if p, ok := ev.(download.Progress); ok && p.Done > 0 && !lifted {
			lifted = true
			most.Set(0)
		}
	}
	if _, err := r.get(); err != nil {
		t.Errorf("with a limit that was lifted: %v", err)
	}
	most.Set(100 * size)
	most.Set(size)
	r = newRun(t, sized(t, size, mirrortest.Digest()).URL)
	r.client.Limit = most
	begun := time.Now()
	if _, err := r.get(); err != nil || time.Since(begun) < 900*time.Millisecond {
		t.Errorf("with a new limit: %v after %v", err, time.Since(begun))
	}
}
