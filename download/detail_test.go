package download_test

import (
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/scheduler"
)

// accounted checks that the events of one Get are a complete account: fetches are numbered from 1, events are
// only about running fetches, each fetch ends once, and the pieces are the fetched bytes. Every test of this
// package that observes events calls it.
func accounted(t *testing.T, events []download.Event, res download.Result) {
	t.Helper()
	if len(events) == 0 {
		return
	}
	running := map[int]int64{} // bytes by fetch
	began := 0
	var total int64
	runs := func(ev download.Event, fetch int) {
		if _, ok := running[fetch]; !ok {
			t.Errorf("%+v: no such fetch runs", ev)
		}
	}
	for _, ev := range events {
		switch ev := ev.(type) {
		case download.RangeStarted:
			if began++; ev.Fetch != began || ev.URL == "" || ev.Why == 0 {
				t.Errorf("fetch %d: %+v", began, ev)
			}
			running[ev.Fetch] = 0
		case download.RangeAnswered:
			runs(ev, ev.Fetch)
		case download.RangeCut:
			runs(ev, ev.Fetch)
		case download.Brought:
			for _, p := range ev.Pieces {
				runs(ev, p.Fetch)
				running[p.Fetch] += p.Range.Len()
				total += p.Range.Len()
			}
		case download.RangeEnded:
			runs(ev, ev.Fetch)
			if ev.Bytes != running[ev.Fetch] {
				t.Errorf("fetch %d brought %d bytes, and its pieces are %d", ev.Fetch, ev.Bytes, running[ev.Fetch])
			}
			delete(running, ev.Fetch)
		}
	}
	if len(running) > 0 || total != res.Fetched {
		t.Errorf("%d fetches did not end; the pieces are %d bytes of %d", len(running), total, res.Fetched)
	}
}

// TestWhatIsToldOfFetches: events state why each range was requested, and why one ended early.
func TestWhatIsToldOfFetches(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	slow := sized(t, size, mirrortest.Rate(mib))
	origin := vouch(t, size, slow)
	origin.Set(waiting(2*mib, slow))
	r := newRun(t, origin.URL)
	r.right(origin.Content)
	why := map[scheduler.Reason]bool{}
	for _, ev := range saw[download.RangeStarted](r) {
		why[ev.Why] = true
	}
	for _, ev := range saw[download.RangeCut](r) {
		why[ev.Why] = true
	}
	for _, want := range []scheduler.Reason{scheduler.ReasonFirst, scheduler.ReasonGrowth, scheduler.ReasonNext,
		scheduler.ReasonMet} {
		if !why[want] {
			t.Errorf("nothing was done for the reason %q: %v", want, why)
		}
	}
	if told := saw[download.Complete](r); len(told) != 1 || told[0].Size != size {
		t.Errorf("complete: %+v", told)
	}
}

// TestPiecesAreToldToThoseWhoAsk: Brought events are sent only with Detail.
func TestPiecesAreToldToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	origin := sized(t, 2*mib, mirrortest.Rate(8*mib))
	r := newRun(t, origin.URL)
	r.req.Detail = false
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Brought); ok {
			t.Errorf("%+v", ev)
		}
	}
	r.right(origin.Content)
}
