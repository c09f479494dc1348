package antenna

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// someURLs adds n watches and returns the lines of a feed about them.
func someURLs(a *Antenna, prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		u := fmt.Sprintf("https://files.example/%s%d", prefix, i)
		b.WriteString(lirsLine(u, time.Now(), time.Now(), 100))
		a.Watches = append(a.Watches, Watch{URL: u})
	}
	return b.String()
}

// TestFailedTriesSpendNothing_Rule56 checks that failed updates do not count for the daily limit of a feed, so that
// many missing files do not delay the others.
func TestFailedTriesSpendNothing_Rule56(t *testing.T) {
	for _, handlers := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			start := time.Now()
			a.Handlers, a.Watches = handlers, nil
			a.Feeds[0].Limits = Limits{Updates: 3}
			p.set(someURLs(a, "dead", 30))
			w.later(5*time.Hour, func() { p.set(someURLs(&Antenna{}, "dead", 30) + someURLs(&Antenna{}, "good", 4)) })
			someURLs(a, "good", 4)
			var done []time.Duration
			var mu sync.Mutex
			j.handle = func(_ context.Context, u Update) (Outcome, error) {
				time.Sleep(time.Second)
				if strings.Contains(u.URL, "dead") {
					return Outcome{}, errors.New("404")
				}
				mu.Lock()
				defer mu.Unlock()
				done = append(done, time.Since(start))
				return Outcome{Changed: true}, nil
			}
			watchFor(t, a, j, 30*time.Hour)
			if len(done) != 4 || done[2] > 6*time.Hour || done[3] < 24*time.Hour || done[3] > 25*time.Hour {
				t.Errorf("handled after %v", done)
			}
		})
	}
}

// TestPlaceOfOneThatFails_Rule56 checks that if the last update of a day fails, a waiting update is handled instead.
func TestPlaceOfOneThatFails_Rule56(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		a.Watches, a.Handlers = nil, 2
		a.Feeds[0].Limits = Limits{Updates: 1}
		p.set(someURLs(a, "dead", 1) + someURLs(a, "good", 1))
		var done []string
		start := time.Now()
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if time.Sleep(time.Minute); strings.Contains(u.URL, "dead") {
				return Outcome{}, errors.New("404")
			}
			done = append(done, time.Since(start).Truncate(time.Minute).String())
			return Outcome{Changed: true}, nil
		}
		watchFor(t, a, j, time.Hour)
		if len(done) != 1 || len(j.got()) > 4 {
			t.Errorf("done after %v, %d tries", done, len(j.got()))
		}
	})
}

// TestLastingErrors checks that an update with a lasting error is tried once a day in the end, and with any other error
// every six hours.
func TestLastingErrors(t *testing.T) {
	for _, lasting := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			_, _, a, j := oneFeed(t)
			dir := t.TempDir()
			a.Store = storeIn(t, dir)
			a.Store.db.NoSync = true // the test has no power failure
			defer func() { closed(t, a.Store) }()
			a.Judge = func(err error) (int, bool) { return 8, lasting && err.Error() == "404" }
			start := time.Now()
			days := map[int]int{}
			j.handle = func(context.Context, Update) (Outcome, error) {
				days[int(time.Since(start)/(24*time.Hour))]++
				return Outcome{}, errors.New("404")
			}
			watchFor(t, a, j, 10*24*time.Hour)
			if n := days[5] + days[6] + days[7] + days[8]; lasting && (n < 3 || n > 5 || days[0] > 11) || !lasting && n < 12 {
				t.Errorf("lasting %v: tries a day: %v", lasting, days)
			}
			if s, err := a.Status(t.Context()); err != nil || s.Watches[0].Code != 8 {
				t.Errorf("%+v, %v", s.Watches, err)
			}
		})
	}
}

// TestNewsOfWhatIsNotThere_Rule56 checks that a missing file is requested only so often a day although its feed always
// has new reports of it, and that other updates are not delayed.
func TestNewsOfWhatIsNotThere_Rule56(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Watches = nil
		a.Feeds[0].Every, a.Feeds[0].Limits = time.Minute, Limits{Updates: 2}
		someURLs(a, "dead", 1)
		someURLs(a, "good", 1)
		good := ""
		w.sites["feeds.example"] = siteOfText(func() string { return someURLs(&Antenna{}, "dead", 1) + good })
		w.later(20*time.Hour, func() { good = someURLs(&Antenna{}, "good", 1) })
		p.plain = true
		count := map[string]int{}
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if count[u.URL]++; strings.Contains(u.URL, "dead") {
				return Outcome{}, errors.New("404")
			}
			return Outcome{Changed: true}, nil
		}
		watchFor(t, a, j, 21*time.Hour)
		if n := count["https://files.example/dead0"]; n != 2*mostFailed || count["https://files.example/good0"] != 1 {
			t.Errorf("%v", count)
		}
	})
}

// TestLimitOfOneFeed_Rule56 checks that an update which another feed reports, too, does not wait for the next day
// because a feed that reports changes of every file has reached its limit.
func TestLimitOfOneFeed_Rule56(t *testing.T) {
	for _, same := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			a.Feeds[0].Limits = Limits{Updates: 2}
			a.Watches, p.plain = nil, true
			for i := range 4 {
				a.Watches = append(a.Watches, Watch{URL: fmt.Sprintf("https://files.example/%d", i)})
			}
			start, changed := seconds(time.Now()), seconds(time.Now()).Add(4*time.Hour)
			w.sites["feeds.example"] = siteOfText(func() (text string) {
				now := seconds(time.Now())
				for i, c := range a.Watches {
					modified := now
					if i == 3 && same {
						if modified = start.Add(-time.Hour); !now.Before(changed) {
							modified = changed.Add(-time.Hour)
						}
					}
					text += lirsLine(c.URL, modified, now, 100)
				}
				return text
			})
			other := &page{plain: true}
			other.set(lirsLine(a.Watches[3].URL, start.Add(-time.Hour), start, 100))
			w.later(4*time.Hour, func() {
				other.set(lirsLine(a.Watches[3].URL, changed.Add(-time.Hour), changed.Add(-time.Minute), 100))
			})
			w.sites["other.example"] = other.answer
			a.Feeds = append(a.Feeds, Feed{Name: "other", URL: "https://other.example/", Every: 10 * time.Minute})
			var here time.Time
			j.handle = func(_ context.Context, u Update) (Outcome, error) {
				if u.URL == a.Watches[3].URL {
					here = time.Now()
				}
				return Outcome{Changed: true}, nil
			}
			watchFor(t, a, j, 6*time.Hour)
			if here.Before(changed) {
				t.Errorf("same %v: last asked %v before the change; %s", same, changed.Sub(here), reasons(j.got()))
			}
		})
	}
}
