package scheduler

import "time"

// batchStep is a change of the number of slots that is being measured.
type batchStep struct {
	from       int // slots before the step; 0 if no step is being measured
	newcomers  int // number of first downloads in the new slots
	fresh      int // downloads on new connections
	unanswered int // fresh downloads without an answer yet

	// For short downloads, worth is the work of a slot in a second before the step. done is the total work until then.
	// firsts are the newcomers that have ended. doubt is set if the step did not seem to pay and is judged once more.
	worth  float64
	done   int64
	firsts tally
	doubt  bool

	// long is set for a step that is judged by bytes over time. before is the throughput before the step.
	long   bool
	before float64
}

const (
	// sampleSize is the maximum number of short downloads that a verdict needs; see sampled.
	sampleSize = 16

	// longLook is the period, after slow start, over which a step for long downloads is judged.
	longLook = time.Second
	// longestWait limits how long a step waits for newcomers before it is given up.
	longestWait = 3 * time.Second

	// The pause after a step that did not pay. It doubles each time.
	holdShort = 250 * time.Millisecond // or the mean time of four downloads, if that is longer
	holdLong  = 4 * time.Second
	holdMost  = time.Minute
)

// decide begins, judges and ends steps. Only Resize and AtLeast also change the number of slots.
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

// slowStart returns how long the speed of new connections grows.
func (b *Batch) slowStart() time.Duration { return max(10*b.rtt, 300*time.Millisecond) }

// judgeShort judges a step by the downloads that began after all slots of the step were in use. The step pays early if
// most of the newcomers' work is additional to that of the other downloads.
func (b *Batch) judgeShort(now time.Time) {
	switch share := b.share(b.worth(now), b.step.worth); {
	case b.onTop(now):
		b.pays(now)
	case !b.sampled():
		if now.Sub(b.since) > max(longest, b.slowStart())+longLook { // long downloads: no verdict is possible
			b.moot(now)
		}
	case share >= gainShare:
		b.pays(now)
	case !b.step.doubt: // newcomers that begin at the same time slow each other down at first
		b.step.doubt, b.ready, b.short = true, now, tally{}
	default:
		b.fails(now, share)
	}
}

// judgeLong judges a step by bytes over time, after the slow start of its newcomers. A step down is judged after the
// slots were given up.
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

// spared is the share of the throughput that must remain after a step down.
const spared = 0.95

// share returns the throughput that each slot of a step added, as a fraction of the throughput of a slot before the
// step. worth and before are the throughput of a slot after and before the step.
func (b *Batch) share(worth, before float64) float64 {
	if before <= 0 {
		return 0
	}
	n, from := float64(b.allowed), float64(b.step.from)
	return (n*worth/before - from) / (n - from)
}

// gain is like share, but for long downloads. r is the throughput after the step.
func (b *Batch) gain(r float64) float64 {
	return b.share(r/float64(b.allowed), b.step.before/float64(b.step.from))
}

// pays keeps the slots of a step for short downloads and begins the next step.
func (b *Batch) pays(now time.Time) {
	b.failures = 0
	worth := b.worth(now)
	b.settle(now, 0)
	b.raise(now, batchStep{worth: worth}, b.next())
}

// onTop reports whether the newcomers needed only a few round trips and most of their work is additional.
func (b *Batch) onTop(now time.Time) bool {
	s := b.step
	before := s.worth * float64(s.from) * now.Sub(b.since).Seconds()
	gain := float64(b.flow.total-s.done) - before
	return s.firsts.n > 0 && 2*s.firsts.n >= s.newcomers && b.quick(s.firsts.mean()) && gain >= float64(s.firsts.work)/2
}

// quick reports whether a download that took held needed so few round trips that the link was probably not the limit.
func (b *Batch) quick(held time.Duration) bool { return held < 6*b.rtt }

// worth returns the work of a slot in a second, for short downloads. It includes running downloads that take longer
// than the mean, because downloads that end first are not representative. If no download has ended, it returns the
// worth before the step.
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

// next returns how many slots the next step adds for short downloads.
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

// fails gives up the slots of the step, except for the fraction share. After a step down, it restores all slots.
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

// settle ends a step and sets the pause before the next step.
func (b *Batch) settle(now time.Time, pause time.Duration) {
	b.step, b.usual, b.hold = batchStep{}, 0, now.Add(pause)
	b.restart(now)
}

// settled begins the next step when its conditions are met.
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

// growing reports whether the throughput is rising by itself.
func (b *Batch) growing(now time.Time) bool {
	age := now.Sub(b.since)
	younger := float64(b.flow.bytes(now, longLook))
	older := float64(b.flow.bytes(now, 2*longLook)) - younger
	return age < b.slowStart()+longLook || age < 5*time.Second && younger > 1.2*older
}

// drift detects that the files or servers differ from those of the last step. It then resets the caution.
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

// raise begins a step with k more slots.
func (b *Batch) raise(now time.Time, s batchStep, k int) {
	if k = min(k, b.most-b.allowed); k <= 0 || s.worth+s.before <= 0 {
		return
	}
	s.from, s.done = b.allowed, b.flow.total
	b.step = s
	b.allowed += k
	b.restart(now)
}

// lower begins a step with fewer slots. It takes effect as downloads end.
func (b *Batch) lower(now time.Time) {
	b.step = batchStep{from: b.allowed, long: true, before: b.flow.over(now, longLook)}
	b.allowed = max(b.least, b.allowed-max(1, b.allowed/4))
	b.restart(now)
}

// restart begins new observations for the present number of slots.
func (b *Batch) restart(now time.Time) {
	b.watch = watch{since: now}
}
