package scheduler

import (
	"testing"
	"time"
)

// waiting returns a download whose origin fails at once and is busy from then on, with a mirror that drips from some
// time on and a good one.
func waiting(split int, drips time.Duration, good func(*host)) scenario {
	hosts := equal(3, 40, 40*ms)
	hosts[0].cut = 64 << 10
	hosts[0].busy = func(at time.Duration) time.Duration {
		if at > 100*ms {
			return time.Millisecond
		}
		return 0
	}
	hosts[1].rate = trickle(drips, 1)
	good(&hosts[2])
	return scenario{size: 16 * mib, hosts: hosts, limit: 5 * time.Minute, cfg: Config{Split: split}}
}

// Proves S16 and rule 21: a mirror that drips does not keep the only place from a source that would finish soon,
// whatever the reason that there is only one place.
func TestTrickleDoesNotKeepThePlace_S16_Rule21(t *testing.T) {
	for name, good := range map[string]func(*host){
		"good":           func(*host) {},
		"without ranges": func(h *host) { h.norange = true },
		"was down":       func(h *host) { h.down = func(at time.Duration) bool { return at < 2*time.Second } },
		"breaks off":     func(h *host) { h.cut = mib },
	} {
		for _, split := range []int{1, 2, 16} {
			for _, drips := range []time.Duration{0, 200 * ms, time.Second, 2 * time.Second} {
				r := run(t, waiting(split, drips, good))
				if !r.finished || r.elapsed > 45*time.Second {
					t.Errorf("%s, %d at a time, drips after %v: finished %v after %v", name, split, drips, r.finished, r.elapsed)
				}
			}
		}
	}
}
