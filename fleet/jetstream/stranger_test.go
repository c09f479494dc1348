package jetstream

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"braid/fleet"
)

// TestStrangers: of a host at which nothing has got anywhere yet a worker has one job at a time, also if there are no
// others, so that those which come have room. A host that has sent a file, or a part of one, has as many as come, until
// something fails there.
func TestStrangers(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	q.Pacer(4, func(*url.URL) fleet.Limit { return fleet.Limit{} })
	add := func(host string, n int) {
		for i := range n {
			report(t, q, fleet.Job{Name: fmt.Sprint(host, i),
				URIs: []string{"https://" + host + ".example.org/" + fmt.Sprint(i)}}, fleet.Fresh)
		}
	}
	none := func(when string) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), 3*passAgain)
		defer stop()
		if c, err := q.Next(ctx); err == nil {
			t.Errorf("%s: %s is taken", when, c.Record.Job.Name)
		}
	}
	end := func(c *Claim, k fleet.Kind) {
		t.Helper()
		if _, err := c.Finish(t.Context(), fleet.Ending{Kind: k}); err != nil {
			t.Fatal(err)
		}
	}
	add("drip", 8)
	drip := next(t, q)
	none("it drips")
	add("good", 4)
	good := next(t, q)
	if good.Record.Job.Name[:4] != "good" {
		t.Fatalf("%s is taken, and another host has a job", good.Record.Job.Name)
	}
	end(good, fleet.Right)
	for range 3 {
		if c := next(t, q); c.Record.Job.Name[:4] != "good" {
			t.Errorf("%s is taken, and a host that is known has jobs", c.Record.Job.Name)
		}
	}
	drip.Tell(fleet.Progress{Done: introduces, Size: 2 * introduces}, 0) // of an earlier try
	none("what was here before is no news")
	drip.Tell(fleet.Progress{Done: 2 * introduces, Size: 2 * introduces}, introduces)
	one, two := next(t, q), next(t, q)
	end(one, fleet.Failed)
	none("it has failed")
	end(two, fleet.Right)
	next(t, q)
	next(t, q)
}
