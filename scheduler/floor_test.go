package scheduler

import (
	"testing"
	"time"
)

// The floor is never below the bound of full rates, and both bounds are in order.
func TestFloorIsAboveFluid(t *testing.T) {
	for _, r := range rows() {
		if r.size > gib {
			continue
		}
		sc := r.net
		sc.size = r.size
		best, least := fluid(sc), floor(sc)
		if least.all < best.all || least.nine < best.nine || least.nine > least.all {
			t.Errorf("%s: %v and %v for nine tenths and all, with full rates %v and %v", r.name, least.nine, least.all,
				best.nine, best.all)
		}
	}
}

// The floor of an origin and of a mirror that it names is computed by hand, from handshake, request and slow start.
func TestFloorByHand(t *testing.T) {
	const trip = 100 * ms
	alone := scenario{size: 3 * initialWindow, hosts: []host{plain(1000, trip)}}
	for _, tt := range []struct {
		name string
		sc   scenario
		want time.Duration
	}{
		{"the window is doubled once", alone, 3 * trip},
		{"TLS", scenario{size: alone.size, hosts: []host{{rate: steady(1000), rtt: trip, setup: trip}}}, 4 * trip},
		{"a mirror brings the rest", scenario{size: 2*3*initialWindow + 7*initialWindow, hosts: equal(2, 1000, trip)}, 5 * trip},
	} {
		if got := floor(tt.sc).all; got < tt.want-4*ms || got > tt.want+20*ms {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
