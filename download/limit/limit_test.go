package limit

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Each waiting fetch gets its turn soon, whatever their number and the limit, so that no source looks silent.
// Together they obey the limit.
func TestLimitTakesTurns(t *testing.T) {
	for _, waiting := range []int{1, 16, 200} {
		for _, bytes := range []int64{1000, 50_000, 100 << 20} {
			synctest.Test(t, func(t *testing.T) {
				const turns = 20
				limit, begun := New(bytes), time.Now()
				passed, longest := make([]int64, waiting), make([]time.Duration, waiting)
				var wg sync.WaitGroup
				for i := range waiting {
					wg.Go(func() {
						for range turns {
							last := time.Now()
							n, err := limit.Wait(t.Context(), bufferLike)
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
				if most := time.Since(begun).Seconds()*float64(bytes) + float64(limit.now.Load().Burst()); float64(sum) > most+1 {
					t.Errorf("%d at %d bytes a second: %d passed, %.0f may", waiting, bytes, sum, most)
				}
			})
		}
	}
}

// A fetch that is late for its turn, like any that slept, gets what it missed.
func TestLimitMakesUpForLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes = 300 << 20
		limit, begun, passed := New(bytes), time.Now(), 0
		for time.Since(begun) < 10*time.Second {
			n, err := limit.Wait(t.Context(), bufferLike)
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

// bufferLike is about what a source delivers at once.
const bufferLike = 256 << 10

// A changed limit applies at once to running downloads: a waiting fetch gets its turn within a moment, and
// zero is no limit.
func TestSetLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := &Limiter{}
		pass := func(d time.Duration) (n int) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				k, err := limit.Wait(t.Context(), 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				if n += k; limit.now.Load() == nil {
					time.Sleep(time.Millisecond)
				}
			}
			return n
		}
		if n := pass(time.Second); n < 1000<<20 {
			t.Errorf("%d without a limit", n)
		}
		for _, bytes := range []int64{1 << 20, 1 << 30, 1 << 10, 100 << 10} {
			limit.Set(bytes)
			if n := float64(pass(10*time.Second)) / 10; n < 0.9*float64(bytes) || n > 1.1*float64(bytes) {
				t.Errorf("%.0f a second, want %d", n, bytes)
			}
		}
		limit.Set(1000)
		done := make(chan int)
		go func() { done <- pass(time.Nanosecond) }()
		synctest.Wait()
		limit.Set(0)
		begun := time.Now()
		if <-done; time.Since(begun) > roundTime {
			t.Errorf("what waited was held up for %v", time.Since(begun))
		}
		// The same rate again lets no more pass.
		limit.Set(1000)
		n := 0
		for begun := time.Now(); time.Since(begun) < 10*time.Second; {
			limit.Set(1000)
			k, err := limit.Wait(t.Context(), 1<<20)
			if n += k; err != nil {
				t.Fatal(err)
			}
		}
		if n > 10_500 {
			t.Errorf("%d bytes", n)
		}
	})
}

// Limits are changed while downloads wait for them, from several goroutines.
func TestSetLimitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, outer := New(1000), New(1<<20)
		limit.Within(outer)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 200 {
					if _, err := limit.Wait(t.Context(), 100); err != nil {
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for j := range 50 {
					limit.Set(int64(i*j) << 8)
					outer.Set(int64(i*j) << 10)
					time.Sleep(time.Millisecond)
				}
			})
		}
		wg.Wait()
	})
}
