package report

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/option"
	"braid/scheduler"
	"braid/source"
)

// fetch is a request for a range, or several requests to the same source that were merged.
type fetch struct {
	mirror   *Mirror
	number   int
	merged   int           // number of requests that were merged into the first
	asked    time.Duration // when the request was sent
	answered time.Duration // when the answer arrived; never until then
	latest   time.Duration // when data last arrived or, before that, the answer; at first equal to asked
	ended    time.Duration
	from, to int64 // the range, without parts that other sources took over
	at       int64 // offset after the last received byte
	bytes    int64
	why      scheduler.Reason // why the range was requested
	cut      scheduler.Reason // why the range was shortened or the fetch ended early; 0 if neither is so
	failure  string
}

const (
	// beat is the approximate time between two reports of received bytes.
	beat = 100 * time.Millisecond
	// quietAfter is how long a source must send no data until it is shown as silent.
	quietAfter = time.Second
)

// requests has the fetches of a download, and what one source lost to another.
type requests struct {
	running   map[int]*fetch // by number
	most      int            // maximum of concurrent fetches
	past      fetches
	silent    gaps // silent periods within fetches
	losses    []*loss
	takeovers map[takeover]int
	reasons   tally
}

func newRequests() requests {
	return requests{running: map[int]*fetch{}, takeovers: map[takeover]int{}, reasons: tally{}}
}

// inOrder yields the running fetches in the order of their numbers. The caller may finish the fetch that was yielded.
func (q *requests) inOrder() iter.Seq[*fetch] {
	return func(yield func(*fetch) bool) {
		for _, number := range slices.Sorted(maps.Keys(q.running)) {
			if !yield(q.running[number]) {
				return
			}
		}
	}
}

// start records that the range in ev is requested from m.
func (q *requests) start(now time.Duration, m *Mirror, ev download.RangeStarted) {
	q.reasons[ev.Why]++
	f := &fetch{
		mirror: m, number: ev.Fetch, asked: now, answered: never, latest: now, why: ev.Why,
		from: ev.Range.Start, to: ev.Range.End, at: ev.Range.Start,
	}
	if ev.Why == scheduler.ReasonSplit {
		for v := range q.inOrder() {
			if v.cut == scheduler.ReasonSplit && v.to == f.from {
				q.takeovers[takeover{m, v.mirror}]++
				break
			}
		}
	}
	for _, l := range q.losses {
		if l.taker == nil && f.from < l.to && l.from < f.to {
			l.taker, l.taken = m, now
		}
	}
	q.running[ev.Fetch] = f
	q.most = max(q.most, len(q.running))
}

// came records that f received the range r. since is when the first of these bytes probably arrived.
func (q *requests) came(f *fetch, now time.Duration, r byterange.Range) (since time.Duration) {
	q.quiet(f, now)
	since = f.latest
	if now-since > 3*beat { // f was silent before these bytes
		since = now - beat
	}
	f.bytes += r.Len()
	f.at, f.latest = r.End, now
	f.to = max(f.to, f.at)
	return since
}

// quiet records that f was silent, if it has received nothing for some time.
func (q *requests) quiet(f *fetch, now time.Duration) {
	if now-f.latest >= quietAfter {
		f.mirror.Quiet += now - f.latest
		q.silent.add(gap{f.mirror, f.latest, now})
	}
}

// cut records that f will end at the offset end, because other sources fetch the rest or f is no longer wanted.
func (q *requests) cut(f *fetch, now time.Duration, end int64, why scheduler.Reason) {
	f.cut = why
	q.reasons[why]++
	if why == scheduler.ReasonSilent || why == scheduler.ReasonSlow {
		q.lose(f, now, end, why)
	}
	f.to = end
}

// finish moves f to the past fetches. failed reports whether f failed.
func (q *requests) finish(f *fetch, now time.Duration, failed bool) {
	if failed {
		q.lose(f, now, f.at, 0)
	}
	if f.answered != never {
		q.quiet(f, now)
	}
	f.ended = now
	delete(q.running, f.number)
	q.past.add(*f)
}

// of returns the past fetches from m, the one that was requested first at the beginning.
func (q *requests) of(m *Mirror) (list []fetch) {
	for _, f := range q.past {
		if f.mirror == m {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b fetch) int {
		return cmp.Or(cmp.Compare(a.asked, b.asked), cmp.Compare(a.number, b.number))
	})
	return list
}

// opened returns the number of connections that were opened to test whether they increase the speed.
func (q *requests) opened() int {
	return q.reasons.of(scheduler.ReasonGrowth, scheduler.ReasonRemembered, scheduler.ReasonExchange)
}

// closed returns the number of opened connections that were closed again.
func (q *requests) closed() int {
	return q.reasons.of(scheduler.ReasonUseless, scheduler.ReasonCrowded)
}

// takenBy returns the source that took over a range from m after a fetch from m had failed, or nil.
func (q *requests) takenBy(m *Mirror) *Mirror {
	for _, l := range q.losses {
		if l.mirror == m && l.why == 0 && l.taker != nil && l.taker != m {
			return l.taker
		}
	}
	return nil
}

// silentIn returns a source that was silent for most of the time between from and to, or nil. Sources that sent less
// than usual do not count: they may have had nothing left to send.
func (q *requests) silentIn(from, to time.Duration) *Mirror {
	for _, l := range q.losses {
		if l.why == scheduler.ReasonSilent && min(l.at, to)-max(l.since, from) > (to-from)*3/4 {
			return l.mirror
		}
	}
	return nil
}

// mostTaken returns the two sources with the most takeovers between them, and the number of all takeovers.
func (q *requests) mostTaken() (first takeover, sum int) {
	for t, n := range q.takeovers {
		sum += n
		if c := cmp.Compare(n, q.takeovers[first]); c > 0 || c == 0 &&
			(t.taker.number < first.taker.number || t.taker == first.taker && t.loser.number < first.loser.number) {
			first = t
		}
	}
	return first, sum
}

// observeFetch records ev if it is about a fetch.
func (r *Recorder) observeFetch(ev download.Event) {
	switch ev := ev.(type) {
	case download.RangeStarted:
		r.start(ev)
	case download.RangeAnswered:
		if f := r.requests.running[ev.Fetch]; f != nil {
			r.answered(f, ev)
		}
	case download.RangeCut:
		if f := r.requests.running[ev.Fetch]; f != nil {
			r.cut(f, ev)
		}
	case download.Brought:
		r.bring(ev)
	case download.RangeEnded:
		if f := r.requests.running[ev.Fetch]; f != nil {
			r.finish(f, ev.Err)
		}
	}
}

// start records that a range is requested from a source.
func (r *Recorder) start(ev download.RangeStarted) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.Speed.Now(r.began.Add(r.now), m.Bytes)
	m.begin(r.now)
	r.endPause(m, r.now)
	r.requests.start(r.now, m, ev)
	if ev.Why != scheduler.ReasonNext {
		size := "everything"
		if ev.Range.End != byterange.Unbounded {
			size = option.SizeText(ev.Range.Len())
		}
		r.say(false, "%s is asked for %s from offset %s: %s", m.Host, size, option.SizeText(ev.Range.Start), starts[ev.Why].text)
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
	r.course.answered(r.now)
}

// bring records that bytes were received. It assumes a constant rate since the last such report.
func (r *Recorder) bring(ev download.Brought) {
	for _, p := range ev.Pieces {
		f := r.requests.running[p.Fetch]
		if f == nil {
			continue
		}
		since := r.requests.came(f, r.now, p.Range)
		r.columns.came(since, r.now, p.Range, f.mirror.number)
		r.amounts.came(p.Range)
		f.mirror.Bytes += p.Range.Len()
		f.mirror.Speed.Now(r.began.Add(r.now), f.mirror.Bytes)
	}
	r.course.came(r.now, r.checks)
}

// cut records that f gives a part of its range to other sources, or ends early.
func (r *Recorder) cut(f *fetch, ev download.RangeCut) {
	f.mirror.cuts[ev.Why]++
	f.mirror.whole = f.mirror.whole || ev.Why == scheduler.ReasonNoRanges
	r.requests.cut(f, r.now, ev.End, ev.Why)
	if ev.Why != scheduler.ReasonDone && ev.Why != scheduler.ReasonMet {
		why := cuts[ev.Why]
		r.say(why.bad, "the range of %s ends at offset %s: %s", f.mirror.Host, option.SizeText(ev.End), why.text)
	}
}

// finish ends f. err is why it failed, or nil.
func (r *Recorder) finish(f *fetch, err error) {
	if err != nil {
		f.failure = Why(err, f.mirror.Host)
		f.mirror.fail(r.now, f.failure)
		r.course.failed(err)
	}
	r.requests.finish(f, r.now, err != nil)
	f.mirror.rest(r.now)
	r.columns.worked(f.asked, f.ended)
}

// dull reports whether f was an ordinary fetch, which can be merged with another.
func (f *fetch) dull() bool {
	switch f.cut {
	case 0, scheduler.ReasonDone, scheduler.ReasonMet, scheduler.ReasonSplit:
		return f.failure == "" && (f.why == scheduler.ReasonNext || f.why == scheduler.ReasonSplit)
	}
	return false
}

// absorb merges next into f. next is the next fetch from the same source.
func (f *fetch) absorb(next fetch) {
	f.merged += next.merged + 1
	f.latest, f.ended, f.at = max(f.latest, next.latest), max(f.ended, next.ended), next.at
	f.from, f.to = min(f.from, next.from), max(f.to, next.to)
	f.bytes += next.bytes
	f.cut, f.failure = cmp.Or(next.cut, f.cut), cmp.Or(next.failure, f.failure)
}

// fetches are fetches that have ended. If they are more than maxFetches, neighbors are merged: first fetches that are
// dull, then all fetches with pauses between them that would be invisible, then fetches with longer pauses.
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
		if near > f.ended { // only one fetch from each source is left
			return
		}
		near *= 2
	}
}

// merge merges neighbors from the same source if may returns true for them. The fetches must be sorted.
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
	since    time.Duration // when the source last sent data
	at       time.Duration
	from, to int64
	bytes    int64 // bytes that the fetch had received
	why      scheduler.Reason
	taker    *Mirror // the first source that was then asked for a part of the range
	taken    time.Duration
}

const (
	maxLosses = 100
	// farthest limits the length of a lost range in bytes. A source that fetches bytes beyond that does not count as taker.
	farthest = 64 << 20
)

// lose records that other sources must fetch the rest of f, from the given offset on. why is 0 if f failed. Only the
// first maxLosses losses are kept. If the source is first slow and then silent, the loss counts as silent.
func (q *requests) lose(f *fetch, now time.Duration, from int64, why scheduler.Reason) {
	if n := len(q.losses); n > 0 && why == scheduler.ReasonSilent {
		if l := q.losses[n-1]; l.mirror == f.mirror && l.why == scheduler.ReasonSlow && l.since == f.latest {
			l.why = why
			return
		}
	}
	if from < f.to && len(q.losses) < maxLosses {
		q.losses = append(q.losses, &loss{mirror: f.mirror, at: now, since: f.latest, from: from,
			to: min(f.to, from+farthest), bytes: f.bytes, why: why})
	}
}

// takeover is a pair of sources: taker took over part of a range of loser.
type takeover struct{ taker, loser *Mirror }
