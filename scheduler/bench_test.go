package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// BenchmarkProgress is the cost of telling a scheduler of one write while 10,000 ranges are here already. It
// allocates nothing.
func BenchmarkProgress(b *testing.B) {
	const size = 1 << 50
	cfg := Config{Size: size}
	for i := range int64(10_000) {
		cfg.Have.Add(byterange.Range{Start: size - i<<20, End: size - i<<20 + 1<<19})
	}
	s := New(cfg)
	now := time.Unix(1e9, 0)
	s.Step(now, SourceAdded{ID: 0, Host: "a:80"})
	f := s.order[0]
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(10 * time.Microsecond)
		s.Step(now, Progress{Fetch: f.id, Range: byterange.Range{Start: f.pos, End: f.pos + 100}})
	}
}
