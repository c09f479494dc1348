package fleet

import (
	"fmt"
	"testing"
	"time"
)

// FuzzLine checks that the numbers of a line are called in order and not ahead of time, that a later number never waits
// less, and that no number is called while the host is held.
func FuzzLine(f *testing.F) {
	f.Add([]byte{1, 1, 1, 2, 4, 8, 0, 255, 3})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var p Pace
		now := t0
		for _, b := range steps {
			before := p.Line
			switch n := int(b >> 3); b & 7 {
			case 0, 1:
				if number := p.Enter(Limit{Requests: 10, Bytes: int64(n) << 20}, now); number != before.Last+1 {
					t.Fatalf("number %d after %d", number, before.Last)
				}
			case 2:
				p.Turns(n, 10, now)
			case 3:
				p.Began(n)
			case 4:
				p.Ended(int64(n) << 24)
			case 5:
				p.Hold(503, time.Duration(n)*time.Second, now)
			default:
				now = now.Add(time.Duration(n) * 100 * time.Millisecond)
			}
			if p.Line.Called < before.Called || p.Line.Called > float64(p.Line.Last) {
				t.Fatalf("%v called of %d, and %v before", p.Line.Called, p.Line.Last, before.Called)
			}
			held, _ := p.Held(now)
			last := time.Duration(0)
			for number := uint64(0); number <= p.Line.Last+1; number++ {
				wait := p.Wait(number, now)
				if wait < last || wait < held {
					t.Fatalf("number %d waits %v, the one before it %v, and the host is held for %v", number, wait, last, held)
				}
				if later := p.Wait(number, now.Add(wait)); later > time.Millisecond {
					t.Fatalf("number %d waits %v, and %v more then", number, wait, later)
				}
				last = wait
			}
		}
	})
}

// TestLineCost checks that the interval between two jobs is the time that their requests or bytes need at the host,
// whichever is longer.
func TestLineCost(t *testing.T) {
	const jobs = 1000
	for _, tt := range []struct {
		limit    Limit
		requests int
		bytes    int64
		least    time.Duration // between two jobs
		most     time.Duration
	}{
		{Limit{Requests: 10}, 1, 0, 100 * time.Millisecond, 110 * time.Millisecond},
		{Limit{Requests: 10}, 8, 0, 760 * time.Millisecond, 800 * time.Millisecond},
		{Limit{Bytes: 1 << 20}, 3, 1 << 16, 60 * time.Millisecond, 75 * time.Millisecond},
	} {
		var p Pace
		now := t0
		for range jobs {
			now = now.Add(p.Wait(p.Enter(tt.limit, now), now))
			p.Began(1)
			if tt.limit.Requests > 0 {
				p.Turns(tt.requests, tt.limit.Requests, now)
			}
			p.Ended(tt.bytes)
		}
		if each := now.Sub(t0) / jobs; each < tt.least || each > tt.most {
			t.Errorf("%+v with %d requests and %d bytes: one each %v", tt.limit, tt.requests, tt.bytes, each)
		}
	}
}

// FuzzShares checks that the shares of all workers together never exceed the limit of the host, and that workers that
// stay get equal shares.
func FuzzShares(f *testing.F) {
	f.Add([]byte{0, 8, 16, 24, 1, 9, 4, 255, 2})
	f.Fuzz(func(t *testing.T, steps []byte) {
		const whole = 1_000_000
		var p Pace
		now := t0
		check := func() {
			sum := int64(0)
			for _, s := range p.Shares {
				if s.Rate < 0 {
					t.Fatalf("a share of %d", s.Rate)
				}
				if now.Before(s.Until) {
					sum += s.Rate
				}
			}
			if sum > whole {
				t.Fatalf("%d of %d: %+v", sum, whole, p.Shares)
			}
		}
		for _, b := range steps {
			worker := fmt.Sprint(b >> 3 & 7)
			switch b & 7 {
			case 0, 1, 2:
				p.TakeShare(worker, 1, whole, whole, now)
			case 3:
				p.TakeShare(worker, 1, int64(b)*100, whole, now)
			case 4:
				p.LeaveShare(worker, now)
			default:
				now = now.Add(time.Duration(b) * 10 * time.Millisecond)
			}
			check()
		}
		now = now.Add(time.Minute)
		for range 2 {
			for w := range 4 {
				p.TakeShare(fmt.Sprint(w), 1, []int64{100, whole, whole, whole}[w], whole, now)
				check()
			}
		}
		for w, want := range []int64{100, (whole - 100) / 3, (whole - 100) / 3, (whole - 100) / 3} {
			if got := p.Shares[fmt.Sprint(w)].Rate; got != want {
				t.Fatalf("worker %d has %d, want %d: %+v", w, got, want, p.Shares)
			}
		}
	})
}

// TestLineClockSetBack checks that no job waits for a time that was stored while the clock of the queue was ahead.
func TestLineClockSetBack(t *testing.T) {
	l, ahead := Limit{Requests: 10, Bytes: 1 << 20}, t0.Add(9*time.Hour)
	var p Pace
	first := p.Enter(l, ahead)
	p.Hold(503, mostHeld, ahead)
	p.Turns(3, l.Requests, ahead)
	p.TakeShare("gone", enough, l.Bytes, l.Bytes, ahead)
	if wait := p.Wait(first, t0); wait > mostHeld+Soon {
		t.Errorf("the first job waits %v", wait)
	}
	if wait := p.Wait(p.Enter(l, t0), t0); wait > time.Minute {
		t.Errorf("the next job waits %v", wait)
	}
	if turn, _ := p.Turns(1, l.Requests, t0); turn.Sub(t0) > time.Minute {
		t.Errorf("its request waits %v", turn.Sub(t0))
	}
	if rate, _ := p.TakeShare("new", 1, l.Bytes, l.Bytes, t0.Add(time.Minute)); rate == 0 {
		t.Error("a worker that has ended keeps its share")
	}
}
