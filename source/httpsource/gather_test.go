package httpsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
)

// TestStalledBytesAreDelivered checks that all bytes before a stall are delivered, also if it comes within a TLS
// record.
func TestStalledBytesAreDelivered(t *testing.T) {
	for name, options := range secured {
		for _, n := range []int64{1, 1000, 128<<10 - 1, 300_001} {
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				s := mirrortest.New(t, mirrortest.Generate(1<<20, 1),
					slices.Concat(options, []mirrortest.Option{mirrortest.StallAfter(n)})...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				k := &sourcetest.Sink{T: t, Writing: func(off int64, size int) error {
					if off+int64(size) == n {
						cancel()
					}
					return nil
				}}
				err := newClient(t, s).Source(sourcetest.URL(t, s.URL), Options{}).Fetch(ctx, whole, k)
				if !errors.Is(err, context.Canceled) || int64(len(k.Data)) != n {
					t.Errorf("%d of %d bytes came, %v", len(k.Data), n, err)
				}
			})
		}
	}
}

// TestGatherAndKeepAlive checks that a connection is used again, and that a sink gets large parts although TLS records
// are small.
func TestGatherAndKeepAlive(t *testing.T) {
	for name, options := range secured {
		t.Run(name, func(t *testing.T) {
			content := mirrortest.Generate(8<<20, 2)
			s := mirrortest.New(t, content, options...)
			src := newClient(t, s).Source(sourcetest.URL(t, s.URL), Options{})
			for range 3 {
				most := 0
				k := &sourcetest.Sink{T: t, Writing: func(_ int64, n int) error {
					most = max(most, n)
					return nil
				}}
				if err := src.Fetch(t.Context(), part(1, 8<<20), k); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(k.Data, content.Bytes()[1:]) {
					t.Error("other bytes")
				}
				if most <= 16<<10 {
					t.Errorf("at most %d bytes at once", most)
				}
			}
			reuses(t, s)
		})
	}
}

// secured has the options for plain HTTP and for TLS.
var secured = map[string][]mirrortest.Option{"plain": nil, "tls": {mirrortest.TLS(nil)}}
