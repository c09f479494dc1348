package download_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/download/limit"
	"braid/internal/test/mirrortest"
)

// The bytes from one host are limited for all downloads together. The share is taken once for all of them
// while bytes come from the host, and given back after that.
func TestHostLimits(t *testing.T) {
	const size, most = mib / 2, mib / 2
	slow := sized(t, size, mirrortest.Digest())
	for _, shared := range []bool{false, true} {
		var mu sync.Mutex
		taken, given := 0, 0
		hosts := &limit.Hosts{Rate: func(u *url.URL) int64 {
			if u.Host == slow.Addr {
				return most
			}
			return 0
		}}
		if shared {
			hosts.Share = func(host string, perSecond int64, l *limit.Limiter) func() {
				mu.Lock()
				defer mu.Unlock()
				if taken++; taken > given+1 || host != slow.Addr || perSecond != most {
					t.Errorf("the share of %s of %d, where %d of %d were given back", host, perSecond, given, taken-1)
				}
				l.Set(perSecond)
				return func() {
					mu.Lock()
					defer mu.Unlock()
					given++
				}
			}
		}
		begun := time.Now()
		done := make(chan error, 2)
		for range 2 {
			r := newRun(t, slow.URL)
			r.client.HostLimits = hosts
			go func() {
				_, err := r.get()
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begun); took < 1850*time.Millisecond {
			t.Errorf("both took %v", took)
		}
		if shared != (taken > 0) || taken != given {
			t.Errorf("%d shares taken, and %d given back", taken, given)
		}
	}
}

// Another host is not held back: a file of it is complete during a download that would take days.
func TestHostLimitsOthers(t *testing.T) {
	slow, fast := sized(t, mib, mirrortest.Digest()), sized(t, 8*mib, mirrortest.Digest())
	hosts := &limit.Hosts{Rate: func(u *url.URL) int64 {
		if u.Host == slow.Addr {
			return 1
		}
		return 0
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newRun(t, slow.URL)
	r.client.HostLimits, r.ctx = hosts, ctx
	begun, done := make(chan bool), make(chan error, 1)
	once := sync.OnceFunc(func() { close(begun) })
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		if _, ok := ev.(download.RangeAnswered); ok {
			once()
		}
	}
	go func() {
		_, err := r.get()
		done <- err
	}()
	<-begun
	other := newRun(t, fast.URL)
	other.client.HostLimits = hosts
	other.right(fast.Content)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the slow one ended with %v", err)
	}
}
