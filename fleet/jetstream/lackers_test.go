package jetstream

import (
	"testing"

	"braid/fleet"
)

// TestLackersGone: a worker that lacks a password and is begun again, under another name, is no second worker that says
// so. Two that are there are.
func TestLackersGone(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	looks := opened(t, h, "looks", 0)
	lacks := func(name string, want fleet.State) *Queue {
		t.Helper()
		q := opened(t, h, name, 0)
		r, err := next(t, q).Finish(t.Context(), fleet.Ending{Kind: fleet.Lacks, Why: "status 401"})
		if err != nil || r.State != want {
			t.Fatalf("after %s it is %s, %v; want %s", name, r.State, err, want)
		}
		return q
	}
	report(t, looks, disk("1"), fleet.Fresh)
	lacks("one", fleet.Waiting).Close()
	lacks("one, again", fleet.Waiting)
	lacks("another", fleet.Dead)
}
