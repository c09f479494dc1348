package download_test

import (
	"net/url"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// What one host sends is held to its limit for all downloads together, and another host is not held back. While something comes from a host its
// share is taken, once for all, and given back after.
func TestHostLimits(t *testing.T) {
	const size, most = mib / 2, mib / 2
	slow, fast := sized(t, size, mirrortest.Digest()), sized(t, 8*size, mirrortest.Digest())
	for _, shared := range []bool{false, true} {
		var mu sync.Mutex
		taken, given := 0, 0
		hosts := &download.HostLimits{Rate: func(u *url.URL) int64 {
			if u.Host == slow.Addr {
				return most
			}
			return 0
		}}
		if shared {
			hosts.Share = func(host string, perSecond int64, l *download.Limiter) func() {
				mu.Lock()
				defer mu.Unlock()
				taken++
				if host != slow.Addr || perSecond != most {
					t.Errorf("the share of %s of %d", host, perSecond)
				}
				l.Set(perSecond)
				return func() { given++ }
			}
		}
		begun := time.Now()
		done := make(chan error, 3)
		for _, at := range []string{slow.URL, slow.URL, fast.URL} {
			r := newRun(t, at)
			r.client.HostLimits = hosts
			go func() {
				_, err := r.get()
				if took := time.Since(begun); at == fast.URL && took > 900*time.Millisecond {
					t.Errorf("the other host took %v", took)
				}
				done <- err
			}()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begun); took < 1850*time.Millisecond {
			t.Errorf("both took %v", took)
		}
		if shared != (taken == 1) || taken != given {
			t.Errorf("%d shares taken, and %d given back", taken, given)
		}
	}
}
