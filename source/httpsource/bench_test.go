package httpsource

import (
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// A counter is a sink that counts bytes and does not keep them.
type counter struct{ bytes, calls int64 }

func (c *counter) Answer(source.Answer) error { return nil }

func (c *counter) WriteAt(p []byte, _ int64) (int, error) {
	c.bytes += int64(len(p))
	c.calls++
	return len(p), nil
}

func BenchmarkFetch(b *testing.B) {
	for name, options := range secured {
		b.Run(name, func(b *testing.B) {
			s := mirrortest.New(b, make([]byte, 64<<20), options...)
			c := &Client{}
			if s.CertPEM != nil {
				c.TLS = trusting(s)
			}
			defer c.CloseIdle()
			src := c.Source(sourcetest.URL(b, s.URL), Options{})
			var k counter
			b.SetBytes(64 << 20)
			b.ReportAllocs()
			for b.Loop() {
				if err := src.Fetch(b.Context(), part(0, 64<<20), &k); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(k.bytes)/float64(k.calls), "B/write")
		})
	}
}
