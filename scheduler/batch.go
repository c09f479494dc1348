package scheduler

import "time"

// A Batch decides how many downloads run at once. It has a number of slots, each for one running download. It adds
// slots step by step as long as the total throughput grows, as a Scheduler adds connections for one file (RFC 6249,
// section 7). It never stops a download: a slot that did not add to the throughput is removed when a download ends.
// Like a [Scheduler], a Batch has no clock, and it is not safe for concurrent use.
//
// If downloads are short, a download that has ended shows how long it occupied its slot and how much work it did. The
// ratio of work to time, multiplied by the number of slots, is the throughput, regardless of the phase of each slot. So
// a step is known to pay when the first downloads in the new slots have ended, and known not to pay two round trips
// later. A step adds at most two slots for each download that has ended, because a list that begins with small files
// may continue with large ones.
//
// If downloads are long, throughput is measured as bytes over time. Before a slot is added, throughput must not be
// growing by itself, as it does while connections are young and mirrors are being tried.
type Batch struct {
	most    int
	fixed   bool
	allowed int // number of slots
	least   int // minimum of allowed while it is adapted
	running map[JobID]*job
	lastID  JobID
	warm    int           // maximum of concurrent downloads so far, and so the number of open connections
	ended   int           // number of successful downloads
	last    time.Time     // when a download last ended
	rtt     time.Duration // round-trip time of the last first answer
	flow    meter         // work of all downloads
	usual   float64       // throughput since the last step; 0 until measured
	step    batchStep
	watch
	caution
}

// watch holds the observations with the present number of slots.
type watch struct {
	since time.Time // when the number changed
	ready time.Time // when all slots were in use; zero if not yet
	short tally     // downloads that began at ready or later and have ended
	early tally     // the other downloads that began after since and have ended, except newcomers
}

// caution is the effect of steps that did not pay.
type caution struct {
	hold     time.Time // no step begins before this time
	failures int       // consecutive steps that did not pay
	cautious bool      // the next steps are small
	stride   int       // slots that the next step for long downloads adds
}

// A JobID identifies a download of a batch.
type JobID int

// job is a running download.
type job struct {
	began    time.Time
	bytes    int64
	answered bool
	// newcomer marks the first download in a slot that is being measured. fresh marks a download on a new connection.
	newcomer, fresh bool
}

// tally sums up downloads that have ended.
type tally struct {
	n    int
	work int64
	held time.Duration // total time in their slots
}

func (t *tally) add(work int64, held time.Duration) {
	t.n++
	t.work += work
	t.held += max(held, time.Microsecond)
}

// mean returns the mean time that a download occupied its slot.
func (t *tally) mean() time.Duration { return t.held / time.Duration(max(1, t.n)) }

const (
	// MostAtOnce is the maximum of concurrent downloads while the number is adapted.
	MostAtOnce = 64

	perFile = 64 << 10    // work that a file costs in addition to its bytes: even an empty file costs something
	longest = time.Second // longest time that a short download occupies its slot
)

// NewBatch returns a Batch. If fixed is not 0, that many downloads run at once, regardless of throughput.
func NewBatch(fixed int) *Batch {
	b := &Batch{most: MostAtOnce, allowed: 1, least: 1, running: map[JobID]*job{}, caution: caution{stride: 1}}
	b.fix(fixed)
	return b
}

// Resize changes the number of slots to fixed, as for NewBatch. If more downloads are running than there are slots, no
// download begins until enough have ended.
func (b *Batch) Resize(now time.Time, fixed int) {
	b.most, b.fixed = MostAtOnce, false
	b.allowed = max(b.least, min(b.allowed, MostAtOnce))
	b.fix(fixed)
	if !b.since.IsZero() {
		b.settle(now, 0)
	}
}

// AtLeast sets to n the minimum of concurrent downloads while their number is adapted. With more than one slot, a slow
// download does not delay all others.
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

// Began records that a download began at now.
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

// Answered records the first answer to the download id, and the round-trip time to its server.
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

// Arrived records n received bytes of a download.
func (b *Batch) Arrived(now time.Time, id JobID, n int64) {
	if j := b.running[id]; j != nil && n > 0 {
		j.bytes += n
		b.flow.add(now, n)
	}
}

// Ended records the end of the download id. A failed download counts only its bytes as work, because the refusals of a
// server are no reason to send it more requests.
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
	case j.began.Before(b.since), id == 1 && !b.quick(held): // the first download waits for its connection
	case j.newcomer:
		b.step.firsts.add(work, held)
	case b.ready.IsZero() || j.began.Before(b.ready):
		b.early.add(work, held)
	default:
		b.short.add(work, held)
	}
}

// More returns how many downloads may begin now, and when to call it again if nothing happens before. The zero time
// means that no call is needed.
func (b *Batch) More(now time.Time) (k int, wake time.Time) {
	if !b.fixed && !b.since.IsZero() {
		b.decide(now)
		wake = now.Add(lookSeldom)
	}
	return max(0, b.allowed-len(b.running)), wake
}
