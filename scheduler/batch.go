package scheduler

import "time"

// A Batch decides how many downloads run at once when there are many. Places for further downloads are added in
// steps, one step at a time, as long as the aggregate grows by them, as connections are for one file (RFC 6249,
// section 7). No download is ever stopped: a place that did not pay is given up when one ends. Like a [Scheduler], it has
// no clock, and it is not safe for concurrent use.
//
// Where downloads are short, each that ends shows how long it held its place and how much work it was. With n
// places, n times the one over the other is the aggregate, whatever the phase of each place. So a step is known to
// pay when its newcomers have ended once, and known not to pay two round trips later. For each download that has
// ended a step adds no more than two places: a list that begins with small files may go on with large ones.
//
// Where they are long, bytes over time are the measure. It must not grow by itself before a place is added,
// as it does while connections are young and mirrors are being tried.
type Batch struct {
	most    int
	fixed   bool
	allowed int // places
	least   int // of them where their number is measured
	running map[JobID]*job
	lastID  JobID
	warm    int           // the most that ran at once: that many connections are open
	ended   int           // downloads that ended well
	last    time.Time     // when one last ended
	rtt     time.Duration // of the last first answer
	flow    meter         // the work of all
	usual   float64       // aggregate since the last step, 0 until it was measured
	step    batchStep
	watch
	caution
}

// A watch is what was seen of the present number of places.
type watch struct {
	since time.Time // when the number changed
	ready time.Time // when all places were at work; zero: not yet
	short tally     // downloads that began then or later and ended
	early tally     // others that began since, without the newcomers
}

// A caution is what steps that did not pay leave behind.
type caution struct {
	hold     time.Time // no step begins before
	failures int       // steps in a row that did not pay
	cautious bool      // the next steps are small
	stride   int       // how many places for long downloads the next step adds
}

// A JobID names a download of a batch.
type JobID int

// A job is a running download.
type job struct {
	began    time.Time
	bytes    int64
	answered bool
	// It is a newcomer if it is the first in a place that is being measured, and fresh if its connection is new.
	newcomer, fresh bool
}

// A tally sums up downloads that ended.
type tally struct {
	n    int
	work int64
	held time.Duration // places
}

func (t *tally) add(work int64, held time.Duration) {
	t.n++
	t.work += work
	t.held += max(held, time.Microsecond)
}

// mean is how long one of them held its place.
func (t *tally) mean() time.Duration { return t.held / time.Duration(max(1, t.n)) }

const (
	// MostAtOnce limits the downloads that run at once where their number is measured.
	MostAtOnce = 64

	perFile = 64 << 10    // the work that a file is beside its bytes: empty ones are not for nothing
	longest = time.Second // how long a download may hold its place and count as short
)

// NewBatch makes a Batch. If fixed is not 0, so many downloads run at once, whatever they bring.
func NewBatch(fixed int) *Batch {
	b := &Batch{most: MostAtOnce, allowed: 1, least: 1, running: map[JobID]*job{}, caution: caution{stride: 1}}
	b.fix(fixed)
	return b
}

// Resize makes another number of places, as NewBatch does. Where there are too many downloads, none begins until enough
// of them have ended.
func (b *Batch) Resize(now time.Time, fixed int) {
	b.most, b.fixed = MostAtOnce, false
	b.allowed = max(b.least, min(b.allowed, MostAtOnce))
	b.fix(fixed)
	if !b.since.IsZero() {
		b.settle(now, 0)
	}
}

// AtLeast has no fewer downloads than n run at once where their number is measured, whatever they bring: one that is
// slow holds up no others then.
func (b *Batch) AtLeast(n int) {
	b.least = min(max(1, n), MostAtOnce)
	if !b.fixed {
		b.allowed = max(b.allowed, b.least)
	}
}

func (b *Batch) fix(places int) {
	if places > 0 {
		b.most, b.allowed, b.fixed = places, places, true
	}
}

// Began notes that a download began.
func (b *Batch) Began(now time.Time) JobID {
	if b.since.IsZero() {
		b.since, b.ready, b.flow.epoch = now, now, now
	}
	b.lastID++
	j := &job{began: now, fresh: len(b.running) >= b.warm}
	b.running[b.lastID] = j
	b.warm = max(b.warm, len(b.running))
	if b.step.newcomers < b.allowed-b.step.from && b.step.from > 0 {
		j.newcomer = true
		b.step.newcomers++
	}
	if j.fresh && b.step.from > 0 {
		b.step.fresh++
		b.step.unanswered++
	}
	return b.lastID
}

// Answered notes the first answer to a download, and the round-trip time to its server.
func (b *Batch) Answered(_ time.Time, id JobID, rtt time.Duration) {
	j := b.running[id]
	if j == nil || j.answered {
		return
	}
	j.answered = true
	if rtt > 0 {
		b.rtt = rtt
	}
	if j.fresh && b.step.unanswered > 0 && !j.began.Before(b.since) {
		b.step.unanswered--
	}
}

// Arrived notes n bytes that a download brought.
func (b *Batch) Arrived(now time.Time, id JobID, n int64) {
	if j := b.running[id]; j != nil && n > 0 {
		j.bytes += n
		b.flow.add(now, n)
	}
}

// Ended notes the end of a download. One that failed was no work but for its bytes: that a server refuses is
// no reason to ask it more often.
func (b *Batch) Ended(now time.Time, id JobID, well bool) {
	j := b.running[id]
	if j == nil {
		return
	}
	delete(b.running, id)
	b.last = now
	work := j.bytes
	if well {
		b.ended++
		work += perFile
		b.flow.add(now, perFile)
	}
	switch held := now.Sub(j.began); {
	case j.began.Before(b.since), id == 1 && !b.quick(held): // it waited for its connection more than others will
	case j.newcomer:
		b.step.firsts.add(work, held)
	case b.ready.IsZero() || j.began.Before(b.ready):
		b.early.add(work, held)
	default:
		b.short.add(work, held)
	}
}

// More is how many downloads may begin now, and when to ask again if nothing happens before; the zero time
// means that there is nothing to wait for.
func (b *Batch) More(now time.Time) (k int, wake time.Time) {
	if !b.fixed && !b.since.IsZero() {
		b.decide(now)
		wake = now.Add(lookSeldom)
	}
	return max(0, b.allowed-len(b.running)), wake
}
