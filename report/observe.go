package report

import (
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/scheduler"
)

// brought books what came since the last time. It came evenly, as far as anybody knows.
func (r *Recorder) brought(ev download.Brought) {
	since := max(r.last, 0)
	for _, p := range ev.Pieces {
		f := r.running[p.Fetch]
		if f == nil {
			continue
		}
		n := p.Range.Len()
		r.quiet(f)
		if r.now-f.heard <= 3*beat {
			r.book(f, p, f.heard)
		} else { // nothing came, and then this
			r.book(f, p, r.now-beat)
		}
		f.bytes += n
		f.who.bytes += n
		f.at, f.heard = p.Range.End, r.now
		f.to = max(f.to, f.at)
	}
	if r.first == never {
		r.first = r.now
	} else {
		r.stood(since)
	}
	r.last = r.now
}

// beat is about the time between two reports of bytes.
const beat = 100 * time.Millisecond

// book spreads what a fetch brought over the time in which it came.
func (r *Recorder) book(f *fetch, p download.Piece, since time.Duration) {
	n := float64(p.Range.Len())
	f.who.flow.spread(r.width, since, r.now, n)
	r.total.spread(r.width, since, r.now, n)
	r.picture.paint(r.width, since, r.now, p.Range, f.who.number)
}

// quiet notes that nothing came of a fetch for a while.
func (r *Recorder) quiet(f *fetch) {
	if r.now-f.heard >= quietAfter {
		f.who.quiet += r.now - f.heard
		r.silent.add(gap{f.who, f.heard, r.now})
	}
}

// cut: a fetch gives a part of its range to others, or ends.
func (r *Recorder) cut(ev download.RangeCut) {
	f := r.running[ev.Fetch]
	if f == nil {
		return
	}
	f.cut = ev.Why
	f.who.cuts.count(ev.Why)
	if ev.Why == scheduler.ReasonSilent || ev.Why == scheduler.ReasonSlow {
		r.lose(f, ev.End, ev.Why)
	}
	f.to = ev.End
	if ev.Why != scheduler.ReasonDone && ev.Why != scheduler.ReasonMet {
		bad := ev.Why == scheduler.ReasonSilent || ev.Why == scheduler.ReasonSlow || ev.Why == scheduler.ReasonLied
		r.say(bad, "%s ends at %s: %s", f.who.host, option.SizeText(ev.End), cutTexts[ev.Why])
	}
}

// endedFetch: nothing more comes of a fetch.
func (r *Recorder) endedFetch(ev download.RangeEnded) {
	f := r.running[ev.Fetch]
	if f == nil {
		return
	}
	if ev.Err != nil {
		f.failure = failureText(ev.Err, f.who.host)
		f.who.fail(r.now, f.failure)
		r.lose(f, f.at, 0)
	}
	r.finish(f)
}

// finish takes a fetch to the past ones.
func (r *Recorder) finish(f *fetch) {
	if f.answered != never {
		r.quiet(f)
	}
	f.ended = r.now
	if f.who.running--; f.who.running == 0 {
		f.who.working += r.now - f.who.since
	}
	r.work.spread(r.width, f.asked, f.ended, (f.ended - f.asked).Seconds())
	delete(r.running, f.number)
	r.past.add(*f)
}
