package download

import (
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/scheduler"
)

// TestCredit: bytes are credited to the source that wrote them, whichever of two fetches of the same range
// reports them first. Otherwise wrong bytes would be compared with themselves, and the sources would seem to
// agree.
func TestCredit(t *testing.T) {
	part, err := partfile.OpenTemp(fsys.OS, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if err := part.Begin(partfile.Identity{Size: 400}); err != nil {
		t.Fatal(err)
	}
	var told [2][]message
	var x sources
	for i := range told {
		out := make(chan message, 9)
		k := &sink{ctx: t.Context(), id: scheduler.FetchID(i), part: part, out: out, most: byterange.Unbounded}
		k.limit.Store(400)
		k.size.Store(400)
		x.add(&origin{}, nil)
		at := int64(100 * i) // the first one writes before 300, the second one from 100 on
		for _, n := range []int64{150, 50, 100} {
			if _, err := k.WriteAt(make([]byte, n), at); err != nil {
				t.Fatal(err)
			}
			at += n
		}
		last := k.end()
		for close(out); len(out) > 0; {
			told[i] = append(told[i], <-out)
		}
		told[i] = append(told[i], last)
	}
	for _, i := range []int{1, 0} {
		for _, m := range told[i] {
			x.credit(x.all[i], m)
		}
	}
	for i, want := range []string{"0-299", "300-399"} {
		if got := x.all[i].brought.String(); got != want {
			t.Errorf("source %d brought %s, want %s", i, got, want)
		}
	}
	x.void(byterange.Range{Start: 50, End: 350})
	x.credit(x.all[1], message{wrote: byterange.Range{Start: 40, End: 360}})
	if a, b := x.all[0].brought.String(), x.all[1].brought.String(); a != "0-49" || b != "50-399" {
		t.Errorf("after 50 to 350 were wrong and came again, the sources brought %s and %s", a, b)
	}
}
