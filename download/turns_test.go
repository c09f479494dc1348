package download

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// However many wait, and however little may pass, each gets its turn soon, so that no source looks silent; and together
// they keep to the limit.
func TestLimitTakesTurns(t *testing.T) {
	for _, waiting := range []int{1, 16, 200} {
		for _, bytes := range []int64{1000, 50_000, 100 << 20} {
			synctest.Test(t, func(t *testing.T) {
				const turns = 20
				limit, begun := NewLimit(bytes), time.Now()
				passed, longest := make([]int64, waiting), make([]time.Duration, waiting)
				var wg sync.WaitGroup
				for i := range waiting {
					wg.Go(func() {
						for range turns {
							last := time.Now()
							n, err := limit.wait(t.Context(), bufferLike)
							if err != nil {
								t.Error(err)
							}
							passed[i] += int64(n)
							longest[i] = max(longest[i], time.Since(last))
						}
					})
				}
				wg.Wait()
				var sum int64
				for i := range waiting {
					sum += passed[i]
					if longest[i] > 3*time.Second/2 {
						t.Errorf("%d at %d bytes a second: one waited %v for its turn", waiting, bytes, longest[i])
						break
					}
				}
				if most := time.Since(begun).Seconds()*float64(bytes) + float64(limit.turns.Burst()); float64(sum) > most+1 {
					t.Errorf("%d at %d bytes a second: %d passed, %.0f may", waiting, bytes, sum, most)
				}
			})
		}
	}
}

// One who comes late to its turn, as everybody does who slept, gets what it missed.
func TestLimitMakesUpForLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes = 300 << 20
		limit, begun, passed := NewLimit(bytes), time.Now(), 0
		for time.Since(begun) < 10*time.Second {
			n, err := limit.wait(t.Context(), bufferLike)
			if err != nil {
				t.Fatal(err)
			}
			if passed += n; passed%7 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
		}
		if want := 0.99 * bytes * time.Since(begun).Seconds(); float64(passed) < want {
			t.Errorf("%d bytes passed, want %.0f at least", passed, want)
		}
	})
}

// bufferLike is about what a source brings at once.
const bufferLike = 256 << 10
