package scheduler

import (
	"testing"
	"time"
)

// Remembered speeds determine how many sources are opened at once, and which.
func TestRememberedSourcesStartTogether(t *testing.T) {
	for _, tt := range []struct {
		name      string
		aggregate float64
		want      []SourceID
	}{
		{"all of them", 0, []SourceID{3, 1, 2}},
		{"as far as they add up", 7e6, []SourceID{3, 1}},
		{"the fastest is enough", 5e6, []SourceID{3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, Config{Size: -1, Aggregate: tt.aggregate})
			p.at(0, SourceAdded{ID: 0, Host: "origin", Rate: 1e6})
			f := p.only()
			p.at(40*time.Millisecond, Answered{Fetch: f.ID, Host: "origin", RTT: 40 * time.Millisecond, Size: gib})
			p.s.Step(p.now, SourceAdded{ID: 1, Host: "a", Rate: 2e6})
			p.s.Step(p.now, SourceAdded{ID: 2, Host: "b", Rate: 1e6})
			p.s.Step(p.now, SourceAdded{ID: 3, Host: "c", Rate: 4e6})
			p.at(0, SourceAdded{ID: 4, Host: "unknown"})
			var got []SourceID
			for _, f := range p.fetches() {
				got = append(got, f.Source)
				if f.Why != ReasonRemembered {
					t.Errorf("source %d is opened for the reason %q", f.Source, f.Why)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("opened %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("opened %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// A speed is remembered only if it was observed for a second, not the first burst.
func TestSpeeds(t *testing.T) {
	r := run(t, scenario{size: 96 * mib, hosts: uneven()})
	if !r.finished {
		t.Fatal("not finished")
	}
	want := []float64{20, 5, 80, 2, 40, 10}
	if len(r.speeds) != len(want) {
		t.Fatalf("speeds of %d sources: %v", len(r.speeds), r.speeds)
	}
	for i, s := range r.speeds {
		if s.Rate < 0.8*mbit(want[i]) || s.Rate > 1.1*mbit(want[i]) {
			t.Errorf("source %d: %.0f bytes/s, it has %.0f", i, s.Rate, mbit(want[i]))
		}
		if s.RTT != r.sc.hosts[i].rtt {
			t.Errorf("source %d: RTT %v", i, s.RTT)
		}
	}
	if sum := mbit(157); r.peak < 0.8*sum || r.peak > 1.1*sum {
		t.Errorf("peak %.0f, all have %.0f", r.peak, sum)
	}
}

// A remembered fast source that does not answer any more is not used first in the next download.
func TestSpeedsOfTheDead(t *testing.T) {
	hosts := with(equal(3, 40, 40*ms), 1, func(h *host) { h.down = always })
	sc := scenario{size: 64 * mib, hosts: hosts}
	sc.hints = func(id SourceID) (Speed, bool) { return Speed{Rate: mbit(80), RTT: 40 * ms}, id == 1 }
	for _, s := range run(t, sc).speeds {
		if s.Source == 1 && s.Rate == 0 {
			return
		}
	}
	t.Error("it is still remembered as fast")
}
