package recheck

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/internal/small"
	"braid/source"
)

// Unit is the unit of comparison: if a byte differs, its whole unit is treated as different.
const Unit = 64 << 10

// A task is a range that is being fetched for comparison.
type task struct {
	r       byterange.Range
	limit   atomic.Int64  // current end of the range
	at      atomic.Int64  // offset up to which bytes were compared
	writing sync.Mutex    // held while limit is read and the bytes up to limit are compared
	differs byterange.Set // in units of Unit
	oldIs   bool          // in a duel: the third source has the bytes of the part file
	otherIs bool          // in a duel: the third source has the bytes of the other party
}

func newChunk(of, by *party, r byterange.Range, d *pair) *chunk {
	c := &chunk{of: of, by: by, duel: d, begun: time.Now()}
	c.r = r
	c.at.Store(r.Start)
	c.limit.Store(r.End)
	return c
}

// speed returns the speed of a chunk in bytes a second, or the speed of its source while the chunk is too young.
func (c *chunk) speed(now time.Time) float64 {
	took, got := now.Sub(c.begun).Seconds(), c.at.Load()-c.r.Start
	if took < 0.2 {
		return max(c.by.rate, 1)
	}
	return max(float64(got)/took, 1)
}

// left returns the estimated time until the chunk is complete.
func (c *chunk) left(now time.Time) time.Duration {
	n := float64(c.limit.Load() - c.at.Load())
	return time.Duration(min(n/c.speed(now), 3600) * float64(time.Second))
}

// quiet is how long a source may be silent if another source can replace it.
const quiet = 3 * time.Second

// fetch fetches a chunk and compares it.
func (b *board) fetch(ctx context.Context, c *chunk) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b.mu.Lock()
	c.stop = func() { cancel(nil) }
	most := b.silence
	if b.others(c.by) {
		most = min(quiet, most)
	}
	b.mu.Unlock()
	silent := &source.Error{URL: c.by.from.Masked, Host: c.by.host, Fault: source.FaultNetwork, Retry: true, Err: small.ErrSilent}
	k := &comparison{b: b, c: c, ctx: ctx, most: most, timer: time.AfterFunc(most, func() { cancel(silent) })}
	defer k.timer.Stop()
	err := c.by.from.Source.Fetch(ctx, c.r, k)
	if cause := context.Cause(ctx); cause == silent {
		return silent
	}
	return err
}

// landed applies the result of a chunk. The caller holds mu.
func (b *board) landed(ctx context.Context, c *chunk, err error) {
	b.running = slices.DeleteFunc(b.running, func(o *chunk) bool { return o == c })
	came := byterange.Range{Start: c.r.Start, End: min(c.at.Load(), c.limit.Load())}
	b.compared += came.Len()
	if _, held := heldBack(err); held { // no request was sent; another source may be asked
		if c.duel == nil {
			c.of.todo.Add(byterange.Range{Start: c.r.Start, End: c.limit.Load()})
		}
		return
	}
	if took := time.Since(c.begun); came.Len() >= leastPortion {
		c.by.rate = float64(came.Len()) / took.Seconds()
	}
	b.judge(ctx, c, came, err)
	switch {
	case c.duel != nil:
		b.decide(c, came.End == c.r.End)
	default:
		c.of.todo.Add(byterange.Range{Start: came.End, End: c.limit.Load()})
		b.note(c, came)
	}
	if b.rest != nil && b.rest.todo.Count() == 0 && len(b.running) == 0 {
		c.by.asked = true
	}
}

// judge counts failures of sources. A local error or a changed file ends the round.
func (b *board) judge(ctx context.Context, c *chunk, came byterange.Range, err error) {
	var e *source.Error
	switch {
	case ends(err): // a target's error may wrap context.Canceled
		b.stop(err)
	case errors.Is(err, context.Canceled) && c.taken && came.Empty(): // the source sent nothing
		c.by.fails++
		c.by.out = c.by.out || c.by.fails > mostFails
	case err == nil, errors.Is(err, context.Canceled):
		if !came.Empty() {
			c.by.fails = 0
		}
	default:
		if over := c.by.from.Failed(err); ends(over) {
			b.stop(over)
			return
		}
		if !came.Empty() {
			c.by.fails = 0
		}
		c.by.fails++
		c.by.err = err
		c.by.out = c.by.fails > mostFails || !errors.As(err, &e) || !e.Retry
	}
}

// ends reports whether an error ends the search.
func ends(err error) bool {
	_, end := errors.AsType[*EndError](err)
	_, disk := errors.AsType[*DiskError](err)
	return end || disk
}

// stop ends the round with err. If err is an EndError, it ends the round with the error in it.
func (b *board) stop(err error) {
	if e, ok := errors.AsType[*EndError](err); ok {
		err = e.Err
	}
	b.err = err
	b.end()
}

// mostFails limits the consecutive failures, without any data, that a source may have.
const mostFails = 3

// note records that the range came was compared: the bytes of c.by equal those of the part file, except in c.differs.
func (b *board) note(c *chunk, came byterange.Range) {
	same := byterange.NewSet(came)
	for r := range c.differs.Clone().All() {
		same.Remove(r)
		for _, p := range b.parties {
			p.differs.Remove(r)
		}
		c.by.differs.Add(r)
	}
	for r := range same.All() {
		c.by.agrees.Add(r)
	}
	if b.rest != nil || c.differs.Count() == 0 {
		return
	}
	i := slices.IndexFunc(b.pairs, func(d *pair) bool { return d.old == c.of && d.other == c.by })
	if i < 0 {
		b.pairs = append(b.pairs, &pair{old: c.of, other: c.by})
		i = len(b.pairs) - 1
	}
	d := b.pairs[i]
	for r := range c.differs.All() {
		d.open.Add(r)
	}
	b.settle(d)
}

// decide records the verdict of a third source.
func (b *board) decide(c *chunk, whole bool) {
	d := c.duel
	d.asked = append(d.asked, c.by)
	switch {
	case !whole: // the third source failed
	case c.oldIs:
		d.verdict = oldRight
	case c.otherIs:
		d.verdict = otherRight
	}
	b.settle(d)
}

// settle applies the verdict about a pair. If no third source is left, the pair is undecidable.
func (b *board) settle(d *pair) {
	if d.verdict == pending && !slices.ContainsFunc(b.workers, func(p *party) bool { return !p.out && b.third(d, p) }) {
		d.verdict = undecidable
	}
	switch d.verdict {
	case pending:
		return
	case otherRight:
		d.old.accused, d.old.out = true, true
		for r := range d.open.All() {
			b.good.Add(r)
		}
	case oldRight:
		d.other.accused, d.other.out = true, true
		for r := range d.open.All() {
			d.old.todo.Add(r) // for other sources to compare
		}
	}
	d.open = byterange.Set{}
	for _, c := range b.running {
		if c.duel == d && c.stop != nil {
			c.stop()
		}
	}
}

// A comparison is a sink that compares the bytes of a source with the part file.
type comparison struct {
	b     *board
	c     *chunk
	ctx   context.Context
	most  time.Duration
	timer *time.Timer
	buf   []byte
	over  []byte
}

// Answer refuses an answer that is about another file, does not have the range, or comes from a host that another
// source uses.
func (k *comparison) Answer(a source.Answer) error {
	o := k.c.by.from
	if err := o.Check(a); err != nil {
		return err
	}
	if !a.Ranged && k.c.r.Start > 0 {
		return &source.Error{URL: o.Masked, Host: o.Host, Fault: source.FaultProtocol, Err: errors.New("it ignores ranges")}
	}
	if host := a.Host; host != "" && host != k.c.by.host && k.b.taken(k.c.by, host) { // RFC 6249, section 7
		return &source.Error{URL: o.Masked, Host: host, Fault: source.FaultRefused,
			Err: errors.New("it leads to a server that was already asked")}
	}
	k.timer.Reset(k.most)
	return nil
}

// taken records which host answers for p, and reports whether another source is already asked there.
func (b *board) taken(p *party, host string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.ContainsFunc(b.workers, func(o *party) bool { return o != p && o.host == host && !o.out }) {
		return true
	}
	p.host, p.moved = host, p.moved || p.agrees.Count() > 0
	return false
}

// WriteAt implements source.Sink.
func (k *comparison) WriteAt(p []byte, off int64) (int, error) {
	k.timer.Reset(k.most)
	if k.b.limit != nil {
		if err := k.b.limit.Pay(k.ctx, len(p)); err != nil {
			return 0, err
		}
	}
	k.c.writing.Lock()
	defer k.c.writing.Unlock()
	n := min(int64(len(p)), k.c.limit.Load()-off)
	if n <= 0 {
		return 0, source.ErrEnough
	}
	k.buf = slices.Grow(k.buf[:0], int(n))[:n]
	if m, err := k.b.part.ReadAt(k.buf, off); int64(m) < n {
		return 0, local(err)
	}
	var err error
	if k.c.duel != nil {
		err = k.compareThird(p[:n], off)
	} else {
		err = k.store(p[:n], off)
	}
	if err != nil {
		return 0, local(err)
	}
	if k.c.at.Store(off + n); n < int64(len(p)) || off+n >= k.c.limit.Load() {
		return int(n), source.ErrEnough
	}
	return int(n), nil
}

// store writes each unit that differs from the part file into the overlay.
func (k *comparison) store(p []byte, off int64) error {
	if bytes.Equal(p, k.buf) {
		return nil
	}
	for i := 0; i < len(p); {
		end := min(len(p), i+int(Unit-(off+int64(i))%Unit))
		if !bytes.Equal(p[i:end], k.buf[i:end]) {
			if _, err := k.b.other.file.WriteAt(p[i:end], off+int64(i)); err != nil {
				return err
			}
			k.c.differs.Add(byterange.Range{Start: off + int64(i), End: off + int64(end)})
		}
		i = end
	}
	return nil
}

// compareThird finds out which of two parties has the bytes of a third source.
func (k *comparison) compareThird(p []byte, off int64) error {
	k.over = slices.Grow(k.over[:0], len(p))[:len(p)]
	if _, err := k.b.other.file.ReadAt(k.over, off); err != nil {
		return err
	}
	first := off == k.c.r.Start
	k.c.oldIs = (first || k.c.oldIs) && bytes.Equal(p, k.buf)
	k.c.otherIs = (first || k.c.otherIs) && bytes.Equal(p, k.over)
	return nil
}
