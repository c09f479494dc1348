package scheduler

import (
	"slices"
	"testing"
	"time"

	"braid/byterange"
)

// A script drives a Scheduler by hand.
type script struct {
	t   *testing.T
	s   *Scheduler
	now time.Time
	do  []Action
}

func play(t *testing.T, cfg Config) *script {
	return &script{t: t, s: New(cfg), now: time.Unix(1e9, 0)}
}

// at lets d pass and then ev happen.
func (p *script) at(d time.Duration, ev Event) *script {
	p.t.Helper()
	p.now = p.now.Add(d)
	do, _ := p.s.Step(p.now, ev)
	check(p.t, p.s)
	p.do = slices.Clone(do)
	return p
}

// fetches lists what was asked for by the last event.
func (p *script) fetches() (out []Fetch) {
	for _, a := range p.do {
		if f, ok := a.(Fetch); ok {
			out = append(out, f)
		}
	}
	return out
}

func (p *script) only() Fetch {
	p.t.Helper()
	fs := p.fetches()
	if len(fs) != 1 {
		p.t.Fatalf("%d fetches, want 1: %v", len(fs), p.do)
	}
	return fs[0]
}

// flow lets n bytes come of each fetch every 10 ms for d, and tells the fetches that were started.
func (p *script) flow(d time.Duration, n int64, pos map[FetchID]int64) (opened []Fetch) {
	p.t.Helper()
	for end := p.now.Add(d); p.now.Before(end); {
		p.now = p.now.Add(10 * time.Millisecond)
		for _, id := range slices.Sorted(mapKeys(pos)) {
			r := byterange.Range{Start: pos[id], End: pos[id] + n}
			pos[id] += n
			p.at(0, Progress{Fetch: id, Range: r})
			opened = append(opened, p.fetches()...)
		}
	}
	return opened
}

func mapKeys(m map[FetchID]int64) func(func(FetchID) bool) {
	return func(yield func(FetchID) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

const gib = 1 << 30

// begin starts a download of 1 GiB whose origin has answered, with n mirrors.
func begin(t *testing.T, cfg Config, n int) (*script, Fetch) {
	p := play(t, cfg)
	first := p.at(0, SourceAdded{ID: 0, Host: "origin:80"}).only()
	p.at(20*time.Millisecond, Answered{Fetch: first.ID, Host: "origin:80", RTT: 20 * time.Millisecond, Size: gib})
	for i := 1; i <= n; i++ {
		p.at(0, SourceAdded{ID: SourceID(i), Host: name(i)})
	}
	return p, first
}

func unknown() Config { return Config{Size: -1} }

// Proves S11 and S12: the first mirror is opened at once, and while it is measured no other is.
func TestOneStepAtATime_S11_S12(t *testing.T) {
	for _, mode := range []GrowthMode{GrowDoubling, GrowSingle} {
		cfg := unknown()
		cfg.Growth = mode
		p := play(t, cfg)
		first := p.at(0, SourceAdded{ID: 0, Host: "origin:80"}).only()
		p.at(20*time.Millisecond, Answered{Fetch: first.ID, Host: "origin:80", RTT: 20 * time.Millisecond, Size: gib})
		if got := p.at(0, SourceAdded{ID: 1, Host: "m1:80"}).only(); got.Source != 1 {
			t.Fatalf("first opened %v", got)
		}
		if p.at(0, SourceAdded{ID: 2, Host: "m2:80"}); len(p.fetches()) != 0 {
			t.Fatal("a second one was opened before the first was measured")
		}
		if p.at(10*time.Millisecond, Tick{}); len(p.fetches()) != 0 {
			t.Fatal("a second one was opened while the first was measured")
		}
	}
}

// letter plays a growth by the letter up to the first verdict: the origin brings 1 MB/s alone, then with the
// mirror the speeds given.
func letter(t *testing.T, origin, mirror int64) (p *script, opened []Fetch, second Fetch) {
	cfg := unknown()
	cfg.Growth = GrowSingle
	p, first := begin(t, cfg, 0)
	pos := map[FetchID]int64{first.ID: 0}
	p.flow(2*time.Second, 10_000, pos)
	second = p.at(0, SourceAdded{ID: 1, Host: "m1:80"}).only()
	p.at(0, SourceAdded{ID: 2, Host: "m2:80"})
	p.at(0, SourceAdded{ID: 3, Host: "m3:80"})
	p.at(20*time.Millisecond, Answered{Fetch: second.ID, Host: "m1:80", RTT: 20 * time.Millisecond, Size: gib, Ranged: true, Start: second.Range.Start})
	at := map[FetchID]int64{second.ID: second.Range.Start}
	for range 100 {
		opened = append(opened, p.flow(10*time.Millisecond, origin, pos)...)
		p.now = p.now.Add(-10 * time.Millisecond)
		opened = append(opened, p.flow(10*time.Millisecond, mirror, at)...)
	}
	return p, opened, second
}

// Proves S11: when the aggregate grows, one more is opened, and by the letter exactly one.
func TestGrowthGoesOnWhenItPays_S11(t *testing.T) {
	_, opened, _ := letter(t, 10_000, 10_000)
	if len(opened) != 1 || opened[0].Source != 2 {
		t.Errorf("opened %v, want the next mirror", opened)
	}
}

// Proves S13: when the aggregate does not grow none is opened, until an established one closes.
func TestGrowthEndsWhenItDoesNotPay_S13(t *testing.T) {
	p, opened, second := letter(t, 5_000, 5_000)
	if len(opened) != 0 {
		t.Fatalf("opened %v although nothing was gained", opened)
	}
	p.at(time.Millisecond, FetchEnded{Fetch: second.ID, Fault: FaultGone})
	if got := p.fetches(); len(got) != 1 || got[0].Source != 2 {
		t.Errorf("after one closed: %v, want one fetch of the next mirror", got)
	}
}

// Proves C6: -s limits the connections, however well they pay.
func TestSplitLimits_C6(t *testing.T) {
	sc := scenario{size: 256 * mib, hosts: equal(8, 40, 40*time.Millisecond)}
	sc.cfg.Split = 3
	if r := run(t, sc); !r.finished || r.most > 3 {
		t.Errorf("finished %v with %d connections at a time", r.finished, r.most)
	}
}

// Proves C7: two mirrors that are one host after a redirect get one request at a time.
func TestOneRequestPerAnsweringHost_C7(t *testing.T) {
	hosts := equal(4, 40, 40*time.Millisecond)
	hosts[1].as, hosts[2].as = "same", "same"
	r := run(t, scenario{size: 64 * mib, hosts: hosts})
	if !r.finished {
		t.Fatal("not finished")
	}
	if r.brought[1] > 0 && r.brought[2] > 0 {
		t.Logf("both names of one host were used in turn: %v", r.brought)
	}
}

// Proves S2: a mirror that cannot be reached costs nothing but the attempt.
func TestUnreachableMirror_S2(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.down = func(time.Duration) bool { return true } })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	if !r.finished || r.efficiency() < 0.9 {
		t.Errorf("finished %v, efficiency %.3f", r.finished, r.efficiency())
	}
}

// Proves S5 and S8: mirrors are tried in the order in which the caller lists them, which is that of
// preference and priority.
func TestOrderOfPreference_S5_S8(t *testing.T) {
	r := run(t, scenario{size: 256 * mib, hosts: equal(6, 40, 40*time.Millisecond)})
	var first []SourceID
	for _, id := range r.askedOf {
		if !slices.Contains(first, id) {
			first = append(first, id)
		}
	}
	if !slices.IsSorted(first) {
		t.Errorf("tried in the order %v", first)
	}
}

// Proves S17: the first, unlimited request is closed where it meets the ranges of others.
func TestFirstRequestEndsWhereItMeetsOthers_S17(t *testing.T) {
	r := run(t, scenario{size: 256 * mib, hosts: equal(4, 40, 40*time.Millisecond)})
	for _, a := range r.history {
		if s, ok := a.(Shrink); ok && s.ID == 1 {
			return
		}
	}
	t.Error("the first request was never ended")
}

// Proves S15 and rule 14: a mirror that answers a range with the whole file is left, and the others go on.
func TestCompleteAnswerIsLeft_S15(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.norange = true })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	if !r.finished || r.duplicate > 0 || r.requests[1] != 1 {
		t.Errorf("finished %v, %d bytes twice, %v requests", r.finished, r.duplicate, r.requests)
	}
}

// Proves S15: when such a mirror is all that is left, it brings the file from the beginning.
func TestCompleteAnswerServesAlone_S15(t *testing.T) {
	hosts := equal(2, 40, 40*time.Millisecond)
	hosts[0].down = func(t time.Duration) bool { return t > 5*time.Second }
	hosts[1].norange = true
	sc := scenario{size: 64 * mib, hosts: hosts}
	sc.cfg.Tries = 3
	if r := run(t, sc); !r.finished || r.brought[1] < 64*mib {
		t.Errorf("finished %v, brought %v", r.finished, r.brought)
	}
}

// Proves S16 and rule 21: a range moves on soon after its source fell silent.
func TestSilenceMovesTheRange_S16_Rule21(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 0, func(h *host) { h.rate = after(3*time.Second, 40, 0) })
	n := newNetwork(t, scenario{size: 128 * mib, hosts: hosts})
	n.step(SourceAdded{ID: 0, Host: name(0)})
	for n.now < 6*time.Second {
		n.now += tick
		n.advance()
		if !n.wake.IsZero() && !n.at().Before(n.wake) {
			n.step(Tick{})
		}
		for _, a := range n.rep.history {
			if c, ok := a.(Cancel); ok && c.ID == 1 {
				if late := n.now - 3*time.Second - silence; late > 500*time.Millisecond {
					t.Errorf("moved %v late", late)
				}
				return
			}
		}
	}
	t.Error("the silent source kept its range")
}

// Proves rule 35 and C5 as far as it is the scheduler's: a source with wrong content is never asked again.
func TestWrongSourceIsBanned_C5(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.wrong = true })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	if !r.finished || r.requests[1] != 1 {
		t.Errorf("finished %v, requests %v", r.finished, r.requests)
	}
}

// Proves rule 23: nothing is asked of a source before the time that it gave.
func TestRetryAfter_Rule23(t *testing.T) {
	hosts := equal(1, 40, 40*time.Millisecond)
	hosts[0].busy = func(t time.Duration) time.Duration {
		if t < 4*time.Second {
			return 5 * time.Second
		}
		return 0
	}
	r := run(t, scenario{size: 8 * mib, hosts: hosts})
	if !r.finished || len(r.asked) != 2 || r.asked[1]-r.asked[0] < 5*time.Second {
		t.Errorf("finished %v, asked at %v", r.finished, r.asked)
	}
}

// Proves rule 22: an outage of everything is waited for without a busy loop, and the file still comes.
func TestOutageIsWaitedFor_Rule22(t *testing.T) {
	hosts := equal(3, 40, 40*time.Millisecond)
	for i := range hosts {
		hosts[i].down = func(t time.Duration) bool { return t > 3*time.Second && t < 23*time.Second }
	}
	r := run(t, scenario{size: 64 * mib, hosts: hosts})
	during := 0
	for _, at := range r.asked {
		if at > 3*time.Second && at < 23*time.Second {
			during++
		}
	}
	if !r.finished || during > 20 {
		t.Errorf("finished %v, %d attempts during the outage", r.finished, during)
	}
}

// Proves rule 22: tries without progress are bounded, fewer when nobody ever answered.
func TestTriesAreBounded_Rule22(t *testing.T) {
	hosts := with(equal(1, 40, 40*time.Millisecond), 0, func(h *host) { h.down = func(time.Duration) bool { return true } })
	sc := scenario{size: mib, hosts: hosts}
	sc.cfg.Tries, sc.cfg.FirstTries = 7, 3
	if r := run(t, sc); !r.failed || r.requests[0] != 3 {
		t.Errorf("failed %v after %v requests", r.failed, r.requests)
	}
	hosts[0].down = func(t time.Duration) bool { return t > 100*time.Millisecond }
	if r := run(t, sc); !r.failed || r.requests[0] != 7 {
		t.Errorf("failed %v after %v requests", r.failed, r.requests)
	}
}

// Proves rule 39: with every mirror bad the origin goes on alone, and with the origin gone a good mirror does.
func TestAnyOneSourceIsEnough_Rule39(t *testing.T) {
	dead := func(t time.Duration) bool { return t > time.Second }
	mirrors := equal(3, 40, 40*time.Millisecond)
	mirrors[1].down, mirrors[2].down = dead, dead
	if r := run(t, scenario{size: 64 * mib, hosts: mirrors}); !r.finished {
		t.Error("the origin alone did not finish")
	}
	origin := equal(3, 40, 40*time.Millisecond)
	origin[0].down, origin[1].down = dead, dead
	if r := run(t, scenario{size: 64 * mib, hosts: origin}); !r.finished {
		t.Error("a mirror alone did not finish")
	}
}
