package scheduler

import (
	"slices"
	"testing"
	"time"
)

// site is the server of a simulated batch.
type site struct {
	rtt      time.Duration
	link     float64                   // bytes a second of all connections
	perConn  float64                   // bytes a second of one connection; 0: as the link
	until    time.Duration             // when perConn ends; 0: never
	slowdown func(running int) float64 // share of the link that remains with so many downloads; nil: all
	refuses  bool                      // after one round trip, for every request
}

// haul is a batch in a virtual network: one round trip to connect, one to the first byte, windows that begin with ten
// segments and double in each round trip, persistent connections, and a fair share of the link.
type haul struct {
	site
	t     *testing.T
	batch *Batch
	now   time.Time
	files []int64
	next  int
	idle  []*conduit
	open  []*conduit
	most  int
	area  float64 // downloads times seconds
}

// conduit is a connection that delivers a file.
type conduit struct {
	id     JobID
	window float64   // bytes in a round trip
	credit float64   // unused part of the window in this round trip
	burst  time.Time // start of the round trip, which determines its turn on the link
	at     time.Time // when the first byte arrives
	left   float64
	heard  bool
	untold float64
	told   time.Time
}

const beat = time.Millisecond

func (h *haul) run() time.Duration {
	h.now = time.Unix(1000, 0)
	begin := h.now
	for h.next < len(h.files) || len(h.open) > 0 {
		k, _ := h.batch.More(h.now)
		h.batch.check(h.t)
		for range min(k, len(h.files)-h.next) {
			h.begin()
		}
		h.most = max(h.most, len(h.open))
		h.area += float64(len(h.open)) * beat.Seconds()
		h.now = h.now.Add(beat)
		h.flow()
		if h.now.Sub(begin) > time.Hour {
			h.t.Fatalf("%d of %d files after an hour", h.next, len(h.files))
		}
	}
	return h.now.Sub(begin)
}

func (h *haul) begin() {
	c := &conduit{window: 14600, at: h.now.Add(2 * h.rtt)}
	if n := len(h.idle); n > 0 {
		c, h.idle = h.idle[n-1], h.idle[:n-1]
		c.at = h.now.Add(h.rtt)
	}
	c.id, c.left, c.heard, c.untold, c.told = h.batch.Began(h.now), float64(h.files[h.next]), false, 0, h.now
	c.burst = c.at.Add(-h.rtt)
	h.next++
	h.open = append(h.open, c)
}

// flow simulates one time step.
func (h *haul) flow() {
	link := h.link
	if h.slowdown != nil {
		link *= h.slowdown(len(h.open))
	}
	budget := link * beat.Seconds()
	queue := slices.Clone(h.open)
	slices.SortStableFunc(queue, func(a, b *conduit) int { return a.burst.Compare(b.burst) })
	for _, c := range queue {
		budget -= h.deliver(c, budget)
	}
}

// deliver gives a connection what its window and the link allow, and returns the number of bytes.
func (h *haul) deliver(c *conduit, budget float64) float64 {
	if h.now.Before(c.at) {
		return 0
	}
	if !c.heard {
		c.heard = true
		h.batch.Answered(h.now, c.id, h.rtt)
	}
	if h.refuses {
		h.end(c, false)
		return 0
	}
	if !h.now.Before(c.burst.Add(h.rtt)) {
		c.credit, c.burst = c.window, h.now
	}
	n := min(c.left, c.credit, budget)
	if h.perConn > 0 && (h.until == 0 || h.now.Sub(time.Unix(1000, 0)) < h.until) {
		n = min(n, h.perConn*beat.Seconds())
	}
	c.left -= n
	c.untold += n
	c.window += n
	c.credit -= n
	if done := c.left < 1; done || h.now.Sub(c.told) >= 100*time.Millisecond {
		h.batch.Arrived(h.now, c.id, int64(c.untold))
		c.untold, c.told = 0, h.now
		if done {
			h.end(c, true)
		}
	}
	return n
}

func (h *haul) end(c *conduit, well bool) {
	h.batch.Ended(h.now, c.id, well)
	h.open = slices.DeleteFunc(h.open, func(o *conduit) bool { return o == c })
	h.idle = append(h.idle, c)
}

// check fails the test if the state of b is inconsistent.
func (b *Batch) check(t *testing.T) {
	t.Helper()
	if b.allowed < 1 || b.allowed > b.most || b.step.unanswered < 0 || b.step.unanswered > b.step.fresh {
		t.Fatalf("%+v", b)
	}
}

func files(n int, size int64) []int64 { return slices.Repeat([]int64{size}, n) }

// TestBatches_S12: batches in virtual networks. Small files are fast after a few round trips. If one download fills the
// link, at most two run (C6). If more downloads are slower, the number is reduced.
func TestBatches_S12(t *testing.T) {
	const ms = time.Millisecond
	lan := site{rtt: 20 * ms, link: 24e6}
	for _, tt := range []struct {
		name   string
		site   site
		files  []int64
		within time.Duration // of the whole batch
		most   int           // maximum of concurrent downloads
		mean   float64       // mean of concurrent downloads
	}{
		{"small files", lan, files(2000, 16<<10), 1620 * ms, 64, 60},
		{"small files, far away", site{rtt: 200 * ms, link: 24e6}, files(2000, 16<<10), 8800 * ms, 64, 64},
		{"tiny files near by", site{rtt: 1 * ms, link: 100e6}, files(2000, 1<<10), 80 * ms, 64, 64},
		{"empty files", lan, files(500, 1), 400 * ms, 64, 64},
		{"large files on a link that one fills", lan, files(10, 100<<20), 45 * time.Second, 2, 1.5},
		{"large files on a slow link", site{rtt: 40 * ms, link: 1e6}, files(5, 10<<20), 54 * time.Second, 2, 1.6},
		{"files of some MiB", lan, files(100, 3<<20), 14 * time.Second, 5, 3.5},
		{"a server that gives each connection little", site{rtt: 40 * ms, link: 24e6, perConn: 1e6}, files(100, 20<<20),
			120 * time.Second, 30, 24},
		{"small, then large", lan, append(files(20, 4<<10), files(8, 100<<20)...), 36 * time.Second, 20, 5},
		{"large, then small", lan, append(files(3, 50<<20), files(2000, 16<<10)...), 9 * time.Second, 64, 16},
		{"a server that gets slower", site{rtt: 20 * ms, link: 24e6, slowdown: func(n int) float64 {
			return min(1, 64/float64(n*n))
		}}, files(2000, 16<<10), 5500 * ms, 32, 16},
		{"a server that refuses", site{rtt: 20 * ms, link: 24e6, refuses: true}, files(100, 1<<10), 2100 * ms, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &haul{site: tt.site, t: t, batch: NewBatch(0), files: tt.files}
			took := h.run()
			mean := h.area / took.Seconds()
			t.Logf("%v, %d at once at most, %.1f on average", took, h.most, mean)
			if took > tt.within || h.most > tt.most || mean > tt.mean {
				t.Errorf("want %v, %d at once at most, %.1f on average", tt.within, tt.most, tt.mean)
			}
		})
	}
}

// TestBatchGoesDown: places that no longer pay are given up.
func TestBatchGoesDown(t *testing.T) {
	h := &haul{
		site: site{rtt: 20 * time.Millisecond, link: 24e6, perConn: 3e6, until: time.Minute},
		t:    t, batch: NewBatch(0), files: files(100, 100<<20),
	}
	took := h.run()
	if h.most < 6 || h.batch.allowed > 3 || took > 455*time.Second {
		t.Errorf("%v; %d at once at most, %d in the end", took, h.most, h.batch.allowed)
	}
}

// TestBatchFixed: a number that the user sets is kept, regardless of throughput.
func TestBatchFixed(t *testing.T) {
	h := &haul{site: site{rtt: 20 * time.Millisecond, link: 24e6}, t: t, batch: NewBatch(16), files: files(2000, 16<<10)}
	if took := h.run(); h.most != 16 || took > 3800*time.Millisecond {
		t.Errorf("%v with %d at once", took, h.most)
	}
	b := NewBatch(100)
	if k, wake := b.More(time.Unix(1, 0)); k != 100 || !wake.IsZero() {
		t.Errorf("%d at once, then wait for %v", k, wake)
	}
}

// TestBatchWaitsForVerdict: no step begins while another one is measured (S12).
func TestBatchWaitsForVerdict_S12(t *testing.T) {
	b, now := NewBatch(0), time.Unix(1, 0)
	first := b.Began(now)
	b.Answered(now, first, 20*time.Millisecond)
	b.Ended(now.Add(40*time.Millisecond), first, true)
	now = now.Add(40 * time.Millisecond)
	k, _ := b.More(now)
	if k < 2 {
		t.Fatalf("after a short download %d may run", k)
	}
	for range k {
		b.Began(now)
	}
	for range 50 {
		now = now.Add(20 * time.Millisecond)
		if more, wake := b.More(now); more > 0 || wake.IsZero() {
			t.Fatalf("%d more begin before the newcomers were heard (wake %v)", more, wake)
		}
	}
}

// FuzzBatch: for every history, at least one download may run and never too many, and equal histories give equal
// results.
func FuzzBatch(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 250, 251, 8, 90, 16, 24, 34, 128, 66})
	f.Add([]byte("a list that begins with small files may go on with large ones"))
	f.Fuzz(func(t *testing.T, history []byte) {
		b, same := NewBatch(0), NewBatch(0)
		now := time.Unix(1, 0)
		var running []JobID
		for i, x := range history {
			now = now.Add(time.Duration(x) * time.Duration(x) * 30 * time.Microsecond)
			if n := len(running); n > 0 {
				id, bytes := running[int(x)%n], int64(x)*int64(i)*100
				for _, b := range []*Batch{b, same} {
					switch x % 5 {
					case 0:
						b.Answered(now, id, time.Duration(x)*time.Millisecond)
					case 1, 2:
						b.Arrived(now, id, bytes)
					default:
						b.Ended(now, id, x%5 == 3)
					}
				}
				if x%5 > 2 {
					running = slices.Delete(running, int(x)%n, int(x)%n+1)
				}
			}
			k, wake := b.More(now)
			if l, w := same.More(now); l != k || w != wake {
				t.Fatalf("%d and %d, %v and %v", k, l, wake, w)
			}
			b.check(t)
			if k+len(running) < 1 || k < 0 || k+len(running) > max(MostAtOnce, len(running)) {
				t.Fatalf("%d more, and %d run", k, len(running))
			}
			for range min(k, int(x)%7) {
				running = append(running, b.Began(now))
				same.Began(now)
			}
		}
	})
}

// TestBatchResize: another number of places applies from then on, and measuring continues.
func TestBatchResize(t *testing.T) {
	b, now := NewBatch(5), time.Unix(1000, 0)
	room := func() int { k, _ := b.More(now); b.check(t); return k }
	for range 5 {
		b.Began(now)
	}
	for _, tt := range []struct{ places, room int }{{9, 4}, {2, 0}, {5, 0}, {100, 95}, {0, MostAtOnce - 5}, {7, 2}, {0, 2}} {
		if b.Resize(now, tt.places); room() != tt.room {
			t.Errorf("with %d places and five downloads there is room for %d, want %d", tt.places, room(), tt.room)
		}
	}
}

// TestBatchAtLeast: the minimum applies from the first download on and stays when places do not pay. It does not apply
// to a number that the user sets.
func TestBatchAtLeast(t *testing.T) {
	b, now := NewBatch(0), time.Unix(1, 0)
	b.AtLeast(4)
	if k, _ := b.More(now); k != 4 {
		t.Errorf("%d may run at first", k)
	}
	b.Resize(now, 2)
	if k, _ := b.More(now); k != 2 {
		t.Errorf("%d of 2 may run", k)
	}
	b.Resize(now, 0)
	if k, _ := b.More(now); k != 4 {
		t.Errorf("%d may run where it is measured again", k)
	}
	b = NewBatch(0)
	b.AtLeast(4)
	h := &haul{site: site{rtt: 20 * time.Millisecond, link: 24e6, perConn: 3e6, until: time.Minute}, t: t, batch: b,
		files: files(100, 100<<20)}
	if h.run(); h.most < 6 || b.allowed < 4 {
		t.Errorf("%d at most, %d in the end", h.most, b.allowed)
	}
}
