package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// judging returns the judge of a file of a gibibyte and its mirrors.
func judging(cfg Config, ms ...*mirror) *judge {
	cfg = cfg.withDefaults()
	q, g, do := newRequests(gib)
	q.perHost = cfg.PerHost
	all := mirrors(ms)
	e := &estimates{clock: q.clock, mirrors: &all, ranges: g, requests: q}
	c := &checks{clock: q.clock, actions: do, mirrors: &all, ranges: g, requests: q}
	a := &assignment{cfg: cfg, clock: q.clock, mirrors: &all, ranges: g, requests: q, pieces: &c.pieces, estimates: e}
	return &judge{cfg: cfg, clock: q.clock, mirrors: &all, ranges: g, requests: q, estimates: e, assignment: a}
}

// The pause after a failure doubles up to its limit, and a mirror that never works is given up: sooner while no mirror
// has answered.
func TestBackOff(t *testing.T) {
	for _, answered := range []bool{false, true} {
		m := opened(1, 1)
		j := judging(Config{Tries: 8, FirstTries: 3}, m)
		j.answered = answered
		tries := 3
		if answered {
			tries = 8
		}
		for n, wait := 1, time.Second; n < tries; n, wait = n+1, min(2*wait, retryMax) {
			if j.backOff(m, 0); m.gone() || m.open() || m.until.Sub(j.clock.now) != wait {
				t.Fatalf("failure %d, answered %v: state %d, pause %v", n, answered, m.state, m.until.Sub(j.clock.now))
			}
		}
		if j.backOff(m, 0); !m.gone() {
			t.Errorf("after %d failures, answered %v, it is not given up", tries, answered)
		}
	}
	m := opened(1, 1)
	j := judging(Config{}, m)
	if j.backOff(m, time.Hour); m.until.Sub(j.clock.now) != time.Hour {
		t.Errorf("it asked for an hour, and got %v", m.until.Sub(j.clock.now))
	}
}

// A request that receives nothing ends after two seconds if another mirror can take over, and otherwise much later.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		other  bool
		quiet  time.Duration
		cancel bool
	}{
		{"not for long", true, silence - 1, false},
		{"another is free", true, silence, true},
		{"it is alone", false, silence, false},
		{"it is alone for too long", false, 30 * time.Second, true},
	} {
		m, o := opened(1, 1), opened(1, 1)
		m.host, o.host = "m", "o"
		if !tt.other {
			o.becomeGone()
		}
		j := judging(Config{}, m, o)
		j.requests.start(m, byterange.Range{Start: 0, End: mib}, false, ReasonNext)
		m.running.heard(j.clock.now.Add(-tt.quiet))
		if j.review(); m.running.ending != tt.cancel || tt.cancel && (m.open() || m.trust != silenced) {
			t.Errorf("%s: cancelled %v, state %d, trust %d", tt.name, m.running.ending, m.state, m.trust)
		}
	}
}

// A mirror that ignores ranges is kept if there is no other.
func TestAnswerWithTheWholeFile(t *testing.T) {
	for _, alone := range []bool{true, false} {
		m, o := opened(1, 1), newMirror(SourceAdded{ID: 1}, time.Unix(1e9, 0))
		if alone {
			o.becomeGone()
		}
		j := judging(Config{}, m, o)
		j.requests.start(m, byterange.Range{Start: mib, End: 2 * mib}, false, ReasonNext)
		f := m.running
		j.completeAnswer(f)
		if !m.noRanges || f.ending == alone || m.open() != alone {
			t.Errorf("alone %v: ended %v, state %d", alone, f.ending, m.state)
		}
		if alone && (f.pos != 0 || !f.toEnd || !f.whole) {
			t.Errorf("it continues at %d", f.pos)
		}
		if j.ranges.busy(byterange.Range{Start: 0, End: gib}) {
			t.Error("the range that was asked for is still reserved")
		}
	}
}
