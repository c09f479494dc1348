package scheduler

import (
	"testing"
	"time"
)

// An inventor makes up a network from the bytes of the fuzzer.
type inventor struct{ data []byte }

func (v *inventor) next(n int) int {
	if len(v.data) == 0 {
		return 0
	}
	b := int(v.data[0])
	v.data = v.data[1:]
	return b % n
}

// host invents one. The origin has no permanent faults, so that every download can end.
func (v *inventor) host(faults bool) host {
	rate := []float64{1, 4, 10, 40, 200}[v.next(5)]
	h := host{rtt: time.Duration(2+v.next(200)) * time.Millisecond, rate: steady(rate)}
	begin := time.Duration(v.next(100)) * 100 * time.Millisecond
	end := begin + time.Duration(v.next(100))*100*time.Millisecond
	within := func(t time.Duration) bool { return t >= begin && t < end }
	switch v.next(8) {
	case 1:
		h.rate = func(t time.Duration) float64 {
			if within(t) {
				return 0
			}
			return mbit(rate)
		}
	case 2:
		h.down = within
	case 3:
		h.rate = after(end, rate, []float64{1, 4, 50, 400}[v.next(4)])
	case 4:
		h.busy = func(t time.Duration) time.Duration {
			if within(t) {
				return 2 * time.Second
			}
			return 0
		}
	case 5:
		h.norange = faults
	case 6:
		h.wrong = faults
	case 7:
		h.as = "shared"
	}
	return h
}

func (v *inventor) scenario() scenario {
	sc := scenario{size: int64(v.next(96))<<18 + int64(v.next(256)), limit: 4 * time.Hour}
	sc.hosts = append(sc.hosts, v.host(false))
	for range v.next(12) {
		sc.hosts = append(sc.hosts, v.host(true))
	}
	if v.next(2) == 1 {
		sc.access = steady([]float64{1, 8, 40, 100}[v.next(4)])
	}
	sc.cfg.Growth = GrowthMode(v.next(2))
	sc.cfg.Split = v.next(20)
	return sc
}

// FuzzNetwork invents networks. Whatever they do, the invariants hold after every step (check), nothing
// stalls, the download ends with every byte, and what came twice is bounded.
func FuzzNetwork(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{40, 1, 3, 40, 0, 0, 0, 3, 3, 20, 10, 50, 1, 2, 90, 5, 9, 2, 3, 4, 3, 3, 3, 5})
	f.Add([]byte{255, 255, 2, 10, 30, 60, 1, 11, 3, 3, 3, 1, 4, 9, 9, 7, 3, 8, 8, 8, 7, 2, 2, 2, 2, 6, 1, 1, 1, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		sc := (&inventor{data}).scenario()
		r := run(t, sc)
		if !r.finished {
			t.Fatalf("not finished after %v: failed %v, requests %v", r.elapsed, r.failed, r.requests)
		}
		if limit := sc.size/2 + 16<<20; r.duplicate > limit && !anyone(sc, func(h host) bool { return h.norange }) {
			t.Errorf("%d bytes of %d twice", r.duplicate, sc.size)
		}
	})
}

func anyone(sc scenario, is func(host) bool) bool {
	for _, h := range sc.hosts {
		if is(h) {
			return true
		}
	}
	return false
}
