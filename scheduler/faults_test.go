package scheduler

import (
	"slices"
	"testing"
	"time"
)

// Proves S2: a mirror that cannot be reached costs only the attempt.
func TestUnreachableMirror_S2(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.down = func(time.Duration) bool { return true } })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	if !r.finished || r.efficiency() < 0.9 {
		t.Errorf("finished %v, efficiency %.3f", r.finished, r.efficiency())
	}
}

// Proves S5 and S8: mirrors are tried in the order of the caller's list, which is that of preference and priority.
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

// Proves S5: known speeds take precedence over the order of the list, both for mirrors to be opened and for mirrors
// that wait for work.
func TestSpeedOverridesPreference_S5(t *testing.T) {
	sc := scenario{size: 64 * mib, hosts: equal(5, 40, 40*time.Millisecond)}
	sc.hints = func(id SourceID) (Speed, bool) { return Speed{Rate: 5e6, RTT: 40 * ms}, id == 3 }
	r := run(t, sc)
	if i := slices.IndexFunc(r.askedOf, func(id SourceID) bool { return id != 0 }); i < 0 || r.askedOf[i] != 3 {
		t.Errorf("asked %v, want the one of known speed before the others", r.askedOf)
	}
	slow, fast := opened(1, 1e6), opened(1, 2e6)
	slow.becomeClosed()
	fast.becomeClosed()
	if !preferred(fast, slow) || preferred(slow, fast) {
		t.Error("of two that were tried the slower one comes first")
	}
}

// Proves S17: the first, unlimited request is closed where it meets the ranges of others.
func TestFirstRequestEndsWhereItMeetsOthers_S17(t *testing.T) {
	r := run(t, scenario{size: 256 * mib, hosts: equal(4, 40, 40*time.Millisecond)})
	for _, a := range r.history {
		if s, ok := a.(Shrink); ok && s.ID == 1 && s.Why == ReasonMet {
			return
		}
	}
	t.Error("the first request was not ended where it met others")
}

// Proves S15 and rule 14: a mirror that answers a range with the whole file is dropped, and the others continue.
func TestCompleteAnswerIsLeft_S15(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.norange = true })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	if !r.finished || r.duplicate > 0 || r.requests[1] != 1 {
		t.Errorf("finished %v, %d bytes twice, %v requests", r.finished, r.duplicate, r.requests)
	}
}

// Proves S15: if such a mirror is the only one left, it delivers the file from the beginning.
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

// Proves S15: a source without ranges that was interrupted does not keep a place that another one needs.
func TestCompleteAnswerLeavesItsPlace_S15(t *testing.T) {
	hosts := equal(3, 40, 40*time.Millisecond)
	hosts[0].down = from(time.Second)
	hosts[1].norange, hosts[1].cut = true, 16*mib
	sc := scenario{size: 64 * mib, hosts: hosts, cfg: Config{Split: 1}}
	sc.hints = func(id SourceID) (Speed, bool) { return Speed{Rate: 1e9, RTT: 40 * ms}, id == 1 } // seems faster
	if r := run(t, sc); !r.finished || r.brought[2] < 32*mib {
		t.Errorf("finished %v, brought %v", r.finished, r.brought)
	}
}

// Proves S16 and rule 21: the range of a silent source is soon assigned to another one.
func TestSilenceMovesTheRange_S16_Rule21(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 0, func(h *host) { h.rate = after(3*time.Second, 40, 0) })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	silent := false
	for i, a := range r.history {
		switch a := a.(type) {
		case Cancel:
			if a.ID == 1 {
				if r.at[i] < 4900*time.Millisecond || r.at[i] > 5500*time.Millisecond {
					t.Errorf("cancelled at %v, want two seconds after 3 s", r.at[i])
				}
				silent = true
			}
		case Fetch:
			if silent && a.Source != 0 && a.Range.Start < 3*int64(mbit(40)) {
				return
			}
		}
	}
	t.Error("nobody else got the range of the silent source")
}

// Proves rule 21: a source that no other can replace may be silent for 30 s.
func TestSilenceAlone_Rule21(t *testing.T) {
	hosts := with(equal(1, 40, 40*time.Millisecond), 0, func(h *host) {
		h.rate = func(t time.Duration) float64 {
			if t > 3*time.Second && t < 34*time.Second {
				return 0
			}
			return mbit(40)
		}
	})
	r := run(t, scenario{size: 64 * mib, hosts: hosts})
	for i, a := range r.history {
		if _, ok := a.(Cancel); ok && r.finished {
			if r.at[i] < 33*time.Second || r.at[i] > 34*time.Second {
				t.Errorf("cancelled at %v", r.at[i])
			}
			return
		}
	}
	t.Errorf("finished %v, history %v", r.finished, r.history)
}

// Proves S16: a source whose speed collapses keeps only what it can deliver in reasonable time.
func TestCollapseLightens_S16(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.rate = after(3*time.Second, 40, 0.4) })
	r := run(t, scenario{size: 512 * mib, hosts: hosts})
	of := map[FetchID]SourceID{}
	for i, a := range r.history {
		switch a := a.(type) {
		case Fetch:
			of[a.ID] = a.Source
		case Shrink:
			if of[a.ID] == 1 && r.at[i] > 3*time.Second && r.at[i] < 8*time.Second {
				return
			}
		}
	}
	t.Error("the collapsed source kept its whole range")
}

// Proves the scheduler's part of rule 35 and C5: a source with wrong content is never asked again.
func TestWrongSourceIsBanned_C5(t *testing.T) {
	hosts := with(equal(3, 40, 40*time.Millisecond), 1, func(h *host) { h.wrong = true })
	r := run(t, scenario{size: 128 * mib, hosts: hosts})
	if !r.finished || r.requests[1] != 1 {
		t.Errorf("finished %v, requests %v", r.finished, r.requests)
	}
}

// Proves rule 23: a source is not asked before its Retry-After time.
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

// Proves rule 66: a source that is held is not asked before its time, and being held is no failure, however often it
// happens.
func TestHeldIsNoFailure_Rule66(t *testing.T) {
	s, now := New(Config{Size: mib, Tries: 1}), time.Unix(0, 0)
	do, _ := s.Step(now, SourceAdded{ID: 0, Host: "a:80"})
	for i := range 50 {
		if len(do) != 1 {
			t.Fatalf("time %d: %v", i, do)
		}
		var wake time.Time
		do, wake = s.Step(now, FetchEnded{Fetch: do[0].(Fetch).ID, Fault: FaultHeld, After: 5 * time.Second})
		if len(do) > 0 || wake.Sub(now) > 5*time.Second {
			t.Fatalf("time %d: %v until %v", i, do, wake)
		}
		if do, _ = s.Step(now.Add(4999*time.Millisecond), Tick{}); len(do) > 0 {
			t.Fatalf("before its turn: %v", do)
		}
		now = now.Add(5 * time.Second)
		do, _ = s.Step(now, Tick{})
	}
	// Another source takes the work meanwhile.
	s.Step(now, FetchEnded{Fetch: do[0].(Fetch).ID, Fault: FaultHeld, After: 5 * time.Second})
	if do, _ = s.Step(now, SourceAdded{ID: 1, Host: "b:80"}); len(do) != 1 || do[0].(Fetch).Source != 1 {
		t.Errorf("%v", do)
	}
}

// Proves rule 22: an outage of all sources is waited for without a busy loop, and the file is still downloaded.
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

// Proves rule 22: attempts without progress are limited, and fewer if no source ever answered.
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

// Proves rule 22: the pauses are 1 s, then twice as long each time, and never longer than 30 s.
func TestPausesDouble_Rule22(t *testing.T) {
	s, m := New(Config{Size: mib}), &mirror{}
	s.clock.now = time.Unix(0, 0)
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30} {
		s.judge.backOff(m, 0)
		if got := m.until.Sub(s.clock.now); got != want*time.Second {
			t.Errorf("after %d failures a pause of %v, want %v", m.fails, got, want*time.Second)
		}
	}
}

// Proves rule 39: the origin continues alone if every mirror is bad, and a good mirror if the origin is gone.
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

// Proves rule 22: bytes that were present already are no progress, so a source that always fails at the same byte ends
// the download after --tries.
func TestBreakingOffAtTheSameByte_Rule22(t *testing.T) {
	hosts := with(equal(1, 40, 40*time.Millisecond), 0, func(h *host) { h.norange, h.cut = true, mib })
	if r := run(t, scenario{size: 8 * mib, hosts: hosts}); !r.failed || r.requests[0] > 22 {
		t.Errorf("failed %v after %v requests", r.failed, r.requests)
	}
}

// Proves rule 22: the count of failures is reset by any progress.
func TestProgressResetsTries_Rule22(t *testing.T) {
	hosts := with(equal(1, 40, 40*time.Millisecond), 0, func(h *host) { h.cut = 100 << 10 })
	sc := scenario{size: 8 * mib, hosts: hosts}
	sc.cfg.RetryWait = time.Millisecond
	if r := run(t, sc); !r.finished || r.requests[0] < 80 {
		t.Errorf("finished %v after %v requests", r.finished, r.requests)
	}
}

// Proves S15: a complete answer is kept if it will finish before the others.
func TestCompleteAnswerIsKeptWhenSooner_S15(t *testing.T) {
	for _, tt := range []struct {
		rate float64 // remembered, bytes a second
		kept bool
	}{{50e6, true}, {0.5e6, false}, {0, false}} {
		p := play(t, unknown())
		first := p.at(0, SourceAdded{ID: 0, Host: "origin:80", Rate: 1e6}).only()
		p.at(20*time.Millisecond, Answered{Fetch: first.ID, Host: "origin:80", RTT: 20 * time.Millisecond, Size: gib})
		second := p.at(0, SourceAdded{ID: 1, Host: "m1:80", Rate: tt.rate}).only()
		p.at(20*time.Millisecond, Answered{Fetch: second.ID, Host: "m1:80", Size: gib, Ranged: false})
		f := p.s.requests.byID[second.ID]
		if f.ending == tt.kept {
			t.Errorf("rate %v: ending %v", tt.rate, f.ending)
		}
	}
}

// Proves S13 for steps that double: after a single connection that did not pay, none is opened until one closes.
func TestDoublingEndsToo_S13(t *testing.T) {
	p, opened, _ := letter(t, 0, 5_000, 5_000)
	if len(opened) != 0 {
		t.Fatalf("opened %v although nothing was gained", opened)
	}
	p.at(time.Second, Tick{})
	if got := p.fetches(); len(got) != 0 {
		t.Errorf("later opened %v", got)
	}
}

// A lost packet delays the bytes behind it. At the end, if these are all that is missing, a free source fetches them,
// although the first source is not silent for long enough to be closed.
func TestWhatHangsAtTheEndIsTaken(t *testing.T) {
	hosts := equal(2, 40, 40*time.Millisecond)
	hosts[1].rate = func(t time.Duration) float64 {
		if t > 1600*time.Millisecond && t < 3400*time.Millisecond {
			return 0
		}
		return mbit(40)
	}
	r := run(t, scenario{size: 16 * mib, hosts: hosts})
	if !r.finished || r.elapsed > 2800*time.Millisecond || r.duplicate > mib/4 {
		t.Errorf("finished %v after %v, %d bytes twice", r.finished, r.elapsed, r.duplicate)
	}
}
