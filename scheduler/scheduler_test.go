package scheduler

import (
	"fmt"
	"testing"
	"time"
)

const mib = 1 << 20

func uneven() []host {
	h := func(mb float64, rtt int) host {
		return host{rate: steady(mb), rtt: time.Duration(rtt) * time.Millisecond}
	}
	return []host{h(20, 30), h(5, 300), h(80, 60), h(2, 180), h(40, 120), h(10, 10)}
}

// trouble is six mirrors of which three fail in different ways after 12 MB or so.
func trouble() []host {
	hosts := equal(6, 40, 40*time.Millisecond)
	hosts[1].rate = after(3*time.Second, 40, 0)
	hosts[2].rate = after(3*time.Second, 40, 0.4)
	hosts[3].down = func(t time.Duration) bool { return t > 3*time.Second }
	return hosts
}

// after gives before until d, then later.
func after(d time.Duration, before, later float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		if t < d {
			return mbit(before)
		}
		return mbit(later)
	}
}

func with(hs []host, i int, change func(*host)) []host {
	change(&hs[i])
	return hs
}

func TestScenarios(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name      string
		sc        scenario
		efficient float64
		duplicate int64
		check     func(t *testing.T, r report)
	}{
		{"eight equal", scenario{size: 256 * mib, hosts: equal(8, 40, 40*ms)}, 0.90, mib, func(t *testing.T, r report) {
			if r.allIn > 800*ms {
				t.Errorf("all in use after %v", r.allIn)
			}
		}},
		{"uneven", scenario{size: 192 * mib, hosts: uneven()}, 0.88, 2 * mib, nil},
		{"uneven, large", scenario{size: 1024 * mib, hosts: uneven()}, 0.96, 20 * mib, nil},
		{"one stalls", scenario{size: 128 * mib, hosts: with(equal(3, 40, 40*ms), 1, func(h *host) { h.rate = after(3*time.Second, 40, 0) })}, 0.88, mib, nil},
		{"one collapses", scenario{size: 128 * mib, hosts: with(equal(3, 40, 40*ms), 1, func(h *host) { h.rate = after(3*time.Second, 40, 0.4) })}, 0.88, mib, nil},
		{"one dies", scenario{size: 128 * mib, hosts: with(equal(3, 40, 40*ms), 1, func(h *host) { h.down = func(t time.Duration) bool { return t > 3*time.Second } })}, 0.88, mib, nil},
		{"origin stalls", scenario{size: 128 * mib, hosts: with(equal(3, 40, 40*ms), 0, func(h *host) { h.rate = after(3*time.Second, 40, 0) })}, 0.88, mib, nil},
		{"link filled by one", scenario{size: 256 * mib, hosts: equal(10, 40, 40*ms), access: mbit(40)}, 0.95, mib, func(t *testing.T, r report) {
			if r.late > 3 {
				t.Errorf("%d connections after ten seconds", r.late)
			}
		}},
		{"link filled by three of ten", scenario{size: 256 * mib, hosts: equal(10, 40, 40*ms), access: mbit(120)}, 0.95, mib, func(t *testing.T, r report) {
			if r.late > 5 {
				t.Errorf("%d connections after ten seconds", r.late)
			}
		}},
		{"one flaps", scenario{size: 128 * mib, hosts: with(equal(3, 40, 40*ms), 1, func(h *host) {
			h.down = func(t time.Duration) bool { return t%(10*time.Second) > 5*time.Second }
		})}, 0.88, mib, nil},
		{"tenth is fast", scenario{size: 512 * mib, hosts: append(equal(10, 2, 40*ms), host{rate: steady(80), rtt: 40 * ms})}, 0.75, 2 * mib, nil},
		{"one stalls, one collapses, one dies", scenario{size: 128 * mib, hosts: trouble()}, 0.84, mib, nil},
		{"slow becomes fast", scenario{size: 256 * mib, hosts: with(equal(3, 20, 40*ms), 2, func(h *host) { h.rate = after(15*time.Second, 2, 80) })}, 0.85, 2 * mib, nil},
		{"alone", scenario{size: 64 * mib, hosts: equal(1, 40, 40*ms)}, 0.95, 0, func(t *testing.T, r report) {
			if r.requests[0] != 1 {
				t.Errorf("%d requests", r.requests[0])
			}
		}},
		{"small file, many mirrors", scenario{size: mib, hosts: equal(32, 40, 40*ms)}, 0, mib, func(t *testing.T, r report) {
			n := 0
			for _, k := range r.requests {
				n += k
			}
			if n > 2 {
				t.Errorf("%d requests", n)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tt.sc)
			if !r.finished {
				t.Fatalf("not finished: %+v", r)
			}
			t.Logf("%v of best %v: efficiency %.3f, duplicate %d, requests %v, most %d, all in %v", r.elapsed, r.best, r.efficiency(), r.duplicate, r.requests, r.most, r.allIn)
			if e := r.efficiency(); e < tt.efficient {
				t.Errorf("efficiency %.3f, want %.2f", e, tt.efficient)
			}
			if r.duplicate > tt.duplicate {
				t.Errorf("%d bytes twice", r.duplicate)
			}
			if r.perHost > 1 {
				t.Errorf("%d requests at one host", r.perHost)
			}
			if tt.check != nil {
				tt.check(t, r)
			}
			if again := run(t, tt.sc); fmt.Sprint(again.history) != fmt.Sprint(r.history) {
				t.Error("the same history gave other actions")
			}
		})
	}
}
