package cli

import (
	"testing"

	"braid/download"
	"braid/fleet"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/watch"
)

// TestWorkLowest: what drips gives its place up unless that is switched off, and is tried again.
func TestWorkLowest(t *testing.T) {
	for word, want := range map[string]int64{"": watch.DefaultLowest, "0": 0, "5K": 5 << 10} {
		_, to := newWork(streams{})
		w := to.of("lowest-speed-limit").(*rate)
		if word != "" {
			if err := w.Set(word); err != nil {
				t.Fatal(err)
			}
		}
		if int64(*w) != want {
			t.Errorf("%q: %d", word, *w)
		}
	}
	w := &workCommand{Job: newDefaults(streams{}), LowestSpeedLimit: 7, To: "x"}
	w.Job.HTTP.Sites = job.NewSites(&job.Settings{})
	client, err := w.prepareClient(t.Context())
	if err != nil || client.LowestSpeed != 7 {
		t.Errorf("the client has %v, %v", client, err)
	}
	if k := problem.FleetKind(&download.Error{Kind: download.Budget, What: "download", Err: download.ErrTooSlow}); k != fleet.Failed {
		t.Errorf("it is %s", k)
	}
}
