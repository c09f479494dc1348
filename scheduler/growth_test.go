package scheduler

import (
	"testing"
	"time"
)

// Proves C6 and S11: the verdicts on a step that began when the others delivered 10 MB/s.
func TestVerdicts_C6_S11(t *testing.T) {
	begin := time.Unix(1e9, 0)
	for _, tt := range []struct {
		name    string
		mode    GrowthMode
		careful bool
		after   time.Duration
		s       sample
		want    verdict
	}{
		{"too early", 0, false, 50 * ms, sample{incumbent: 10, newcomer: 10, answered: true, ripe: true}, undecided},
		{"all of it is gain", 0, false, 150 * ms, sample{incumbent: 10, newcomer: 4, answered: true}, pays},
		{"less than half is gain, and they are young", 0, false, 150 * ms, sample{incumbent: 7, newcomer: 5,
			answered: true}, undecided},
		{"less than half is gain, and they are past slow start", 0, false, 150 * ms, sample{incumbent: 8, newcomer: 4,
			answered: true, ripe: true}, pays},
		{"little is gain", 0, false, 150 * ms, sample{incumbent: 7, newcomer: 4, answered: true, ripe: true}, doesNotPay},
		{"gain, with time to look", 0, true, 150 * ms, sample{incumbent: 10, newcomer: 4, answered: true}, undecided},
		{"no answer", 0, false, 150 * ms, sample{incumbent: 10}, tooLate},
		{"no answer, one at a time", GrowSingle, false, 150 * ms, sample{incumbent: 10}, undecided},
	} {
		g := newGrowth(tt.mode, 16)
		g.careful = tt.careful
		g.dial(begin, 1, 10, nil)
		tt.s.rtt = 40 * ms
		if got := g.judge(begin.Add(tt.after), tt.s); got != tt.want {
			t.Errorf("%s: verdict %d, want %d", tt.name, got, tt.want)
		}
	}
}

// Proves S11 to S13: steps of 1, 2, 4 as long as they pay, none while one is measured, and none after a single
// connection that did not pay.
func TestSteps_S11_S12_S13(t *testing.T) {
	now, g := time.Unix(1e9, 0), newGrowth(0, 16)
	good := sample{incumbent: 10, newcomer: 10}
	for _, want := range []int{1, 2, 4, 4} {
		open := g.allowed
		if k := g.more(open, 0); k != want {
			t.Fatalf("%d more beside %d, want %d", k, open, want)
		}
		m := opened(1, 0)
		g.dial(now, want, 10, []*mirror{m})
		if !m.joined || g.more(g.allowed, 0) != 0 {
			t.Fatal("a step is measured, and more may be opened")
		}
		if cut := g.conclude(pays, good); cut != 0 {
			t.Fatalf("%d are closed of a step that pays", cut)
		}
	}
	g.dial(now, 4, 10, nil)
	allowed := g.allowed
	if cut := g.conclude(doesNotPay, sample{incumbent: 8, newcomer: 4}); cut != 2 || g.allowed != allowed-2 || g.ended {
		t.Fatalf("half of what 4 newcomers bring is gain: %d are closed, %d of %d stay, ended %v", cut, g.allowed,
			allowed, g.ended)
	}
	g.dial(now, 1, 10, nil)
	if g.conclude(doesNotPay, sample{incumbent: 8, newcomer: 2}); !g.ended || !g.full || g.more(g.allowed, 0) != 0 {
		t.Errorf("after a single one that did not pay: ended %v, %d more", g.ended, g.more(g.allowed, 0))
	}
	if g.more(g.allowed-1, 0) != 1 { // an established one closed
		t.Error("its place is for none")
	}
	if g.restart(); g.more(g.allowed, 0) != 1 {
		t.Errorf("anew: %d more", g.more(g.allowed, 0))
	}
}

// If some connections have not answered, the next ones are added singly. A step whose connections all failed has no
// effect.
func TestStepsAfterStragglers(t *testing.T) {
	g := newGrowth(0, 16)
	g.step = 4
	for late, want := range []int{4, 3, 2, 1, 1, 1} {
		if got := g.more(1, late); got != want {
			t.Errorf("%d late: %d more, want %d", late, got, want)
		}
	}
	g.dial(time.Unix(1e9, 0), 4, 10, nil)
	if g.moot(); g.allowed != 1 || g.measuring {
		t.Errorf("%d are allowed after a step that came to nothing", g.allowed)
	}
}
