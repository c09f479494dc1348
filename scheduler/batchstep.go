package scheduler

import "time"

// A batchStep is a change of the number of places that is being measured.
type batchStep struct {
	from       int // places before; 0 if none is being measured
	newcomers  int // the first downloads in the new places
	fresh      int // downloads on new connections
	unanswered int // those of them that have not been answered

	// worth is what a place was worth before, by downloads that ended. done is the work until the step began, firsts
	// the newcomers that ended since. If doubt, the step did not seem to pay and is judged once more.
	worth  float64
	done   int64
	firsts tally
	doubt  bool

	// A step for long downloads is judged by bytes over time. That was the aggregate before.
	long   bool
	before float64
}

const (
	// sampleSize is how many downloads a verdict on short ones needs: one for each place, or so many.
	sampleSize = 16

	// A step for long downloads is judged after slow start, over longLook.
	longLook = time.Second
	// longestWait is how long newcomers may take before a step is given up.
	longestWait = 3 * time.Second

	// After a step that did not pay there is a pause, twice as long each time.
	holdShort = 250 * time.Millisecond // or what four downloads take
	holdLong  = 4 * time.Second
	holdMost  = time.Minute
)

// decide is the one place where the number of places changes.
func (b *Batch) decide(now time.Time) {
	if b.ready.IsZero() && len(b.running) <= b.allowed && 2*b.step.unanswered <= b.step.fresh {
		b.ready = now
	}
	switch {
	case b.step.from == 0:
		b.settled(now)
	case b.step.long:
		b.judgeLong(now)
	default:
		b.judgeShort(now)
	}
}

// slowStart is how long connections grow.
func (b *Batch) slowStart() time.Duration { return max(10*b.rtt, 300*time.Millisecond) }

// judgeShort judges a step by the downloads that began when its places were at work. It pays already if most of what
// its newcomers brought came on top of what the others brought before.
func (b *Batch) judgeShort(now time.Time) {
	switch share := b.share(b.worth(now), b.step.worth); {
	case b.onTop(now):
		b.pays(now)
	case !b.sampled():
		if now.Sub(b.since) > max(longest, b.slowStart())+longLook { // what began is long: this step proves nothing
			b.moot(now)
		}
	case share >= gainShare:
		b.pays(now)
	case !b.step.doubt: // newcomers that come all at once stand in each other's way at first
		b.step.doubt, b.ready, b.short = true, now, tally{}
	default:
		b.fails(now, share)
	}
}

// judgeLong judges a step by bytes over time, once its newcomers are past slow start. A step down is judged when
// the places are given up.
func (b *Batch) judgeLong(now time.Time) {
	down := b.allowed < b.step.from
	r := b.flow.over(now, longLook)
	if b.ready.IsZero() {
		if down {
			b.step.before = r
		} else if now.Sub(b.since) > longestWait {
			b.moot(now)
		}
		return
	}
	switch {
	case now.Sub(b.ready) < b.slowStart()+longLook:
	case down && r >= spared*b.step.before:
		b.settle(now, holdLong)
	case !down && b.gain(r) >= gainShare:
		b.stride = min(2*b.stride, 4)
		b.failures = 0
		b.settle(now, 0)
	default:
		b.fails(now, b.gain(r))
	}
}

// spared is the share of the aggregate that must be left without the places that are given up.
const spared = 0.95

// share is what a step for short downloads added, as a share of what its places would add if each were worth what
// a place was worth before.
func (b *Batch) share(worth, before float64) float64 {
	if before <= 0 {
		return 0
	}
	n, from := float64(b.allowed), float64(b.step.from)
	return (n*worth/before - from) / (n - from)
}

// gain is the same of a step for long ones, from the aggregate r.
func (b *Batch) gain(r float64) float64 {
	return b.share(r/float64(b.allowed), b.step.before/float64(b.step.from))
}

// pays keeps the places of a step for short downloads and begins the next one.
func (b *Batch) pays(now time.Time) {
	b.failures = 0
	worth := b.worth(now)
	b.settle(now, 0)
	b.raise(now, batchStep{worth: worth}, b.next())
}

// onTop reports whether most of what newcomers brought in a few round trips came on top of what the others bring anyway.
func (b *Batch) onTop(now time.Time) bool {
	s := b.step
	before := s.worth * float64(s.from) * now.Sub(b.since).Seconds()
	gain := float64(b.flow.total-s.done) - before
	return s.firsts.n > 0 && 2*s.firsts.n >= s.newcomers && b.quick(s.firsts.mean()) && gain >= float64(s.firsts.work)/2
}

// quick reports whether a download took so few round trips that it can hardly have been the link that held it up.
func (b *Batch) quick(held time.Duration) bool { return held < 6*b.rtt }

// worth is what a place brings that a short download holds, in work a second; 0 if none has ended. Those that take
// longer than most and have not ended yet count too: those that end first are not like the others.
func (b *Batch) worth(now time.Time) float64 {
	all, mean := b.short, b.short.mean()
	if all.n == 0 {
		all = b.early
	}
	if all.n == 0 {
		return b.step.worth
	}
	for _, j := range b.running {
		if held := now.Sub(j.began); b.short.n > 0 && held > mean && !j.began.Before(b.ready) {
			all.add(j.bytes, held)
		}
	}
	return float64(all.work) / all.held.Seconds()
}

// next is how many places for short downloads the next step adds.
func (b *Batch) next() int {
	if b.cautious {
		return max(1, b.allowed/4)
	}
	return min(3*b.allowed, 2*b.ended)
}

// sampled reports whether enough short downloads have ended for a verdict.
func (b *Batch) sampled() bool {
	need := b.allowed
	if b.quick(b.short.mean()) {
		need = (need + 1) / 2
	}
	return b.short.n >= min(need, sampleSize)
}

// fails gives up the places of a step, but for the share that was worth something; of a step down it takes all
// places back.
func (b *Batch) fails(now time.Time, share float64) {
	if b.allowed > b.step.from {
		b.allowed = b.step.from + int(min(max(0, share), 1)*float64(b.allowed-b.step.from))
		b.stride = 1
	} else {
		b.allowed = b.step.from
	}
	b.failures++
	b.cautious = true
	pause := max(holdShort, 4*b.short.mean())
	if b.step.long {
		pause = holdLong
	}
	b.settle(now, min(pause<<min(b.failures-1, 8), holdMost))
}

// moot ends a step that cannot be judged.
func (b *Batch) moot(now time.Time) {
	b.allowed, b.stride = b.step.from, 1
	b.settle(now, b.slowStart())
}

// settle ends a step.
func (b *Batch) settle(now time.Time, pause time.Duration) {
	b.step, b.usual, b.hold = batchStep{}, 0, now.Add(pause)
	b.restart(now)
}

// settled waits for the next step.
func (b *Batch) settled(now time.Time) {
	b.drift(now)
	if len(b.running) > b.allowed || now.Before(b.hold) {
		return
	}
	quiet := now.Sub(b.since)
	if b.last.After(b.since) {
		quiet = now.Sub(b.last)
	}
	switch {
	case b.sampled() && b.short.mean() < longest:
		b.raise(now, batchStep{worth: b.worth(now)}, b.next())
	case b.short.n == 0 && quiet < longest, b.growing(now):
	case b.failures%2 == 1 && b.allowed > b.least:
		b.lower(now)
	default:
		b.raise(now, batchStep{long: true, before: b.flow.over(now, longLook)}, b.stride)
	}
}

// growing reports whether the aggregate rises by itself.
func (b *Batch) growing(now time.Time) bool {
	age := now.Sub(b.since)
	younger := float64(b.flow.bytes(now, longLook))
	older := float64(b.flow.bytes(now, 2*longLook)) - younger
	return age < b.slowStart()+longLook || age < 5*time.Second && younger > 1.2*older
}

// drift detects that files or servers are others than when the last step was judged.
func (b *Batch) drift(now time.Time) {
	if now.Sub(b.since) < longLook+b.slowStart() {
		return
	}
	r := b.flow.over(now, longLook)
	switch {
	case b.usual == 0:
		b.usual = r
	case r < 0.7*b.usual, r > b.usual/0.7:
		b.usual, b.failures, b.stride, b.cautious = r, 0, 1, false
		if b.hold.After(now) {
			b.hold, b.short = now, tally{}
		}
	}
}

// raise begins a step with k more places.
func (b *Batch) raise(now time.Time, s batchStep, k int) {
	if k = min(k, b.most-b.allowed); k <= 0 || s.worth+s.before <= 0 {
		return
	}
	s.from, s.done = b.allowed, b.flow.total
	b.step = s
	b.allowed += k
	b.restart(now)
}

// lower begins a step with fewer places. It waits for downloads to end.
func (b *Batch) lower(now time.Time) {
	b.step = batchStep{from: b.allowed, long: true, before: b.flow.over(now, longLook)}
	b.allowed = max(b.least, b.allowed-max(1, b.allowed/4))
	b.restart(now)
}

// restart begins to measure the present number of places.
func (b *Batch) restart(now time.Time) {
	b.watch = watch{since: now}
}
