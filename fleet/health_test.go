package fleet

import (
	"testing"
	"time"
)

// TestHealth checks that a worker pauses, longer each time, while its attempts fail and those of other workers succeed,
// until one of its own attempts reaches a server.
func TestHealth(t *testing.T) {
	t.Parallel()
	by := func(worker string, k Kind) []Record { return []Record{{Last: &Ending{Worker: worker, Kind: k}}} }
	mine := by("me", Failed)
	for name, tt := range map[string]struct {
		others  bool
		records []Record
		want    []time.Duration // pauses after each of ten failures in a row
		own     bool
	}{
		"others do it right":       {false, by("other", Right), []time.Duration{0, 0, 1, 2, 4, 8, 16, 32, 60, 60}, true},
		"others fail, too":         {false, by("other", Failed), []time.Duration{0, 0, 1, 0, 0, 0, 0, 0, 1, 0}, false},
		"there are no others":      {false, mine, []time.Duration{0, 0, 5, 0, 0, 0, 0, 0, 5, 0}, false},
		"they have failed before":  {true, mine, make([]time.Duration, 10), false},
		"the records were dropped": {false, nil, []time.Duration{0, 0, 5, 0, 0, 0, 0, 0, 5, 0}, false},
		"others find it is wrong":  {false, by("other", Wrong), []time.Duration{0, 0, 5, 0, 0, 0, 0, 0, 5, 0}, false},
		"others had it right before": {false, []Record{{Good: &Ending{Worker: "other", Kind: Right},
			Last: mine[0].Last}}, []time.Duration{0, 0, 5, 0, 0, 0, 0, 0, 5, 0}, false},
	} {
		var h Health
		for i, want := range tt.want {
			h.Ended("key", Failed, tt.others)
			var paused time.Duration
			for {
				pause, keys := h.Pause()
				if pause == 0 {
					break
				}
				if len(keys) == 0 || len(keys) > mostLooked {
					t.Fatalf("%s: %d records to look at", name, len(keys))
				}
				paused += pause
				h.Judge("me", tt.records)
			}
			if paused != want*time.Second {
				t.Errorf("%s: after failure %d it pauses %v, want %v", name, i+1, paused, want*time.Second)
			}
		}
		if h.Own() != tt.own {
			t.Errorf("%s: its own fault is %v", name, h.Own())
		}
		for _, k := range []Kind{Right, Wrong, Lacks, Useless} {
			well := h
			well.Ended("key", k, false)
			if pause, _ := well.Pause(); pause != 0 || well.Own() {
				t.Errorf("%s: a try that was %s does not end it", name, k)
			}
		}
	}
}
