package jetstream

import (
	"errors"
	"fmt"
	"testing"

	"braid/fleet"
)

// TestDestination checks that a worker with another destination is refused while a worker with the first one runs, and
// only then.
func TestDestination(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b, c := opened(t, h, "a", 0), opened(t, h, "b", 0), opened(t, h, "c", 0)
	opened(t, h, "of an older braid", 0)
	out, other := Destination{ID: "1", Name: "/srv/out"}, Destination{ID: "2", Name: "/srv/other"}
	for _, q := range []*Queue{a, b, a} {
		if err := q.PlaceAt(t.Context(), out); err != nil {
			t.Fatal(err)
		}
	}
	b.Close()
	err := c.PlaceAt(t.Context(), other)
	if e, ok := errors.AsType[*DestinationError](err); !ok || *e != (DestinationError{"a", "/srv/out"}) {
		t.Errorf("another folder: %v", err)
	}
	c.Close()
	if err := a.PlaceAt(t.Context(), out); err != nil {
		t.Errorf("it was changed by the one that was refused: %v", err)
	}
	a.Close()
	for _, name := range []string{"d", "e"} {
		if err := opened(t, h, name, 0).PlaceAt(t.Context(), other); err != nil {
			t.Errorf("all workers have moved: %v", err)
		}
	}
}

// TestDestinationEndpoint checks that a bucket of the same name at another endpoint is another destination, and that
// workers of an older braid, which do not tell theirs, go on beside newer ones.
func TestDestinationEndpoint(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	older := Destination{ID: "s3://bucket/", Name: "s3://bucket/"}
	one, other := older, older
	one.Endpoint, other.Endpoint = "https://one.example", "https://other.example:9000"
	for i, step := range []struct {
		at      Destination
		refused bool
	}{
		{older, false}, {one, false}, {one, false}, {other, true}, {older, false}, {other, true},
	} {
		err := opened(t, h, fmt.Sprint(i), 0).PlaceAt(t.Context(), step.at)
		e, refused := errors.AsType[*DestinationError](err)
		if refused != step.refused || !refused && err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if refused && e.Name != "s3://bucket/ at https://one.example" {
			t.Errorf("%d: files are said to be in %s", i, e.Name)
		}
	}
}

// TestGone checks that Gone distinguishes a removed record from one that never existed.
func TestGone(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	report(t, q, disk("1"), fleet.Fresh)
	report(t, q, prior("dropped", fleet.Normal), fleet.Fresh)
	if dropped, err := q.Drop(t.Context(), fleet.KeyOf("dropped")); !dropped || err != nil {
		t.Fatal(dropped, err)
	}
	direct, err := q.storage.conn.SubscribeSync("$JS.API.DIRECT.GET.KV_braid_jobs.>")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := q.Gone(t.Context(), []string{fleet.KeyOf("disk.iso"), fleet.KeyOf("dropped"), fleet.KeyOf("never")})
	if never, missing := gone[fleet.KeyOf("never")]; err != nil || len(gone) != 2 || !gone[fleet.KeyOf("dropped")] ||
		never || !missing {
		t.Errorf("%v, %v", gone, err)
	}
	if err := q.storage.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, _, err := direct.Pending(); n != 0 || err != nil {
		t.Errorf("%d questions that any server of a cluster may answer, without its last change; %v", n, err)
	}
}
