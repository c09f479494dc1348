package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// crowd is a scheduler with much work: 100 sources deliver 500 KB/s each, and 10,000 ranges are present.
type crowd struct {
	s    *Scheduler
	now  time.Time
	wake time.Time
}

const (
	crowdSources = 100
	crowdRanges  = 10_000
)

func newCrowd(t testing.TB) *crowd {
	t.Helper()
	const size = 1 << 50
	cfg := Config{Size: size, Split: crowdSources}
	for i := range int64(crowdRanges) {
		cfg.Have.Add(byterange.Range{Start: size - i<<20, End: size - i<<20 + 1<<19})
	}
	c := &crowd{s: New(cfg), now: time.Unix(1e9, 0)}
	for i := range SourceID(crowdSources) {
		c.step(SourceAdded{ID: i, Host: name(int(i)), Rate: 5e5, RTT: 20 * time.Millisecond})
	}
	c.s.growth.allowed, c.s.growth.ended = crowdSources, true // growth has found that all pay
	c.now = c.now.Add(time.Second)
	c.step(Tick{})
	if n := len(c.s.requests.running); n < crowdSources {
		t.Fatalf("%d sources are at work", n)
	}
	return c
}

// step sends an event to the scheduler, and a Tick when the wake time has come.
func (c *crowd) step(ev Event) {
	_, c.wake = c.s.Step(c.now, ev)
	if !c.wake.IsZero() && !c.now.Before(c.wake) {
		_, c.wake = c.s.Step(c.now, Tick{})
	}
}

// progress is one write of one source; each source writes a hundred times a second.
func (c *crowd) progress(i int) {
	f := c.s.requests.running[i%len(c.s.requests.running)]
	c.now = c.now.Add(10 * time.Millisecond / crowdSources)
	if f.pos+5_000 < f.end {
		c.step(Progress{Fetch: f.id, Range: byterange.Range{Start: f.pos, End: f.pos + 5_000}})
		return
	}
	c.step(Progress{Fetch: f.id, Range: byterange.Range{Start: f.pos, End: f.end}})
	c.step(FetchEnded{Fetch: f.id})
}

// BenchmarkStep measures the cost of an event, including the decisions that follow ten times a second and at the end of
// each range.
func BenchmarkStep(b *testing.B) {
	c := newCrowd(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.progress(i)
	}
}

// Reporting a write allocates nothing.
func TestProgressAllocatesNothing(t *testing.T) {
	c := newCrowd(t)
	for i := range 10 * crowdSources {
		c.progress(i)
	}
	f := c.s.requests.running[0]
	c.now = c.now.Add(time.Millisecond)
	n := testing.AllocsPerRun(100, func() { // all of it before the next decision
		c.s.Step(c.now, Progress{Fetch: f.id, Range: byterange.Range{Start: f.pos, End: f.pos + 100}})
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
