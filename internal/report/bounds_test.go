package report

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"braid/byterange"
	"braid/download"
	"braid/scheduler"
)

// TestMemoryIsBounded: ten hours and a TiB from 300 sources, with a million events of all kinds, result in a page of
// less than a MiB, and the memory for it does not grow.
func TestMemoryIsBounded(t *testing.T) {
	const size, sources = 1 << 40, 300
	tl := newTale(size)
	step := 10 * time.Hour / (1_000_000 / 5)
	pos := int64(0)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 1_000_000 / 5 {
		id := i * 7919 % sources
		why := []scheduler.Reason{scheduler.ReasonNext, scheduler.ReasonGrowth, scheduler.ReasonReturn,
			scheduler.ReasonSplit}[i%4]
		f := tl.ask(id, pos, pos+5*mib, why)
		tl.answer(f)
		tl.at += step
		tl.tell(download.Brought{Pieces: []download.Piece{{Fetch: f, Range: byterange.Range{Start: pos, End: pos + 5*mib}}}})
		pos += 5 * mib
		cut := []scheduler.Reason{scheduler.ReasonDone, scheduler.ReasonSilent, scheduler.ReasonUseless}[i%3]
		tl.cut(f, pos-1, true, cut)
		tl.over(errors.New(fmt.Sprint("failure ", i)), f)
	}
	r := tl.fail(errors.New("x"))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 8*mib {
		t.Errorf("%d bytes are kept", kept)
	}
	html := page(r)
	safe(t, html)
	if len(html) > mib {
		t.Errorf("a page of %d bytes", len(html))
	}
	if len(r.Mirrors) > maxMirrors+1 || len(r.requests.past) > maxFetches || len(r.columns.bytes) > maxColumns ||
		len(r.columns.picture.columns) > maxColumns {
		t.Errorf("%d sources, %d fetches, %d and %d columns", len(r.Mirrors), len(r.requests.past),
			len(r.columns.bytes), len(r.columns.picture.columns))
	}
	if got := r.Fetched; got != pos {
		t.Errorf("%d of %d bytes are booked", got, pos)
	}
	t.Logf("%d bytes, %d fetches", len(html), len(r.requests.past))
	runtime.KeepAlive(r)
}

// TestBusyPicture: a chart in which each cell belongs to another source is made coarser, not larger.
func TestBusyPicture(t *testing.T) {
	tl := newTale(maxRows)
	var fetches []int
	for id := range 20 {
		fetches = append(fetches, tl.ask(id, 0, maxRows, scheduler.ReasonNext))
	}
	tl.answer(fetches...)
	for c := range maxColumns - 5 {
		for row := range int64(maxRows) {
			tl.r.columns.picture.strip(c, float64(row), float64(row+1), int16((c*31+int(row)*17)%20+1))
		}
	}
	tl.until(maxColumns*ms).over(nil, fetches...)
	r := tl.fail(errors.New("x"))
	r.columns.picture.fit(maxRows)
	layers, _ := axis{r.ending.at, r.columns.width}.parts(&r.columns.picture, &r.sources, r.size)
	n := 0
	for _, l := range layers {
		n += len(l.Path)
	}
	if n > mib/3 || n == 0 {
		t.Errorf("the picture has %d bytes", n)
	}
}

// TestSeriesKeepsItsSum: the sum stays the same whenever amounts are added and however often the columns are halved.
func TestSeriesKeepsItsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s series
		width, want := time.Millisecond, 0.0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			from := time.Duration(rapid.Int64Range(0, int64(width)*maxColumns-1).Draw(t, "from"))
			to := time.Duration(rapid.Int64Range(0, int64(width)*maxColumns-1).Draw(t, "to"))
			amount := float64(rapid.IntRange(0, 1000).Draw(t, "amount"))
			s.spread(width, from, to, amount)
			want += amount
			if rapid.Bool().Draw(t, "halve") {
				s.halve()
				width *= 2
			}
		}
		if got := s.sum(0, len(s)); math.Abs(got-want) > 1e-6*want+1e-9 || len(s) > maxColumns {
			t.Fatalf("the sum is %g, want %g; %d columns", got, want, len(s))
		}
	})
}

// TestRasterShowsTheMajority: where only one source sent a part at a time, the cells belong to that source, and no
// others do, however often rows and columns were merged.
func TestRasterShowsTheMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p raster
		size := rapid.Int64Range(1, 1<<50).Draw(t, "size")
		if rapid.Bool().Draw(t, "known") {
			p.fit(size)
		}
		who := rapid.IntRange(0, 100).Draw(t, "who")
		from := rapid.Int64Range(0, size-1).Draw(t, "from")
		to := rapid.Int64Range(from+1, size).Draw(t, "to")
		begin := time.Duration(rapid.Int64Range(0, 358).Draw(t, "begin")) * ms
		p.paint(ms, begin, begin+ms, byterange.Range{Start: from, End: to}, who)
		p.fit(size)
		width := ms
		for range rapid.IntRange(0, 5).Draw(t, "halves") {
			p.halve()
			width *= 2
		}
		blocks := p.blocks()
		if len(blocks) != 1 {
			t.Fatalf("%d blocks", len(blocks))
		}
		b := blocks[0]
		want := block{owner: who, column: int(begin / width), row: int(from / p.row), wide: 1,
			high: int((to-1)/p.row) - int(from/p.row) + 1}
		// The comparison allows for the precision of a float64.
		if b.owner != want.owner || b.column != want.column || abs(b.row-want.row) > 1 || abs(b.high-want.high) > 2 {
			t.Fatalf("%+v, want %+v", b, want)
		}
	})
}

func abs(x int) int { return max(x, -x) }

func TestVotes(t *testing.T) {
	var c cell
	c.vote(1, 3)
	c.vote(2, 2)
	c.vote(2, 2)
	if c.owner != 2 || c.votes != 1 {
		t.Errorf("%+v", c)
	}
}

func TestGapsKeepTheLongest(t *testing.T) {
	var g gaps
	for i := range 3 * maxGaps {
		g.add(gap{to: time.Duration(i*7919%(3*maxGaps)) + 1})
	}
	if len(g) != maxGaps {
		t.Fatalf("%d gaps", len(g))
	}
	if short := slices.MinFunc(g, func(a, b gap) int { return int(a.to - b.to) }); short.to <= 2*maxGaps {
		t.Errorf("one of %d is kept", short.to)
	}
}

func TestTheLogKeepsBothEnds(t *testing.T) {
	var l log
	for i := range 1000 {
		l.add(entry{At: time.Duration(i)})
	}
	if n := len(l.Entries); n != 2*maxEntries || l.Dropped != 1000-n || l.Entries[n-1].At != 999 ||
		l.Entries[maxEntries-1].At != maxEntries-1 || l.Entries[0].At != 0 {
		t.Errorf("%d, %d dropped", n, l.Dropped)
	}
}

// TestMergedFetches: the sums stay, and fetches of interest are kept longer than others.
func TestMergedFetches(t *testing.T) {
	a, b := &Mirror{number: 0}, &Mirror{number: 1}
	var l fetches
	at := time.Duration(0)
	for i := range 5000 {
		f := fetch{mirror: a, asked: at, answered: at, ended: at + time.Second, bytes: 1, why: scheduler.ReasonNext}
		if i%1000 == 500 {
			f.cut = scheduler.ReasonSilent
		}
		l.add(f)
		l.add(fetch{mirror: b, asked: at, answered: at, ended: at + time.Second, bytes: 2, why: scheduler.ReasonNext})
		at += time.Second
	}
	var sums [2]int64
	silent, n := 0, 0
	for _, f := range l {
		sums[f.mirror.number] += f.bytes
		n += f.merged + 1
		if f.cut == scheduler.ReasonSilent {
			silent++
		}
	}
	if sums != [2]int64{5000, 10000} || n != 10000 || silent != 5 || len(l) > maxFetches {
		t.Errorf("%v bytes, %d fetches of %d, %d silent", sums, len(l), n, silent)
	}
}

func TestSpeed(t *testing.T) {
	var s Speed
	at := time.Unix(1e9, 0)
	for i := range 100 {
		if got := s.Now(at.Add(time.Duration(i)*100*time.Millisecond), int64(i)*100); i > 0 && (got < 999 || got > 1001) {
			t.Fatalf("%v after %d", got, i)
		}
	}
}
