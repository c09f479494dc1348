package download_test

import (
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
	"braid/scheduler"
	"braid/source"
)

// A download begins with the knowledge of the one before: with the fast mirrors, at once.
func TestNextDownloadBeginsWithWhatIsKnown(t *testing.T) {
	const size = 4 * mib
	fast := sized(t, size, mirrortest.Rate(3*mib))
	other := sized(t, size, mirrortest.Rate(2*mib))
	origin := vouch(t, size, other, fast)
	memory := &state.Store{}
	memory.Learn(fast.Addr, state.Speed{Rate: 3 * mib, RTT: time.Millisecond})
	memory.Learn(other.Addr, state.Speed{Rate: 2 * mib, RTT: time.Millisecond})
	r := newRun(t, origin.URL)
	r.client.State = memory
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	var first []string
	for _, ev := range r.events {
		if ev, ok := ev.(download.RangeStarted); ok && ev.Why == scheduler.ReasonRemembered {
			first = append(first, ev.Host)
		}
	}
	if len(first) != 2 || first[0] != fast.Addr || first[1] != other.Addr {
		t.Errorf("begins with %v, want %s and %s", first, fast.Addr, other.Addr)
	}
}

// A download stores the speeds of the hosts, under their names and in bytes a second. A host with wrong
// content is not used first.
func TestLearnsFromADownload(t *testing.T) {
	const size = 8 * mib
	mirror := sized(t, size, mirrortest.Rate(2*mib))
	lying := sized(t, size+1, mirrortest.Rate(2*mib))
	origin := vouch(t, size, mirror, lying)
	origin.Set(waiting(2*mib, mirror))
	r := newRun(t, origin.URL)
	r.client.State = &state.Store{}
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	for _, u := range []string{origin.URL, mirror.URL} {
		rate := r.client.State.Speed(source.HostPort(parse(t, u))).Rate
		if rate < 10_000 || rate > 16*mib {
			t.Errorf("%s: %.0f bytes/s", u, rate)
		}
	}
	if rate := r.client.State.Speed(lying.Addr).Rate; rate != 0 {
		t.Errorf("the one with another file: %.0f", rate)
	}
	if all := r.client.State.Speed(state.AllHosts).Rate; all < 10_000 {
		t.Errorf("together %.0f", all)
	}
}
