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
	if k := problem.FleetKind(&download.Error{Kind: download.Budget, What: "download",
		Err: download.ErrTooSlow}); k != fleet.Failed {
		t.Errorf("it is %s", k)
	}
}

// TestWorkDemands_Rule69: a job raises the proof that its worker demands, and cannot lower it.
func TestWorkDemands_Rule69(t *testing.T) {
	w := &workCommand{Job: newDefaults(streams{}), To: "x"}
	w.Job.HTTP.Sites = job.NewSites(&job.Settings{})
	for _, keys := range []job.Anchors{{}, {Key: []string{"../verify/minisign/testdata/key.pub"}}} {
		w.Job.Anchors = keys
		if _, err := w.prepareClient(t.Context()); err != nil {
			t.Fatal(err)
		}
		for word, want := range map[string]download.Require{"": download.RequireNothing, "none": download.RequireNothing,
			"digest": download.RequireDigest} {
			j := fleet.Job{Name: "a", URIs: []string{"https://example.org/a"}}
			if word != "" {
				j.Options = []fleet.Option{{Name: "require", Value: word}}
			}
			if keys.Given() {
				want = download.RequireSignature
			}
			if r, err := w.request(&j); err != nil || r.Trust.Require != want {
				t.Errorf("keys %t, require=%s: %v, %v", keys.Given(), word, r.Trust.Require, err)
			}
		}
	}
}
