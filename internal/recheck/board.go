package recheck

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"braid/byterange"
	"braid/download/limit"
	"braid/internal/partfile"
	"braid/source"
)

// A party is a source of the file or, without a Place, an earlier run that left bytes of unknown sources.
type party struct {
	from    *Place
	host    string
	moved   bool          // host has changed, so agrees may be about an earlier host
	doubt   float64       // higher if more evidence is against the source
	brought byterange.Set // ranges that only this source sent, before the search replaced bytes
	todo    byterange.Set // ranges that this source sent and no other source has compared
	agrees  byterange.Set // where the source is known to have the bytes of the part file
	differs byterange.Set // where the source has other bytes than the part file; the overlay has the source's bytes
	rate    float64       // bytes a second
	fails   int
	tasted  bool  // the source has compared a sample
	accused bool  // two other sources agree on other bytes
	adopted bool  // the source was asked alone
	asked   bool  // the source, asked alone, has sent everything requested
	out     bool  // the source is not asked any more
	err     error // last error of the source
}

// A pair is two parties with different bytes. The part file has the bytes of old.
type pair struct {
	old, other *party
	open       byterange.Set // where the two differ, until a third source decides
	asked      []*party      // third sources that were asked
	verdict    verdict
}

// A verdict is the decision about a pair.
type verdict uint8

const (
	pending     verdict = iota
	undecidable         // no third source can decide
	oldRight
	otherRight
)

// A chunk is a range of one party's bytes that another source compares.
type chunk struct {
	of, by *party
	duel   *pair // if set, the source by decides the pair: its bytes are compared with those of both parties
	task
	begun time.Time
	stop  context.CancelFunc // set once the chunk is being fetched
	taken bool               // another source took over the rest of the chunk
}

// A board is the state that comparing sources share: what to compare, which source compares it, and the results.
type board struct {
	part    *partfile.File
	other   *overlay
	size    int64
	limit   *limit.Limiter
	silence time.Duration // how long a source may be silent if no other source can replace it
	pause   time.Duration // after a failure

	mu       sync.Mutex
	changed  sync.Cond
	parties  []*party
	rest     *party // if set, only the ranges in its todo are compared, by one source alone
	workers  []*party
	running  []*chunk
	pairs    []*pair
	good     byterange.Set // where the overlay has bytes that may repair the file
	compared int64         // bytes
	ended    bool
	timer    *time.Timer
	err      error // the reason why the round ended early
	cancel   context.CancelFunc
}

// run makes the workers compare until nothing is left to compare or wrong bytes were found.
func (b *board) run(ctx context.Context, workers []*party, tell func()) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	b.workers, b.ended, b.err, b.cancel = workers, false, nil, cancel
	stop := context.AfterFunc(within, func() { b.mu.Lock(); b.ended = true; b.changed.Broadcast(); b.mu.Unlock() })
	defer stop()
	var all sync.WaitGroup
	done := make(chan struct{})
	for _, p := range workers {
		all.Go(func() { b.work(within, p) })
	}
	go func() { all.Wait(); close(done) }()
	ticker := time.NewTicker(telling)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			tell()
			continue
		case <-done:
		}
		break
	}
	if b.err != nil {
		return b.err
	}
	return context.Cause(ctx)
}

// work fetches and compares chunks for p until no chunk is left for p.
func (b *board) work(ctx context.Context, p *party) {
	for c := b.next(p); c != nil; c = b.next(p) {
		err := b.fetch(ctx, c)
		b.mu.Lock()
		b.landed(ctx, c, err)
		b.changed.Broadcast()
		tired := p.fails > 0 && !p.out && !b.ended
		b.mu.Unlock()
		switch turn, held := heldBack(err); {
		case held:
			sleep(ctx, turn)
		case tired:
			sleep(ctx, b.pause)
		}
	}
}

// telling is the interval between reports of progress.
const telling = 100 * time.Millisecond

// heldBack reports whether err means that no request was sent because the rate of requests to the server is limited.
// turn is the time until the request may be sent.
func heldBack(err error) (turn time.Duration, held bool) {
	e, ok := errors.AsType[*source.Error](err)
	if !ok || !e.Held || e.Fault == source.FaultMismatch {
		return 0, false
	}
	return e.After, true
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// next returns the next chunk for p to compare, or nil. It blocks while other sources compare, because p may have to
// take over their chunks.
func (b *board) next(p *party) *chunk {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && !p.out {
		if b.found() {
			b.end()
			break
		}
		if c := b.choose(p); c != nil {
			b.running = append(b.running, c)
			b.wakeWhenLate()
			return c
		}
		if len(b.running) == 0 {
			break
		}
		b.wakeWhenLate()
		b.changed.Wait()
	}
	return nil
}

// wakeWhenLate wakes the waiting sources when a running chunk may be late.
func (b *board) wakeWhenLate() {
	if b.timer == nil {
		b.timer = time.AfterFunc(lateAfter/2, b.changed.Broadcast)
		return
	}
	b.timer.Reset(lateAfter / 2)
}

// end ends the round. The caller holds mu.
func (b *board) end() {
	b.ended = true
	b.cancel()
	b.changed.Broadcast()
}

func (b *board) done() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.compared
}

// found reports whether a source sent wrong bytes, all of its bytes were compared, and no pair is undecided.
func (b *board) found() bool {
	if b.good.Count() == 0 || b.rest != nil {
		return false
	}
	for _, c := range b.running {
		if c.duel == nil && c.of.accused {
			return false
		}
	}
	return !slices.ContainsFunc(b.parties, func(p *party) bool { return p.accused && p.todo.Count() > 0 && b.others(p) }) &&
		!slices.ContainsFunc(b.pairs, func(d *pair) bool { return d.verdict == pending })
}

// others reports whether a source other than p can be asked.
func (b *board) others(p *party) bool {
	return slices.ContainsFunc(b.workers, func(w *party) bool { return w != p && !w.out })
}

// choose returns a chunk for p, in this order: bytes that decide a pair; a sample of another source's bytes; bytes of
// the most accused or doubtful source; the end of a chunk that another source compares slowly. The caller holds mu.
func (b *board) choose(p *party) *chunk {
	for _, d := range b.pairs {
		if d.verdict == pending && b.third(d, p) && !b.duelling(d) {
			for r := range d.open.All() {
				end := min(r.End, r.Start-r.Start%Unit+Unit)
				return newChunk(d.old, p, byterange.Range{Start: r.Start, End: end}, d)
			}
		}
	}
	of := b.subject(p)
	switch {
	case of == nil:
		return b.steal(p)
	case b.rest == nil && !p.tasted && !of.accused:
		p.tasted = true
		if c := b.sample(p); c != nil {
			return c
		}
	}
	for r := range of.todo.All() {
		r.End = min(r.End, r.Start+b.portion(p))
		of.todo.Remove(r)
		return newChunk(of, p, r, nil)
	}
	return nil
}

// third reports whether p can decide a pair.
func (b *board) third(d *pair, p *party) bool {
	return p != d.old && p != d.other && !p.accused && !slices.Contains(d.asked, p)
}

// duelling reports whether a third source is comparing a pair and is not late.
func (b *board) duelling(d *pair) bool {
	return slices.ContainsFunc(b.running, func(c *chunk) bool { return c.duel == d && time.Since(c.begun) < lateAfter })
}

// lateAfter is how long a source may compare a chunk before other sources take over the chunk.
const lateAfter = time.Second

// subject returns the party that p compares next, or nil.
func (b *board) subject(p *party) (best *party) {
	if b.rest != nil {
		if b.rest.todo.Count() > 0 {
			best = b.rest
		}
		return best
	}
	accused := slices.ContainsFunc(b.parties, func(o *party) bool { return o.accused && b.unfinished(o) && b.others(o) })
	for _, o := range b.parties {
		if o == p || o.todo.Count() == 0 || accused && !o.accused {
			continue
		}
		if best == nil || o.doubt > best.doubt {
			best = o
		}
	}
	return best
}

// unfinished reports whether bytes of a party are still to be compared.
func (b *board) unfinished(p *party) bool {
	return p.todo.Count() > 0 || slices.ContainsFunc(b.running, func(c *chunk) bool { return c.of == p })
}

// sample returns a small range from the middle of the bytes of another source. The search for that source begins after
// p, so that the sources compare samples of different sources.
func (b *board) sample(p *party) *chunk {
	at := slices.Index(b.parties, p)
	for i := range b.parties {
		o := b.parties[(at+1+i)%len(b.parties)]
		if o == p || o.todo.Count() == 0 {
			continue
		}
		var largest byterange.Range
		for r := range o.todo.All() {
			if r.Len() > largest.Len() {
				largest = r
			}
		}
		mid := largest.Start + largest.Len()/2
		r := byterange.Range{Start: mid, End: min(mid+Unit, largest.End)}
		o.todo.Remove(r)
		return newChunk(o, p, r, nil)
	}
	return nil
}

// tooYoung is the age below which the speed of a chunk is not known. Otherwise two sources would take a range
// from each other before either has answered.
const tooYoung = 200 * time.Millisecond

const (
	portionTime  = 500 * time.Millisecond
	leastPortion = 256 << 10
	mostPortion  = 16 << 20
)

// portion returns how much p compares with one request. The portion decreases towards the end, so that all sources
// finish at the same time.
func (b *board) portion(p *party) int64 {
	live, left := 0, int64(0)
	for _, w := range b.workers {
		if !w.out {
			live++
		}
	}
	if live < 2 {
		return byterange.Unbounded / 2
	}
	for _, o := range b.parties {
		left += o.todo.Len()
	}
	n := int64(p.rate * portionTime.Seconds())
	return max(leastPortion, min(n, left/int64(2*live), mostPortion))
}

// steal takes the end of a chunk from a slower source, if p would finish that end sooner.
func (b *board) steal(p *party) *chunk {
	var slow *chunk
	var late time.Duration
	for _, c := range b.running {
		if c.by == p || c.of == p || c.duel != nil || time.Since(c.begun) < tooYoung {
			continue
		}
		if left := c.left(time.Now()); left > late {
			slow, late = c, left
		}
	}
	if slow == nil || late < tooYoung || slow.stop == nil {
		return nil
	}
	slow.writing.Lock()
	defer slow.writing.Unlock()
	at, end := slow.at.Load(), slow.limit.Load()
	ours := int64(float64(end-at) * p.rate / (p.rate + slow.speed(time.Now()) + 1))
	cut := end - ours
	switch {
	case late > lateAfter && (ours < Unit || cut-at < Unit): // the other source is very slow
		cut, slow.taken = at, true
		slow.stop()
	case ours < Unit:
		return nil
	}
	slow.limit.Store(cut)
	return newChunk(slow.of, p, byterange.Range{Start: cut, End: end}, nil)
}
