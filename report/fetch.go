package report

import (
	"cmp"
	"slices"
	"time"

	"braid/scheduler"
)

// A fetch is a request for a range, or several of one source that were merged into one.
type fetch struct {
	who      *mirror
	number   int
	merged   int           // how many it stands for beside itself
	asked    time.Duration // the times
	answered time.Duration // never is before it was asked
	heard    time.Duration // when something last came, or it was asked
	ended    time.Duration
	from, to int64 // the range; what was cut off is not in it
	at       int64 // how far it came
	bytes    int64
	why      scheduler.Reason // it was asked for
	cut      scheduler.Reason // it gave something away, or had to end; 0 if not
	failure  string
}

const never = -1

// quietAfter is how long nothing comes from a source before that is worth showing.
const quietAfter = time.Second

// dull says that nothing can be seen of a fetch that a longer one would not show.
func (f *fetch) dull() bool {
	switch f.cut {
	case 0, scheduler.ReasonDone, scheduler.ReasonMet, scheduler.ReasonSplit:
		return f.failure == "" && (f.why == scheduler.ReasonNext || f.why == scheduler.ReasonSplit)
	}
	return false
}

// absorb makes one fetch of f and the next one of the same source.
func (f *fetch) absorb(next fetch) {
	f.merged += next.merged + 1
	f.heard, f.ended, f.at = max(f.heard, next.heard), max(f.ended, next.ended), next.at
	f.from, f.to = min(f.from, next.from), max(f.to, next.to)
	f.bytes += next.bytes
	if next.cut != 0 {
		f.cut = next.cut
	}
	if next.failure != "" {
		f.failure = next.failure
	}
}

// fetches are those that ended. When they get too many, neighbours are merged: first those of which nothing can be
// seen, then all whose pause is too short to be seen, then those with longer pauses.
type fetches struct{ list []fetch }

const maxFetches = 800

func (l *fetches) add(f fetch) {
	l.list = append(l.list, f)
	if len(l.list) <= maxFetches {
		return
	}
	slices.SortFunc(l.list, func(a, b fetch) int {
		return cmp.Or(cmp.Compare(a.who.number, b.who.number), cmp.Compare(a.asked, b.asked), cmp.Compare(a.number, b.number))
	})
	near := max(f.ended/maxColumns, time.Millisecond)
	l.merge(func(a, b *fetch) bool { return a.dull() && b.dull() && b.asked-a.ended <= near })
	for len(l.list) > maxFetches*3/4 {
		l.merge(func(a, b *fetch) bool { return b.asked-a.ended <= near })
		if near > f.ended { // each source has one by now
			return
		}
		near *= 2
	}
}

// merge makes one of each two neighbours of one source that may be. They are sorted.
func (l *fetches) merge(may func(a, b *fetch) bool) {
	kept := l.list[:0]
	for _, f := range l.list {
		if n := len(kept); n > 0 && kept[n-1].who == f.who && may(&kept[n-1], &f) {
			kept[n-1].absorb(f)
			continue
		}
		kept = append(kept, f)
	}
	clear(l.list[len(kept):])
	l.list = kept
}

// A loss is a range that a source gave up, for which another has to be found.
type loss struct {
	who      *mirror
	since    time.Duration // nothing came
	at       time.Duration
	from, to int64
	bytes    int64 // that it had brought by then
	why      scheduler.Reason
	taker    *mirror // who was then asked for a part of it
	taken    time.Duration
}

const maxLosses = 100

// lose remembers what f leaves to others from an offset on; no reason is a failure. Of very many losses the first are
// told. A source that was found to be slow may turn out to be silent.
func (r *Recorder) lose(f *fetch, from int64, why scheduler.Reason) {
	if n := len(r.losses); n > 0 && why == scheduler.ReasonSilent {
		if l := r.losses[n-1]; l.who == f.who && l.why == scheduler.ReasonSlow && l.since == f.heard {
			l.why = why
			return
		}
	}
	if from >= f.to || len(r.losses) >= maxLosses {
		return
	}
	to := min(f.to, from+farthest)
	r.losses = append(r.losses, &loss{who: f.who, at: r.now, since: f.heard, from: from, to: to, bytes: f.bytes, why: why})
}

// farthest is how far from where a source stopped the work of another still counts as going on there.
const farthest = 64 << 20

// take notes who is asked for what others gave up.
func (r *Recorder) take(f *fetch) {
	for _, l := range r.losses {
		if l.taker == nil && f.from < l.to && l.from < f.to {
			l.taker, l.taken = f.who, r.now
		}
	}
}

// A theft is how often one source took over a part of what another was asked for.
type theft struct{ taker, victim *mirror }
