package antenna

import (
	"errors"
	"testing"
	"time"

	"braid/antenna/feed"
)

// running returns what the parts of a loop share, and the events that they emit.
func running(a *Antenna) (*run, *[]Event) {
	events := &[]Event{}
	a.Observe = func(e Event) { *events = append(*events, e) }
	return &run{a: a}, events
}

// TestBufferOrder checks that an event is emitted after the change that it reports, and that nothing is written for it
// if no update was acknowledged.
func TestBufferOrder(t *testing.T) {
	r, events := running(&Antenna{})
	b, now := newBuffer(r), time.Unix(1e9, 0)
	m := &member{id: "feed f", feed: Feed{Relay: true}}
	b.feed(m, true, now)
	b.records(m, []byte("records"))
	b.afterSave(Handled{})
	if b.settle(); len(*events) != 1 || len(b.feeds) != 1 || b.memory[m.id] != nil {
		t.Errorf("%d events, %d feeds wait, memory %q", len(*events), len(b.feeds), b.memory[m.id])
	}
	b.acknowledged = true
	b.afterSave(Handled{})
	if b.settle(); len(*events) != 2 || len(b.feeds) != 0 || string(b.memory[m.id]) != "records" {
		t.Errorf("%d events, %d feeds wait, memory %q", len(*events), len(b.feeds), b.memory[m.id])
	}
	r.fail(errors.New("broken"))
	b.feed(m, true, now)
	if b.save(); len(b.feeds) != 1 {
		t.Error("a run that failed has saved")
	}
}

// TestBufferWakes checks that news is written sooner than the time of a poll, and expired records are published again.
func TestBufferWakes(t *testing.T) {
	r, _ := running(&Antenna{})
	now, m := time.Unix(1e9, 0), &member{id: "feed f"}
	for _, tt := range []struct {
		name   string
		change func(b *buffer)
		after  time.Duration
	}{
		{"nothing", func(*buffer) {}, -1},
		{"the time of a poll", func(b *buffer) { b.feed(m, false, now) }, time.Hour},
		{"news", func(b *buffer) { b.feed(m, true, now) }, saveWithin},
		{"records that expire", func(b *buffer) { b.expires = now.Add(time.Minute) }, time.Minute},
	} {
		b := newBuffer(r)
		tt.change(&b)
		at, ok := b.wake(time.Hour)
		if ok != (tt.after >= 0) || ok && at.Sub(now) != tt.after {
			t.Errorf("%s: after %v, %v", tt.name, at.Sub(now), ok)
		}
	}
	b := newBuffer(r)
	b.expires = now
	if b.expire(now.Add(-1)); b.news {
		t.Error("records are published again before they expire")
	}
	if b.expire(now); !b.news || !b.expires.IsZero() {
		t.Error("records have expired and are not published again")
	}
}

// TestPollsLater checks that the next poll is scheduled, except in a round, which ends with the polls.
func TestPollsLater(t *testing.T) {
	at := time.Unix(1e9, 0)
	for _, once := range []bool{false, true} {
		r, _ := running(&Antenna{})
		if once {
			r.round = &round{}
		}
		l, m := polls{run: r}, &member{id: "feed f", asking: true}
		l.later(m, at)
		next, when, ok := l.due.first()
		if m.asking || !m.saved.Next.Equal(at) || ok == once || ok && (next != m || !when.Equal(at)) {
			t.Errorf("once %v: asking %v, next %v, due %v at %v", once, m.asking, m.saved.Next, ok, when)
		}
	}
}

// TestUpdatesPostpone checks that the pause after a failed update grows up to its limit, which is larger for an error
// that will last.
func TestUpdatesPostpone(t *testing.T) {
	for _, tt := range []struct {
		lasting bool
		most    time.Duration
	}{{false, retryMost}, {true, lastingMost}} {
		r, _ := running(&Antenna{Judge: func(error) (int, bool) { return 7, tt.lasting }})
		r.round = &round{}
		u, now := updates{run: r}, time.Unix(1e9, 0)
		p := &pending{Action: feed.Recheck}
		target, h := &target{w: &watcher{}, saved: savedTarget{Pending: p}}, &Handled{Err: errors.New("no file")}
		for n := range 20 {
			u.postpone(target, h, now)
			least := min(retryBase<<min(n+1, 20), tt.most)
			if wait := p.At.Sub(now); wait < least || wait > least*5/4 || p.Failures != n+1 || !h.Next.Equal(p.At) {
				t.Errorf("failure %d, lasting %v: pause %v, want %v or a little more", n+1, tt.lasting, wait, least)
			}
		}
		if p.Code != 7 || p.Err != "no file" || len(r.round.errs) != 20 {
			t.Errorf("code %d, error %q, %d errors in the round", p.Code, p.Err, len(r.round.errs))
		}
	}
}
