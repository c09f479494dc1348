package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// trickle returns a rate of 40 Mbit/s until d, and of a few bytes a second from then on.
func trickle(d time.Duration, rate float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		if t < d {
			return mbit(40)
		}
		return rate
	}
}

// Proves S16 and rule 21: whenever a mirror begins to trickle, and however little is left of its range, another free
// one delivers the rest. Less than a byte in two seconds counts as silence; single bytes begin a new flow each time.
func TestTrickleHoldsNothingUp_S16_Rule21(t *testing.T) {
	for _, rate := range []float64{1, 10, 100, 2_000, 20_000} {
		for d := 100 * ms; d < 2*time.Second; d += 60 * ms {
			r := run(t, scenario{size: 16 * mib,
				hosts: with(equal(2, 40, 40*ms), 1, func(h *host) { h.rate = trickle(d, rate) }), limit: time.Minute})
			if !r.finished || r.elapsed > r.best+3500*ms {
				t.Errorf("%v bytes a second from %v on: finished %v after %v, best is %v", rate, d, r.finished, r.elapsed, r.best)
			}
		}
	}
}

// Proves S16 for small files: if a mirror trickles from its first byte on, the others are opened.
func TestTrickleOfASmallFile_S16(t *testing.T) {
	for _, size := range []int64{300, 20 << 10, 300 << 10, mib, 3 * mib} {
		for _, rate := range []float64{1, 100, 2_000} {
			hosts := with(equal(3, 40, 40*ms), 0, func(h *host) { h.rate = func(time.Duration) float64 { return rate } })
			r := run(t, scenario{size: size, hosts: hosts, limit: time.Minute})
			if alone := time.Duration(float64(size) / rate * float64(time.Second)); !r.finished ||
				r.elapsed > min(8*time.Second, alone+time.Second) {
				t.Errorf("%d bytes, %v a second: finished %v after %v", size, rate, r.finished, r.elapsed)
			}
		}
	}
}

// crawling plays a download of 1 MiB that is assigned to source 0, which delivers a byte every 50 ms from some offset
// on. It returns the fetches that start after that.
func crawling(p *script, f Fetch, from int64, lasts time.Duration) (asked []Fetch) {
	p.at(0, Answered{Fetch: f.ID, Host: "origin:80", RTT: 20 * ms, Size: mib, Ranged: true})
	for off := int64(0); off < from; off += 64 << 10 {
		asked = append(asked, p.at(20*ms, Progress{Fetch: f.ID,
			Range: byterange.Range{Start: off, End: off + 64<<10}}).fetches()...)
	}
	for i := range int64(lasts / (50 * ms)) {
		asked = append(asked, p.at(50*ms, Progress{Fetch: f.ID,
			Range: byterange.Range{Start: from + i, End: from + i + 1}}).fetches()...)
		asked = append(asked, p.at(0, Tick{}).fetches()...)
		if p.s.requests.byID[f.ID].ending { // cancelled
			asked = append(asked, p.at(0, FetchEnded{Fetch: f.ID}).fetches()...)
			break
		}
	}
	return asked
}

// Proves S16 for a mirror in doubt: if the end of the file trickles, a source that must first show that it works may
// try.
func TestTrickleIsTakenByOneInDoubt_S16(t *testing.T) {
	p := play(t, Config{Size: mib})
	f := p.at(0, SourceAdded{ID: 0, Host: "origin:80", Rate: 1e6}).only()
	p.at(0, SourceAdded{ID: 1, Host: "m1:80"})
	m := p.s.mirrors.find(1)
	m.state, m.until = stateClosed, p.now.Add(3*time.Second)
	m.failed()
	if asked := crawling(p, f, mib-64<<10, 5*time.Second); len(asked) != 1 || asked[0].Source != 1 || f.Range.Len() < mib {
		t.Errorf("asked for %v, want the rest of source 1", asked)
	}
}

// Proves S10 and S16: a trickle does not delay a piece that must come from one mirror. Another one delivers all of it.
func TestTrickleOfAPieceAlone_S10_S16(t *testing.T) {
	p := play(t, Config{Size: mib})
	p.s.checks.pieces = newPieces(PiecesKnown{Length: mib}, mib)
	p.s.checks.pieces.dispute(byterange.Range{Start: 0, End: mib}, nil)
	f := p.at(0, SourceAdded{ID: 0, Host: "origin:80"}).only()
	p.at(0, SourceAdded{ID: 1, Host: "m1:80"})
	asked := crawling(p, f, mib/2, 4*time.Second)
	if len(asked) != 1 || asked[0].Source != 1 || asked[0].Range != (byterange.Range{Start: 0, End: mib}) ||
		asked[0].Why != ReasonPiece {
		t.Errorf("asked for %v, want the whole piece of source 1", asked)
	}
}

// Proves S16: a rest that is too small for a request of its own does not wait for a mirror that crawls.
func TestTrickleLeavesNoCrumbs_S16(t *testing.T) {
	p := play(t, Config{Size: mib, Have: byterange.NewSet(byterange.Range{Start: 300, End: mib - 300})})
	f := p.at(0, SourceAdded{ID: 0, Host: "origin:80", Rate: 10}).only()
	p.at(0, SourceAdded{ID: 1, Host: "m1:80", Rate: 5e6})
	p.at(20*ms, Answered{Fetch: f.ID, Host: "origin:80", RTT: 20 * ms, Size: mib, Ranged: true})
	for i := range int64(40) {
		asked := p.at(100*ms, Progress{Fetch: f.ID,
			Range: byterange.Range{Start: f.Range.Start + i, End: f.Range.Start + i + 1}}).fetches()
		if len(asked) > 0 {
			if r := asked[0].Range; asked[0].Source != 1 || !r.Intersect(f.Range).Empty() {
				t.Errorf("asked for %v, want what nobody was asked for yet", asked)
			}
			return
		}
	}
	t.Error("a fast mirror waited for four seconds")
}

// Proves S16 after the end of growth: when the mirrors that filled the link trickle, others are opened.
func TestTrickleOfAllThatAreOpen_S16(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		hosts := equal(5, 40, 40*ms)
		for i := range n {
			hosts[i].rate = trickle(6*time.Second, 100)
		}
		r := run(t, scenario{size: 64 * mib, hosts: hosts, access: steady(40), limit: 2 * time.Minute})
		if !r.finished || r.elapsed > 25*time.Second {
			t.Errorf("%d of 5 trickle: finished %v after %v", n, r.finished, r.elapsed)
		}
	}
}

// Proves S15 and S16: a complete answer that was kept for lack of others and then trickles is replaced by a mirror that
// returns and serves ranges. The replacement happens only after that mirror has delivered bytes, because the complete
// answer would have to begin again.
func TestTrickleOfACompleteAnswer_S15_S16(t *testing.T) {
	for size := int64(9_500_000); size < 17e6; size += 50_000 {
		hosts := equal(2, 40, 40*ms)
		hosts[0].down = func(t time.Duration) bool { return t > 300*ms && t < 4*time.Second }
		hosts[1].norange, hosts[1].rate = true, trickle(2500*ms, 100)
		r := run(t, scenario{size: size, hosts: hosts, limit: time.Minute})
		if !r.finished || r.elapsed > 10*time.Second || r.requests[1] > 2 {
			t.Errorf("%d bytes: finished %v after %v, requests %v", size, r.finished, r.elapsed, r.requests)
		}
	}
}

// Proves S15 and S16: a source that answers with the whole file takes long to reach another offset, however fast it is,
// and it is not stopped while it is fast.
func TestNobodyWaitsForACompleteAnswer_S15_S16(t *testing.T) {
	for _, norange := range []bool{false, true} {
		p := play(t, Config{Size: mib})
		f := p.at(0, SourceAdded{ID: 0, Host: "origin:80", Rate: 1e6}).only()
		p.at(0, SourceAdded{ID: 1, Host: "m1:80", Rate: 1e6})
		for off := int64(0); off < mib-64<<10; off += 64 << 10 {
			p.at(20*ms, Progress{Fetch: f.ID, Range: byterange.Range{Start: off, End: off + 64<<10}})
		}
		p.s.mirrors.find(0).noRanges = norange
		if got := p.s.estimates.idles(p.s.mirrors.find(1), 1000); got != norange {
			t.Errorf("complete answer %v: idles says %v", norange, got)
		}
		if v := p.s.tail.victim(p.s.mirrors.find(1)); (v == nil) != norange {
			t.Errorf("complete answer %v: a part of %v is taken", norange, v)
		}
	}
}
