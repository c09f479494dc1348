package scheduler

import (
	"testing"
	"time"
)

// Every transition, from every state in which it can occur, has the result that its comment describes.
func TestMirrorTransitions(t *testing.T) {
	states := []state{stateUntried, statePlanned, stateOpen, stateClosed, stateGone, stateBanned}
	for name, tt := range map[string]struct {
		become func(*mirror)
		leaves [6]state // by the state before
	}{
		"untried": {(*mirror).becomeUntried, [6]state{stateUntried, stateUntried, stateOpen, stateClosed, stateGone,
			stateBanned}},
		"closed": {(*mirror).becomeClosed, [6]state{stateUntried, statePlanned, stateClosed, stateClosed, stateGone,
			stateBanned}},
		"gone": {(*mirror).becomeGone, [6]state{stateGone, stateGone, stateGone, stateGone, stateGone, stateBanned}},
		"banned": {(*mirror).becomeBanned, [6]state{stateBanned, stateBanned, stateBanned, stateBanned, stateBanned,
			stateBanned}},
		"failed": {(*mirror).failed, [6]state{stateUntried, statePlanned, stateClosed, stateClosed, stateGone, stateBanned}},
	} {
		for i, before := range states {
			m := &mirror{state: before}
			if tt.become(m); m.state != tt.leaves[i] {
				t.Errorf("%s: from state %d to %d, want %d", name, before, m.state, tt.leaves[i])
			}
		}
	}
	for _, s := range states {
		m := &mirror{state: s}
		if m.open() != (s == stateOpen) || m.tried() != (s >= stateOpen) || m.gone() != (s == stateGone || s == stateBanned) {
			t.Errorf("state %d: open %v, tried %v, gone %v", s, m.open(), m.tried(), m.gone())
		}
	}
}

// The remembered speed of a mirror that sends wrong bytes is no hint for others; a measured speed is.
func TestBannedMirrorIsNoHint(t *testing.T) {
	remembered, measured := &mirror{path: path{speed: 9e6}}, opened(1, 4e6)
	remembered.becomeBanned()
	measured.becomeBanned()
	if got := (mirrors{remembered, measured}).guess(); got != 4e6 {
		t.Errorf("a mirror of unknown speed is taken for %v bytes a second", got)
	}
}

// A failure is forgiven after enough bytes, silence is worse than a failure, and the count of failures is reset by any
// progress.
func TestMirrorTrust(t *testing.T) {
	m := opened(1, 1e6)
	m.failed()
	m.fellSilent()
	m.heldUp()
	m.failed()
	if m.trust != silenced || !m.doubtful() || m.fails != 2 || m.open() {
		t.Errorf("after two failures: %+v", m.trust)
	}
	m.progressed()
	if m.fails != 0 || m.trust != silenced || !m.slowTail {
		t.Errorf("after some bytes: %d failures, trust %d, slow tail %v", m.fails, m.trust, m.slowTail)
	}
	if m.proved(); m.doubtful() || m.slowTail {
		t.Errorf("after enough: trust %d, slow tail %v", m.trust, m.slowTail)
	}
}

// A mirror that had not answered when its step was judged is not counted until it has delivered bytes.
func TestLateMirrors(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, tt := range []struct {
		joined, late, brought, verdict, want bool
	}{
		{joined: true, verdict: true, want: true},
		{joined: true, verdict: false, want: false},
		{late: true, want: true},
		{late: true, brought: true, want: false},
		{late: true, brought: true, verdict: true, want: false},
		{joined: true, late: true, brought: true, verdict: true, want: true},
		{joined: true, late: true, want: true},
		{verdict: true, want: false},
	} {
		m := opened(1, 0)
		m.joined, m.late = tt.joined, tt.late
		if tt.brought {
			m.meter.add(now, 1)
		}
		if m.settle(tt.verdict); m.late != tt.want || m.joined {
			t.Errorf("%+v: late %v, joined %v", tt, m.late, m.joined)
		}
	}
}
