package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/option"
	"braid/scheduler"
	"braid/source"
)

// fetch is a request for a range, or several requests to one source that were merged.
type fetch struct {
	mirror   *Mirror
	number   int
	merged   int           // number of merged requests, without the first
	asked    time.Duration // these are times
	answered time.Duration // never, until the answer arrives
	latest   time.Duration // last byte, answer or request
	ended    time.Duration
	from, to int64 // the range, without parts that were given to others
	at       int64 // offset after the last received byte
	bytes    int64
	why      scheduler.Reason // reason of the request
	cut      scheduler.Reason // reason why the range was shortened or the fetch ended; 0 if neither
	failure  string
}

const never = -1

const (
	// beat is the approximate time between two reports of bytes.
	beat = 100 * time.Millisecond
	// quietAfter is the time without bytes after which a source is shown as silent.
	quietAfter = time.Second
)

// observeFetch records an event about a fetch.
func (r *Recorder) observeFetch(ev download.Event) {
	switch ev := ev.(type) {
	case download.RangeStarted:
		r.start(ev)
	case download.RangeAnswered:
		if f := r.running[ev.Fetch]; f != nil {
			r.answered(f, ev)
		}
	case download.RangeCut:
		if f := r.running[ev.Fetch]; f != nil {
			r.cut(f, ev)
		}
	case download.Brought:
		r.bring(ev)
	case download.RangeEnded:
		if f := r.running[ev.Fetch]; f != nil {
			r.finish(f, ev.Err)
		}
	}
}

// start records that a source is asked for a range.
func (r *Recorder) start(ev download.RangeStarted) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.Speed.Now(r.began.Add(r.now), m.Bytes)
	if m.Asked++; m.Asked == 1 {
		m.first = r.now
	}
	if m.running++; m.running == 1 {
		m.since = r.now
	}
	r.reasons[ev.Why]++
	r.endPause(m)
	f := &fetch{
		mirror: m, number: ev.Fetch, asked: r.now, answered: never, latest: r.now, why: ev.Why,
		from: ev.Range.Start, to: ev.Range.End, at: ev.Range.Start,
	}
	if ev.Why == scheduler.ReasonSplit {
		for _, number := range slices.Sorted(maps.Keys(r.running)) {
			if v := r.running[number]; v.cut == scheduler.ReasonSplit && v.to == f.from {
				r.takeovers[takeover{m, v.mirror}]++
				break
			}
		}
	}
	for _, l := range r.losses {
		if l.taker == nil && f.from < l.to && l.from < f.to {
			l.taker, l.taken = m, r.now
		}
	}
	r.running[ev.Fetch] = f
	r.most = max(r.most, len(r.running))
	if ev.Why != scheduler.ReasonNext {
		size := "everything"
		if ev.Range.End != byterange.Unbounded {
			size = option.SizeText(ev.Range.Len())
		}
		r.say(false, "%s is asked for %s from %s on: %s", m.Host, size, option.SizeText(f.from), starts[ev.Why].text)
	}
}

func (r *Recorder) answered(f *fetch, ev download.RangeAnswered) {
	f.answered, f.latest = r.now, r.now
	if f.mirror != r.rest {
		f.mirror.Host = cmp.Or(source.Escape(ev.Host), f.mirror.Host)
	}
	if ev.RTT > 0 {
		f.mirror.RTT = ev.RTT
	}
	if r.answer == never {
		r.answer = r.now
	}
}

// bring records received bytes. They are spread evenly over the time since the last report.
func (r *Recorder) bring(ev download.Brought) {
	for _, p := range ev.Pieces {
		f := r.running[p.Fetch]
		if f == nil {
			continue
		}
		r.quiet(f)
		since, n := f.latest, p.Range.Len()
		if r.now-since > 3*beat { // a pause, followed by these bytes
			since = r.now - beat
		}
		f.mirror.flow.spread(r.width, since, r.now, float64(n))
		r.total.spread(r.width, since, r.now, float64(n))
		r.void.Remove(p.Range)
		r.picture.paint(r.width, since, r.now, p.Range, f.mirror.number)
		f.bytes += n
		f.mirror.Bytes += n
		r.Fetched += n
		f.mirror.Speed.Now(r.began.Add(r.now), f.mirror.Bytes)
		f.at, f.latest = p.Range.End, r.now
		f.to = max(f.to, f.at)
	}
	if r.first == never {
		r.first = r.now
	} else {
		r.stood(max(r.last, 0))
	}
	r.last = r.now
}

// quiet records a pause if a fetch has received nothing for a while.
func (r *Recorder) quiet(f *fetch) {
	if r.now-f.latest >= quietAfter {
		f.mirror.Quiet += r.now - f.latest
		r.silent.add(gap{f.mirror, f.latest, r.now})
	}
}

// cut records that a fetch gives part of its range to other sources, or ends.
func (r *Recorder) cut(f *fetch, ev download.RangeCut) {
	f.cut = ev.Why
	r.reasons[ev.Why]++
	f.mirror.cuts[ev.Why]++
	f.mirror.whole = f.mirror.whole || ev.Why == scheduler.ReasonNoRanges
	if ev.Why == scheduler.ReasonSilent || ev.Why == scheduler.ReasonSlow {
		r.lose(f, ev.End, ev.Why)
	}
	f.to = ev.End
	if ev.Why != scheduler.ReasonDone && ev.Why != scheduler.ReasonMet {
		why := cuts[ev.Why]
		r.say(why.bad, "%s ends at %s: %s", f.mirror.Host, option.SizeText(ev.End), why.text)
	}
}

// finish moves a fetch to the past fetches.
func (r *Recorder) finish(f *fetch, err error) {
	if err != nil {
		f.failure, r.refused = Why(err, f.mirror.Host), r.refused || answered(err)
		if f.mirror.failure = f.failure; f.mirror.Failures == 0 {
			f.mirror.failedAt, f.mirror.before = r.now, f.failure
		}
		f.mirror.Failures++
		r.lose(f, f.at, 0)
	}
	if f.answered != never {
		r.quiet(f)
	}
	f.ended = r.now
	if f.mirror.running--; f.mirror.running == 0 {
		f.mirror.Working += r.now - f.mirror.since
	}
	r.work.spread(r.width, f.asked, f.ended, (f.ended - f.asked).Seconds())
	delete(r.running, f.number)
	r.past.add(*f)
}

// dull reports whether a fetch shows nothing of interest, so that it can be merged with another.
func (f *fetch) dull() bool {
	switch f.cut {
	case 0, scheduler.ReasonDone, scheduler.ReasonMet, scheduler.ReasonSplit:
		return f.failure == "" && (f.why == scheduler.ReasonNext || f.why == scheduler.ReasonSplit)
	}
	return false
}

// absorb merges the next fetch of the same source into f.
func (f *fetch) absorb(next fetch) {
	f.merged += next.merged + 1
	f.latest, f.ended, f.at = max(f.latest, next.latest), max(f.ended, next.ended), next.at
	f.from, f.to = min(f.from, next.from), max(f.to, next.to)
	f.bytes += next.bytes
	f.cut, f.failure = cmp.Or(next.cut, f.cut), cmp.Or(next.failure, f.failure)
}

// fetches are the fetches that have ended. If they exceed maxFetches, neighbours are merged: first those that
// show nothing of interest, then all with invisibly short pauses between them, then those with longer pauses.
type fetches []fetch

const maxFetches = 800

func (l *fetches) add(f fetch) {
	*l = append(*l, f)
	if len(*l) <= maxFetches {
		return
	}
	slices.SortFunc(*l, func(a, b fetch) int {
		return cmp.Or(cmp.Compare(a.mirror.number, b.mirror.number), cmp.Compare(a.asked, b.asked),
			cmp.Compare(a.number, b.number))
	})
	near := max(f.ended/maxColumns, time.Millisecond)
	l.merge(func(a, b *fetch) bool { return a.dull() && b.dull() && b.asked-a.ended <= near })
	for len(*l) > maxFetches*3/4 {
		l.merge(func(a, b *fetch) bool { return b.asked-a.ended <= near })
		if near > f.ended { // each source has a single one by now
			return
		}
		near *= 2
	}
}

// merge merges neighbours of the same source for which may returns true. The fetches must be sorted.
func (l *fetches) merge(may func(a, b *fetch) bool) {
	kept := (*l)[:0]
	for _, f := range *l {
		if n := len(kept); n > 0 && kept[n-1].mirror == f.mirror && may(&kept[n-1], &f) {
			kept[n-1].absorb(f)
			continue
		}
		kept = append(kept, f)
	}
	clear((*l)[len(kept):])
	*l = kept
}

// loss is a range that a source gave up, so that another source must fetch it.
type loss struct {
	mirror   *Mirror
	since    time.Duration // time of the last byte
	at       time.Duration
	from, to int64
	bytes    int64 // that the fetch had received
	why      scheduler.Reason
	taker    *Mirror // first source that was then asked for part of the range
	taken    time.Duration
}

const (
	maxLosses = 100
	// farthest limits the range of a loss: another source that works farther away is not counted as its successor.
	farthest = 64 << 20
)

// lose records that f leaves the range from an offset on to other sources. why is 0 for a failure. Only the first
// maxLosses losses are kept. A source that was recorded as slow may later be recorded as silent instead.
func (r *Recorder) lose(f *fetch, from int64, why scheduler.Reason) {
	if n := len(r.losses); n > 0 && why == scheduler.ReasonSilent {
		if l := r.losses[n-1]; l.mirror == f.mirror && l.why == scheduler.ReasonSlow && l.since == f.latest {
			l.why = why
			return
		}
	}
	if from < f.to && len(r.losses) < maxLosses {
		r.losses = append(r.losses, &loss{mirror: f.mirror, at: r.now, since: f.latest, from: from,
			to: min(f.to, from+farthest), bytes: f.bytes, why: why})
	}
}

// takeover is a pair of sources: taker took over part of a range of loser.
type takeover struct{ taker, loser *Mirror }
