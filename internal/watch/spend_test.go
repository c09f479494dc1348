package watch

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// allowed returns an allowance of n bytes.
func allowed(n int64) *atomic.Int64 {
	var a atomic.Int64
	a.Store(n)
	return &a
}

// Rule 56: a download ends when other downloads have used up the allowance of its feed meanwhile, and continues on
// another day.
func TestAllowanceSpentMeanwhile_Rule56(t *testing.T) {
	const size = 8 << 20
	w := newWorld(t)
	s := mirrortest.New(t, mirrortest.Generate(size, 1), mirrortest.Digest(), mirrortest.ETag(`"1"`),
		mirrortest.StallAfter(size/4))
	u := w.update()
	u.URL, u.Allowance = s.URL, allowed(size)
	others := make(chan struct{})
	go func() {
		defer close(others)
		for s.Sent() < size/4 {
			time.Sleep(time.Millisecond)
		}
		u.Allowance.Add(-size / 2)
		s.Set(mirrortest.StallAfter(size * 5 / 8)) // a little more than the rest of the allowance
	}()
	o, err := w.handle(u)
	<-others
	if !errors.Is(err, errSpent) || o.Bytes < size/4 || o.Bytes > size*3/4 {
		t.Errorf("%d bytes came, and then: %v", o.Bytes, err)
	}
	if left := u.Allowance.Load(); left > 0 {
		t.Errorf("%d bytes are left", left)
	}
	s.Set(mirrortest.StallAfter(-1))
	before := s.Sent()
	u.Allowance = allowed(size * 15 / 16) // less than the file, and more than its rest
	o, err = w.handle(u)
	left := u.Allowance.Load()
	if err != nil || s.Sent()-before > size*7/8 || left != size*15/16-o.Bytes {
		t.Errorf("another day: %v, %d bytes more, %d are left after %d", err, s.Sent()-before, left, o.Bytes)
	}
	if data, err := os.ReadFile(o.Path); err != nil || string(data) != string(s.Content.Bytes()) {
		t.Errorf("the file is wrong, %v", err)
	}
}
