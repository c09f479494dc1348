package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/scheduler"
	"braid/verify"
)

// asked begins a fetch of q.
func asked(q *requests, now time.Duration, number int, m *Mirror, from, to int64, why scheduler.Reason) *fetch {
	q.start(now, m, download.RangeStarted{Fetch: number, Range: byterange.Range{Start: from, End: to}, Why: why})
	return q.running[number]
}

// TestRequestsFindTheTaker: the taker of a lost range is the source that is asked first for part of it.
func TestRequestsFindTheTaker(t *testing.T) {
	a, b, c := &Mirror{number: 0}, &Mirror{number: 1}, &Mirror{number: 2}
	q := newRequests()
	f := asked(&q, 0, 1, a, 0, 100, scheduler.ReasonFirst)
	f.answered = 0
	if since := q.came(f, 2*time.Second, byterange.Range{Start: 0, End: 10}); since != 2*time.Second-beat {
		t.Errorf("after a pause bytes came since %v", since)
	}
	q.finish(f, 5*time.Second, true)
	asked(&q, 6*time.Second, 2, b, 0, 10, scheduler.ReasonNext) // these bytes came
	if taker := q.takenBy(a); taker != nil {
		t.Errorf("%d took bytes that were not lost", taker.number)
	}
	asked(&q, 7*time.Second, 3, c, 50, 60, scheduler.ReasonNext)
	asked(&q, 8*time.Second, 4, b, 60, 70, scheduler.ReasonNext)
	if taker := q.takenBy(a); taker != c || q.most != 3 || len(q.past) != 1 || len(q.silent) != 2 || a.Quiet != 5*time.Second {
		t.Errorf("taken by %v; at most %d at once, %d past, silent in %v for %v", taker, q.most, len(q.past), q.silent, a.Quiet)
	}
}

// TestRequestsCountTakeovers: a fetch of a split range is a takeover from the fetch that was cut there.
func TestRequestsCountTakeovers(t *testing.T) {
	a, b := &Mirror{number: 0}, &Mirror{number: 1}
	q := newRequests()
	for i := range 3 {
		loser, taker := a, b
		if i == 2 {
			loser, taker = b, a
		}
		f := asked(&q, 0, 10*i, loser, 0, 100, scheduler.ReasonFirst)
		q.cut(f, 0, int64(50+i), scheduler.ReasonSplit)
		asked(&q, 0, 10*i+1, taker, int64(50+i), 100, scheduler.ReasonSplit)
	}
	if first, sum := q.mostTaken(); first != (takeover{b, a}) || sum != 3 {
		t.Errorf("%+v, %d in all", first, sum)
	}
	if first, sum := new(requests).mostTaken(); sum != 0 {
		t.Errorf("%+v, %d without any", first, sum)
	}
}

// TestRequestsOfASource: past fetches are in the order of their times, running ones in the order of their numbers.
func TestRequestsOfASource(t *testing.T) {
	a, b := &Mirror{}, &Mirror{}
	q := newRequests()
	for _, number := range []int{3, 1, 2} {
		asked(&q, time.Duration(number), number, a, 0, 1, scheduler.ReasonGrowth)
	}
	asked(&q, 0, 4, b, 0, 1, scheduler.ReasonRemembered)
	var order []int
	for f := range q.inOrder() {
		order = append(order, f.number)
	}
	for _, number := range []int{2, 1, 3, 4} {
		f := q.running[number]
		q.cut(f, 9, 0, scheduler.ReasonUseless)
		q.finish(f, 9, false)
	}
	for _, f := range q.of(a) {
		order = append(order, f.number)
	}
	if !slices.Equal(order, []int{1, 2, 3, 4, 1, 2, 3}) || len(q.running) != 0 || q.opened() != 4 || q.closed() != 4 {
		t.Errorf("%v; %d running, %d opened, %d closed", order, len(q.running), q.opened(), q.closed())
	}
}

// TestColumnsHaveOneWidth: all amounts keep their sums when time outgrows the columns.
func TestColumnsHaveOneWidth(t *testing.T) {
	c := columns{width: firstColumn}
	for i := range 5 {
		at := time.Duration(i*i*i) * time.Second
		c.reach(at)
		c.came(max(0, at-time.Second), at, byterange.Range{Start: int64(i) * 100, End: int64(i+1) * 100}, i%2)
		c.worked(0, at)
	}
	all, flows := c.bytes.sum(0, maxColumns), [2]float64{c.flow(&Mirror{number: 0}).sum(0, maxColumns),
		c.flow(&Mirror{number: 1}).sum(0, maxColumns)}
	if math.Abs(all-500) > 1e-9 || flows != [2]float64{300, 200} || c.flow(&Mirror{number: 2}) != nil {
		t.Errorf("%g bytes, %g of the sources", all, flows)
	}
	if work := c.work.sum(0, maxColumns); work < 99.9 || work > 100.1 || 64*time.Second >= c.width*maxColumns ||
		len(c.bytes) > maxColumns {
		t.Errorf("%g s of work in columns of %v", work, c.width)
	}
}

// TestPaceBlamesASource: a stretch is explained by the source that was slower in it, but not during a comparison.
func TestPaceBlamesASource(t *testing.T) {
	steady, moody := &Mirror{number: 0}, &Mirror{number: 1}
	c := columns{width: 100 * ms}
	for i := range 100 {
		from, n := time.Duration(i)*100*ms, int64(1000)
		c.came(from, from+100*ms, byterange.Range{End: n}, 0)
		if i >= 40 && i < 70 {
			n = 10
		}
		c.came(from, from+100*ms, byterange.Range{End: 10 * n}, 1)
	}
	p := pace{&c, &comparison{}, 0, 100}
	list := p.stretches([]*Mirror{steady, moody})
	if len(list) != 1 || list[0].cause != moody || list[0].from < 38 || list[0].to > 72 || list[0].atBegin || list[0].atEnd {
		t.Errorf("%+v", list)
	}
	if list := p.stretches(nil); len(list) != 1 || list[0].cause != nil {
		t.Errorf("without sources: %+v", list)
	}
	p.compared.advance(3*time.Second, download.Comparing{})
	p.compared.finish(8 * time.Second)
	if list := p.stretches([]*Mirror{steady, moody}); len(list) != 0 {
		t.Errorf("while bytes were compared: %+v", list)
	}
}

// TestCourseWithoutBytes: times without bytes are recorded, apart from comparisons and very short ones.
func TestCourseWithoutBytes(t *testing.T) {
	s := time.Second
	checks := gaps{{nil, 10 * s, 20 * s}}
	c := newCourse()
	c.answered(2 * s)
	c.answered(3 * s)
	c.came(4*s, nil)
	c.came(5*s, nil)
	c.came(24*s, checks)
	c.finish(30*s, checks)
	if want := (gaps{{nil, 5 * s, 10 * s}, {nil, 20 * s, 24 * s}, {nil, 24 * s, 30 * s}}); !slices.Equal(c.still, want) {
		t.Errorf("%v, want %v", c.still, want)
	}
	if c.answer != 2*s || c.first != 4*s || c.last != 24*s || c.refused {
		t.Errorf("%+v", c)
	}
	c.complete = 24 * s
	if c.finish(90*s, checks); len(c.still) != 3 {
		t.Error("a complete file waits for bytes")
	}
	if c.failed(status(0)); !c.refused {
		t.Error("404 is no answer")
	}
}

// TestComparison: a comparison lasts from its first event to its end.
func TestComparison(t *testing.T) {
	var c comparison
	if _, ended := c.finish(1); ended {
		t.Error("it ended before it began")
	}
	began := []bool{c.advance(2, download.Comparing{Done: 1}), c.advance(5, download.Comparing{Done: 7})}
	bytes, ended := c.finish(9)
	if !began[0] || began[1] || bytes != 7 || !ended || c.Comparing != nil || c.within(0, 4) != 2 || c.within(3, 100) != 6 {
		t.Errorf("began %v, %d bytes, ended %v, %v", began, bytes, ended, c.checks)
	}
}

// TestAmounts: a restart discards the bytes of the file, and those of the run stay counted.
func TestAmounts(t *testing.T) {
	a := newAmounts()
	if a.restart() {
		t.Error("nothing was discarded")
	}
	a.void.Add(byterange.Range{Start: 0, End: 10})
	a.came(byterange.Range{Start: 0, End: 4})
	for _, done := range []int64{3, 4, 2, 5} {
		a.advance(download.Progress{Done: done, Size: 10})
	}
	if a.void.Len() != 6 || a.Fetched != 4 || a.Arrived != 7 {
		t.Errorf("%d wrong, %d fetched, %d arrived", a.void.Len(), a.Fetched, a.Arrived)
	}
	if !a.restart() || a.restart() || a.void.Len() != 0 || a.Progress.Done != 0 || a.Fetched != 4 {
		t.Errorf("%+v", a)
	}
}

// TestEarlier: the longest of many ranges are kept.
func TestEarlier(t *testing.T) {
	var have byterange.Set
	for i := range int64(2 * maxRows) {
		have.Add(byterange.Range{Start: 1000 * i, End: 1000*i + i + 1})
	}
	e := newEarlier(download.Resumed{Bytes: 7, Have: have})
	if e.bytes != 7 || len(e.ranges) != maxRows || e.ranges[0].Len() != 2*maxRows || e.ranges[maxRows-1].Len() != maxRows+1 {
		t.Errorf("%d bytes, %d ranges from %v to %v", e.bytes, len(e.ranges), e.ranges[0], e.ranges[len(e.ranges)-1])
	}
}

func TestOffer(t *testing.T) {
	var o offer
	o.add(download.Offered{By: "a.meta4", File: metalink.File{NoDigest: true, Mirrors: make([]metalink.Mirror, 3)}})
	o.add(download.Offered{File: metalink.File{Mirrors: make([]metalink.Mirror, 1)}})
	if want := (offer{By: "a.meta4", named: 3}); o != want {
		t.Errorf("%+v, want %+v", o, want)
	}
}

// TestSourcesByID: an ID with another URL is another source, and sources beyond the limit share a record.
func TestSourcesByID(t *testing.T) {
	s := newSources()
	first := s.mirror(0, "http://a/", "a")
	if s.mirror(0, "", "a:80") != first || first.Host != "a:80" || s.mirror(0, "http://b/", "b") == first ||
		s.mirror(5, "http://a/", "a") != first {
		t.Errorf("%v", s.Mirrors)
	}
	for i := range maxMirrors {
		s.mirror(10+i, fmt.Sprintf("http://%d/", i), "h")
	}
	if n := len(s.Mirrors); n != maxMirrors+1 || s.rest != s.Mirrors[maxMirrors] ||
		s.mirror(1000, "http://z/", "z") != s.rest || s.rest.Host != "others" {
		t.Errorf("%d sources, the last is %+v", n, s.Mirrors[n-1])
	}
}

// TestSourcesPause: a pause ends when the source is asked, at the latest when it was to end.
func TestSourcesPause(t *testing.T) {
	s := newSources()
	m := s.mirror(0, "http://a/", "a")
	for _, end := range []time.Duration{5, 50} {
		m.pause = &gap{m, 2, 10}
		s.endPause(m, end)
		s.endPause(m, 100)
	}
	if want := (gaps{{m, 2, 5}, {m, 2, 10}}); !slices.Equal(s.pauses, want) {
		t.Errorf("%v, want %v", s.pauses, want)
	}
}

// TestMirrorAtWork: a source is at work while it has at least one fetch.
func TestMirrorAtWork(t *testing.T) {
	var m Mirror
	for at := range time.Duration(3) {
		m.begin(2 + at)
	}
	m.fail(4, "x")
	m.fail(5, "y")
	for at := range time.Duration(3) {
		m.rest(10 + at)
	}
	if m.Working != 10 || m.first != 2 || m.Asked != 3 || m.AtWork() || m.Failures != 2 || m.before != "x" ||
		m.failure != "y" || m.failedAt != 4 {
		t.Errorf("%+v", m)
	}
}

func TestRestarts(t *testing.T) {
	var r restarts
	for i := range 2 * maxMarks {
		r.add(entry{At: time.Duration(i)})
	}
	if len(r.first) != maxMarks || r.count != 2*maxMarks || r.first[0].At != 0 {
		t.Errorf("%+v", r)
	}
}

func TestEnding(t *testing.T) {
	size := int64(5)
	for want, e := range map[string]*ending{
		"stopped interrupted":         {err: &download.Error{Kind: download.Interrupted, Err: errors.New("x")}},
		"failed failed":               {err: errors.New("x"), result: download.Result{AlreadyComplete: true}},
		"done already complete":       {result: download.Result{AlreadyComplete: true}},
		"done not modified":           {result: download.Result{NotModified: true}},
		"open complete, not verified": {result: download.Result{Proof: verify.Unchecked(size)}},
	} {
		class, text := e.outcome()
		if got := class + " " + text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if line := e.headline(0, 0); (line == "Nothing was transferred.") != (e.nothing() && e.err == nil) {
			t.Errorf("%q: %s", want, line)
		}
	}
	e := ending{result: download.Result{Sources: []download.SourceResult{{URL: "a"}, {URL: "b"}, {URL: "c", Bytes: 1},
		{URL: "d", Err: errors.New("x")}}}}
	if n := e.unasked([]*Mirror{{URL: "b"}}); n != 1 {
		t.Errorf("%d were not asked", n)
	}
}

// TestSentences: each sentence of the summary comes from the part that it is about.
func TestSentences(t *testing.T) {
	a, b := &Mirror{Name: "A", Bytes: 30, Working: time.Second}, &Mirror{Name: "B", Bytes: 70, Working: time.Second}
	for want, tell := range map[string]func(w *story){
		"A sent 30 % at 30 B/s, B sent 70 % at 70 B/s.": func(w *story) { w.shares([]*Mirror{a, b}, 100) },
		"10 B were received twice.":                     func(w *story) { w.twice(10, 100, false) },
		"":                                              func(w *story) { w.twice(1, 100, false) },
		"1 B were received twice.":                      func(w *story) { w.twice(1, 100, true) },
		"A turned out to be too slow for its range at 2 s; it continued at 3 s (2 times in all).": func(w *story) {
			l := &loss{mirror: a, at: 2 * time.Second, why: scheduler.ReasonSlow, taker: a, taken: 3 * time.Second}
			w.losses([]*loss{l, l})
		},
		"To finish at the same time, one request to A took over part of the range of another request; in all, ranges " +
			"were split 4 times.": func(w *story) {
			w.takeovers(takeover{a, a}, 4)
		},
		"1 further mirror was known but not used.": func(w *story) { w.growth(new(requests), 1) },
		"The first answer came after 2 s, without a byte of the file.": func(w *story) {
			w.times(&course{answer: 2 * time.Second, first: never}, &ending{}, -1)
		},
		"That happened 3 more times.": func(w *story) { w.restarts(&restarts{count: 3}) },
	} {
		var w story
		if tell(&w); strings.TrimSpace(w.String()) != want {
			t.Errorf("%q, want %q", w, want)
		}
	}
}
