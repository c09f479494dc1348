package antenna

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// limited returns a world with feeds on a server that answers a number of requests an hour and reports how many are left.
func limited(t *testing.T, feeds, limit int) (w *world, a *Antenna, j *journal) {
	w, j = newWorld(t), &journal{}
	hour, left := time.Time{}, 0
	w.sites["api.example"] = func(*http.Request) *http.Response {
		if now := time.Now().Truncate(time.Hour); now != hour {
			hour, left = now, limit
		}
		left--
		fields := []string{fmt.Sprintf("X-RateLimit-Limit: %d", limit), fmt.Sprintf("X-RateLimit-Remaining: %d", max(0, left)),
			fmt.Sprintf("X-RateLimit-Reset: %d", hour.Add(time.Hour).Unix())}
		if left < 0 {
			return says(403, "{}", fields...)
		}
		return says(200, "[]", fields...)
	}
	a = w.antenna(j)
	for i := range feeds {
		a.Feeds = append(a.Feeds, Feed{Name: fmt.Sprint(i), URL: fmt.Sprintf("https://api.example/%d", i),
			Every: 5 * time.Minute})
	}
	return w, a, j
}

// TestLimitOfRequests_Rule57 polls more feeds than a server accepts requests for, and checks that none is refused, that all
// requests are used, and that the feeds share them.
func TestLimitOfRequests_Rule57(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, j := limited(t, 5, 20)
		watchFor(t, a, j, 10*time.Hour)
		if list := eventsOf[PollFailed](j); len(list) > 0 {
			t.Errorf("%d requests were refused; the first at %+v", len(list), list[0])
		}
		for _, f := range a.Feeds {
			if n := len(w.to(f.URL)); n < 36 || n > 42 {
				t.Errorf("feed %s was polled %d times of 200", f.Name, n)
			}
		}
	})
}

// TestLimitIsUsedUp_Rule57: after a refusal because of the limit, all feeds of the server wait until its end and not
// longer.
func TestLimitIsUsedUp_Rule57(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, j := limited(t, 3, 20)
		for range 20 { // by another program
			w.sites["api.example"](nil)
		}
		time.Sleep(5 * time.Minute)
		watchFor(t, a, j, 2*time.Hour)
		if list := eventsOf[PollFailed](j); len(list) != 1 || list[0].Failures != 1 {
			t.Errorf("refused: %+v", list)
		}
		for _, f := range a.Feeds {
			first := w.to(f.URL)[0]
			if first.status != 200 {
				first = w.to(f.URL)[1]
			}
			if at := first.at.Sub(first.at.Truncate(time.Hour)); first.status != 200 || at > 7*time.Minute {
				t.Errorf("feed %s was polled %v after the limit had ended: status %d", f.Name, at, first.status)
			}
		}
	})
}

// TestLimitIsOver_Rule57: a server that refuses requests because of a limit that ends now is asked less and less often.
func TestLimitIsOver_Rule57(t *testing.T) {
	for _, reset := range []time.Duration{-time.Hour, 0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w, j := newWorld(t), &journal{}
			w.sites["api.example"] = func(*http.Request) *http.Response {
				return says(403, "{}", "X-RateLimit-Limit: 20", "X-RateLimit-Remaining: 0",
					fmt.Sprintf("X-RateLimit-Reset: %d", time.Now().Add(reset).Unix()))
			}
			a := w.antenna(j)
			a.Feeds = []Feed{{Name: "f", URL: "https://api.example/f", Every: 5 * time.Minute}}
			watchFor(t, a, j, 10*time.Hour)
			if n := len(w.to(a.Feeds[0].URL)); n < 8 || n > 20 {
				t.Errorf("limit ends after %v: polled %d times in 10 hours", reset, n)
			}
		})
	}
}

// TestRoundKeepsNoLimit: a round does not wait for an hour.
func TestRoundKeepsNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, j := limited(t, 5, 2)
		start := time.Now()
		if err := a.Once(t.Context(), j.take); err == nil || len(eventsOf[PollFailed](j)) != 3 {
			t.Errorf("%v", err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
