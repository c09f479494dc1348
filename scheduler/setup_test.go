package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// quietFor returns how long a second source may be quiet, after its request, answer or bytes, before its range is
// assigned to the origin, which never stops.
func quietFor(t *testing.T, added SourceAdded, answered time.Duration, bytes int64) time.Duration {
	p := play(t, Config{Size: -1})
	origin := p.at(0, SourceAdded{ID: 0, Host: "origin:80"}).only()
	p.at(40*ms, Answered{Fetch: origin.ID, Host: "origin:80", RTT: 40 * ms, Size: gib, Ranged: true})
	asked := p.at(0, added).only()
	if asked.Source != added.ID {
		t.Fatalf("it was not asked: %v", p.do)
	}
	from, pos := p.now, int64(0)
	for p.now.Sub(from) < time.Minute {
		p.at(10*ms, Progress{Fetch: origin.ID, Range: byterange.Range{Start: pos, End: pos + 50_000}})
		pos += 50_000
		for _, a := range p.do {
			if c, ok := a.(Cancel); ok && c.ID == asked.ID {
				return p.now.Sub(from)
			}
		}
		if answered > 0 && p.now.Sub(from) >= answered {
			p.at(0, Answered{Fetch: asked.ID, Host: added.Host, RTT: 300 * ms, Size: gib, Ranged: true})
			if bytes > 0 {
				p.at(0, Progress{Fetch: asked.ID,
					Range: byterange.Range{Start: asked.Range.Start, End: asked.Range.Start + bytes}})
			}
			from, answered = p.now, 0
		}
	}
	t.Fatal("it may be quiet for ever")
	return 0
}

// An FTP server 300 ms away sends no bytes for two seconds because of the login dialogue. A source without a dialogue
// counts as silent by then (rule 21), and so does, some time later, one that does not answer the dialogue.
func TestDialogueTakesTime_Rule21(t *testing.T) {
	const far = 300 * ms
	ftp := SourceAdded{ID: 1, Host: "f:21", Trips: portTrips}
	if quiet := quietFor(t, SourceAdded{ID: 1, Host: "m:80"}, 0, 0); quiet < silence || quiet > silence+500*ms {
		t.Errorf("a web server was quiet for %v", quiet)
	}
	if quiet := quietFor(t, ftp, 0, 0); quiet < (loginTrips+2)*far || quiet > 3*silence+500*ms {
		t.Errorf("an FTP server was quiet for %v before its first answer", quiet)
	}
	if quiet := quietFor(t, ftp, (loginTrips+2)*far, 0); quiet < (portTrips+2)*far || quiet > 7*time.Second {
		t.Errorf("an FTP server was quiet for %v after its first answer", quiet)
	}
	if quiet := quietFor(t, ftp, (loginTrips+2)*far, 1000); quiet > silenceRTTs*far+500*ms {
		t.Errorf("an FTP server was quiet for %v after its first bytes", quiet)
	}
	known := ftp
	known.RTT, known.Rate = 20*ms, 1e6
	if quiet := quietFor(t, known, 0, 0); quiet > silence+500*ms {
		t.Errorf("an FTP server that is near was quiet for %v", quiet)
	}
}

// Requests with a high cost are few: each is for about as much as arrives in the time of a request to a web server,
// even if the beginning of an answer shows little of the speed.
func TestDialoguesAreFew(t *testing.T) {
	r := run(t, scenario{size: gib, hosts: each(equal(3, 40, 200*ms), func(i int, h *host) { h.ftp = i > 0 })})
	if n := r.requests[1] + r.requests[2]; !r.finished || n > 20 {
		t.Errorf("finished %v with %v requests", r.finished, r.requests)
	}
	for i := 1; i < 3; i++ {
		if share := float64(r.brought[i]) / gib; share < 0.25 {
			t.Errorf("FTP server %d brought %.0f %%", i, 100*share)
		}
	}
}
