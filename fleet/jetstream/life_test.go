package jetstream

import (
	"testing"
	"time"
)

// The loss of a queue is told once, until it is created again. Watchers start over then, and on a new connection.
func TestLife(t *testing.T) {
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	l := life{back: make(chan struct{}), made: first}
	ended := func(back <-chan struct{}) bool {
		select {
		case <-back:
			return true
		default:
			return false
		}
	}
	back := l.another()
	if l.renew(); !ended(back) || ended(l.another()) || l.lives != 0 {
		t.Errorf("a new connection: %+v", &l)
	}
	for i, step := range []struct {
		made       time.Time
		same, told bool
	}{
		{first, true, false},
		{time.Time{}, false, false},
		{time.Time{}, false, true},
		{second, false, true},
	} {
		if same, told := l.same(step.made); same != step.same || told != step.told {
			t.Errorf("%d: same: %t, told: %t", i, same, told)
		}
	}
	back = l.another()
	if l.again(second); !ended(back) || l.lives != 1 {
		t.Errorf("a new queue: %+v", &l)
	}
	if same, told := l.same(second); !same || told {
		t.Errorf("the new queue: same: %t, told: %t", same, told)
	}
}

// A clock that was measured converts the times of this machine.
func TestClockOfServer(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	c := clock{local: func() time.Time { return time.Now().Add(-time.Hour) }}
	before := time.Now().Add(-time.Minute) // the server's times are of this machine
	if err := c.measure(t.Context(), q.storage.leases); err != nil {
		t.Fatal(err)
	}
	if now := c.now(); now.Before(before) || now.After(time.Now().Add(time.Minute)) ||
		c.at(time.Unix(0, 0)).Sub(time.Unix(0, 0)) != c.ahead() {
		t.Errorf("it is %v, %v ahead", now, c.ahead())
	}
}

// TestID checks that all processes of a queue find the same ID, also after its server started again, and another one in
// another queue.
func TestID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := func(dir string) string {
		h, err := NewHost(dir, sockets, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		a, b := opened(t, h, "a", 0), opened(t, h, "b", 0)
		defer a.Close()
		defer b.Close()
		if a.ID() == "" || a.ID() != b.ID() {
			t.Errorf("%q and %q of one queue", a.ID(), b.ID())
		}
		return a.ID()
	}
	if first, again, other := id(dir), id(dir), id(t.TempDir()); first != again || first == other {
		t.Errorf("%q, then %q; another queue is %q", first, again, other)
	}
}
