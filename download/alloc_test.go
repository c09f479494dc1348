package download

import (
	"net/url"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// Nothing allocates for each byte: not the connection, the body, the sink, the part file, its journal or the
// message to the loop. A fetch allocates for its request only, however long the answer is.
func TestFetchAllocatesNothingForEachRead(t *testing.T) {
	const short, long = 1 << 20, 65 << 20
	few, _ := allocations(t, short)
	many, reads := allocations(t, long)
	if more := many - few; more > reads/10 {
		t.Errorf("%.0f allocations for %d MiB and %.0f for %d: %.0f in %.0f reads", few, short>>20, many, long>>20, more, reads)
	}
}

// allocations returns how many allocations a fetch of size bytes makes, including the server's, and how many
// writes.
func allocations(t *testing.T, size int64) (n, writes float64) {
	t.Helper()
	server := mirrortest.New(t, make([]byte, size))
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var c httpsource.Client
	defer c.CloseIdle()
	src := c.Source(u, httpsource.Options{})
	out := make(chan message)
	go func() {
		for m := range out {
			if m.reply != nil {
				m.reply <- reply{}
			}
		}
	}()
	defer close(out)
	const runs = 2
	n = testing.AllocsPerRun(runs, func() {
		part, err := partfile.Open(fsys.OS, t.TempDir(), "x")
		if err != nil {
			t.Fatal(err)
		}
		defer part.Discard()
		if err := part.Begin(partfile.Identity{Size: size}); err != nil {
			t.Fatal(err)
		}
		k := &sink{ctx: t.Context(), part: part, out: out, most: byterange.Unbounded}
		k.limit.Store(size)
		k.size.Store(size)
		counted := &counting{sink: k}
		if err := src.Fetch(t.Context(), byterange.Range{End: size}, counted); err != nil {
			t.Fatal(err)
		}
		k.end()
		writes += counted.writes
	})
	return n, writes / (runs + 1)
}

// A counting sink counts writes.
type counting struct {
	*sink
	writes float64
}

func (c *counting) WriteAt(p []byte, off int64) (int, error) {
	c.writes++
	return c.sink.WriteAt(p, off)
}
