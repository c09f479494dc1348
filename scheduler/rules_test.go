package scheduler

import (
	"slices"
	"testing"
	"time"

	"braid/byterange"
)

// script controls a Scheduler step by step.
type script struct {
	t   *testing.T
	s   *Scheduler
	now time.Time
	do  []Action
}

func play(t *testing.T, cfg Config) *script {
	return &script{t: t, s: New(cfg), now: time.Unix(1e9, 0)}
}

// at advances the time by d and sends ev.
func (p *script) at(d time.Duration, ev Event) *script {
	p.t.Helper()
	p.now = p.now.Add(d)
	do, wake := p.s.Step(p.now, ev)
	verify(p.t, p.s, false)
	p.do = slices.Clone(do)
	if wake.Equal(p.now) {
		do, _ = p.s.Step(p.now, Tick{})
		verify(p.t, p.s, false)
		p.do = append(p.do, do...)
	}
	return p
}

// fetches returns the fetches that the last event started.
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

// flow delivers n bytes of each fetch every 10 ms for d, and returns the fetches that were started.
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

// begin starts a download of 1 GiB with n mirrors, whose origin has answered.
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

// Proves S11 and S12: the first mirror is opened at once, and no other while it is measured.
func TestOneStepAtATime_S11_S12(t *testing.T) {
	for _, mode := range []GrowthMode{0, GrowSingle} {
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

// letter plays a growth up to the first verdict: the origin delivers 1 MB/s alone, and then both deliver the given
// speeds.
func letter(t *testing.T, mode GrowthMode, origin, mirror int64) (p *script, opened []Fetch, second Fetch) {
	cfg := unknown()
	cfg.Growth = mode
	p, first := begin(t, cfg, 0)
	pos := map[FetchID]int64{first.ID: 0}
	p.flow(2*time.Second, 10_000, pos)
	second = p.at(0, SourceAdded{ID: 1, Host: "m1:80"}).only()
	p.at(0, SourceAdded{ID: 2, Host: "m2:80"})
	p.at(0, SourceAdded{ID: 3, Host: "m3:80"})
	p.at(20*time.Millisecond, Answered{Fetch: second.ID, Host: "m1:80", RTT: 20 * time.Millisecond, Size: gib, Ranged: true})
	at := map[FetchID]int64{second.ID: second.Range.Start}
	for range 100 {
		opened = append(opened, p.flow(10*time.Millisecond, origin, pos)...)
		p.now = p.now.Add(-10 * time.Millisecond)
		opened = append(opened, p.flow(10*time.Millisecond, mirror, at)...)
	}
	return p, opened, second
}

// Proves S11: when the total speed grows, one more is opened, and exactly one with GrowSingle.
func TestGrowthGoesOnWhenItPays_C6_S11(t *testing.T) {
	_, opened, _ := letter(t, GrowSingle, 10_000, 10_000)
	if len(opened) != 1 || opened[0].Source != 2 {
		t.Errorf("opened %v, want the next mirror", opened)
	}
}

// Proves S13: when the total speed does not grow, none is opened until an established one closes.
func TestGrowthEndsWhenItDoesNotPay_C6_S11_S13(t *testing.T) {
	p, opened, second := letter(t, GrowSingle, 5_000, 5_000)
	if len(opened) != 0 {
		t.Fatalf("opened %v although nothing was gained", opened)
	}
	p.at(time.Millisecond, FetchEnded{Fetch: second.ID, Fault: FaultGone})
	if got := p.fetches(); len(got) != 1 || got[0].Source != 2 {
		t.Errorf("after one closed: %v, want one fetch of the next mirror", got)
	}
}

// Proves C6: -s limits the connections, however much they would add.
func TestSplitLimits_C6(t *testing.T) {
	sc := scenario{size: 256 * mib, hosts: equal(8, 40, 40*time.Millisecond)}
	sc.cfg.Split = 3
	if r := run(t, sc); !r.finished || r.most > 3 {
		t.Errorf("finished %v with %d connections at a time", r.finished, r.most)
	}
}

// Proves C7: two mirrors that lead to one host after a redirect get one request at a time, and the place of the second
// is free for another one.
func TestOneRequestPerAnsweringHost_C7(t *testing.T) {
	hosts := equal(4, 40, 40*time.Millisecond)
	hosts[1].as, hosts[2].as = "same", "same"
	sc := scenario{size: 128 * mib, hosts: hosts}
	sc.cfg.Split = 3
	r := run(t, sc)
	if !r.finished || r.brought[3] < 16*mib {
		t.Errorf("finished %v, brought %v: the last mirror was not used", r.finished, r.brought)
	}
}

// Proves C7 and rule 38: while a cancelled request has not ended, no other name of its host is asked.
func TestEndingRequestCountsForItsHost_C7_Rule38(t *testing.T) {
	p, first := begin(t, unknown(), 0)
	p.at(0, SourceAdded{ID: 1, Host: "origin:80"})
	for range 600 { // the origin is silent, and its other name is free
		p.at(10*time.Millisecond, Tick{})
		if len(p.fetches()) > 0 {
			t.Fatalf("%v was asked while %v had not ended", p.fetches(), first)
		}
		if f := p.s.requests.byID[first.ID]; !f.ending {
			p.s.requests.cancel(f, ReasonSilent)
		}
	}
	if p.at(0, FetchEnded{Fetch: first.ID}); len(p.fetches()) != 1 {
		t.Errorf("afterwards: %v, want one", p.fetches())
	}
}

// Proves rule 38: a cancelled request counts until it has ended.
func TestEndingRequestCounts_Rule38(t *testing.T) {
	p, first := begin(t, unknown(), 1)
	mirror := p.s.requests.running[1]
	p.at(20*time.Millisecond, Answered{Fetch: mirror.id, Host: name(1), RTT: 20 * time.Millisecond, Size: gib, Ranged: true})
	pos := map[FetchID]int64{mirror.id: mirror.pos}
	cancelled := false
	for range 600 { // the origin is silent
		p.flow(10*time.Millisecond, 10_000, pos)
		cancelled = cancelled || p.s.requests.byID[first.ID].ending
		for _, f := range p.fetches() {
			if f.Source == 0 {
				t.Fatalf("the origin was asked again while %v had not ended", first)
			}
		}
	}
	if !cancelled {
		t.Fatal("the silent request was not ended")
	}
	p.at(0, FetchEnded{Fetch: first.ID})
	p.flow(time.Second, 10_000, pos)
	if p.s.mirrors.find(0).running == nil {
		t.Error("the origin was not asked again")
	}
}
