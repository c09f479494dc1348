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

	"braid/antenna/feed"
)

// TestHandlerFails checks that an update that failed is handled again at growing intervals, and that other updates do
// not wait for it.
func TestHandlerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "https://files.example/b"
		w, p, a, j := oneFeed(t)
		p.text += lirsLine(other, time.Now(), time.Now(), 7)
		a.Watches = append(a.Watches, Watch{Name: "b", URL: other})
		var tries []time.Time
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if u.Watch == "b" {
				return Outcome{Changed: true}, nil
			}
			if tries = append(tries, time.Now()); u.Try != len(tries) {
				t.Errorf("try %d is called %d", len(tries), u.Try)
			}
			if len(tries) == 10 {
				return Outcome{Changed: true}, nil
			}
			return Outcome{}, errors.New("\x1b[31mdown")
		}
		watchFor(t, a, j, 48*time.Hour)
		if len(tries) != 10 || len(j.got()) != 11 {
			t.Fatalf("%d tries, %d updates", len(tries), len(j.got()))
		}
		want := time.Minute
		for i := 1; i < len(tries); i++ {
			if d := tries[i].Sub(tries[i-1]); d < want || d > want*5/4 {
				t.Errorf("try %d after %v, want %v", i+1, d, want)
			}
			want = min(2*want, 6*time.Hour)
		}
		// The feed was downloaded only once, because the feed itself did not fail.
		for i, v := range w.to(feedURL) {
			if (v.status == 200) != (i == 0) {
				t.Errorf("poll %d: %d", i, v.status)
			}
		}
		failed := 0
		for _, h := range eventsOf[Handled](j) {
			if h.Err != nil && h.Update.Watch == "a" && !h.Next.IsZero() {
				failed++
			}
		}
		if failed != 9 {
			t.Errorf("%d failures were told", failed)
		}
	})
}

// TestNewsWhileHandling checks that a report that arrives while its URL is handled is considered afterwards, and that a
// newer report replaces a failed update.
func TestNewsWhileHandling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Feeds[0].Every = time.Minute
		running := 0
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if running++; running > 1 {
				t.Error("one URL is handled twice at once")
			}
			defer func() { running-- }()
			time.Sleep(5 * time.Minute)
			if u.Record.Size == 200 {
				return Outcome{}, errors.New("down")
			}
			return Outcome{Changed: true}, nil
		}
		for i, size := range []int{200, 300} {
			w.later(time.Duration(2+4*i)*time.Minute, func() {
				p.set(lirsLine(fileURL, time.Now(), time.Now(), size))
			})
		}
		watchFor(t, a, j, time.Hour)
		var sizes []int64
		for _, u := range j.got() {
			sizes = append(sizes, u.Record.Size)
		}
		if fmt.Sprint(sizes) != "[100 200 300]" {
			t.Errorf("%v", sizes)
		}
	})
}

// TestFeedAhead checks that a feed with a newer version than the origin causes one update, which is tried again while
// the origin is behind (section 4.2.6).
func TestFeedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		old := time.Now().Add(-time.Hour)
		var at []time.Time
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			at = append(at, time.Now())
			if u.Reason == feed.FirstSight || len(at) == 5 {
				return Outcome{Changed: true, LastModified: u.Record.LastModified.UTC()}, nil
			}
			if u.Ahead != (len(at) > 2) {
				t.Errorf("try %d is ahead: %v", len(at), u.Ahead)
			}
			return Outcome{LastModified: old}, nil // status 304
		}
		w.later(15*time.Minute, func() { p.set(lirsLine(fileURL, time.Now(), time.Now(), 100)) })
		watchFor(t, a, j, 7*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified modified modified modified" {
			t.Fatal(got)
		}
		for i, want := range []time.Duration{10 * time.Minute, 20 * time.Minute, 40 * time.Minute} {
			if d := at[i+2].Sub(at[i+1]); d < want || d > want*5/4 {
				t.Errorf("asked again after %v, want %v", d, want)
			}
		}
		ahead := 0
		for _, h := range eventsOf[Handled](j) {
			if h.Ahead {
				ahead++
			}
		}
		if ahead != 3 {
			t.Errorf("%d times ahead", ahead)
		}
	})
}

// TestFeedAheadEnds checks that the attempts end if the origin never has the version of the feed.
func TestFeedAheadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		j.handle = func(context.Context, Update) (Outcome, error) {
			return Outcome{LastModified: time.Now().Add(-time.Hour * 1000)}, nil
		}
		watchFor(t, a, j, 100*time.Hour)
		if n := len(j.got()); n != 1+aheadMost {
			t.Errorf("%d tries", n)
		}
	})
}

func TestIsAhead(t *testing.T) {
	r := feed.Record{LastModified: 1000, Size: 10, MD5: "x"}
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, tt := range []struct {
		reason feed.Reason
		action feed.Action
		o      Outcome
		want   bool
	}{
		{feed.Modified, feed.Download, Outcome{LastModified: at(999)}, true},
		{feed.Modified, feed.Download, Outcome{}, true},
		{feed.Modified, feed.Download, Outcome{LastModified: at(1000)}, false},
		{feed.Modified, feed.Download, Outcome{Changed: true, LastModified: at(999)}, false},
		{feed.Modified, feed.Recheck, Outcome{LastModified: at(999)}, true},
		{feed.Modified, feed.Recheck, Outcome{}, false},
		{feed.FirstSight, feed.Download, Outcome{LastModified: at(999)}, true},
		{feed.FirstSight, feed.Download, Outcome{}, false},
		{feed.SizeChanged, feed.Download, Outcome{Size: 9}, true},
		{feed.SizeChanged, feed.Download, Outcome{Size: 10}, false},
		{feed.MD5Changed, feed.Download, Outcome{Size: 10}, true},
		{feed.WentBackwards, feed.Recheck, Outcome{}, false},
	} {
		if got := isAhead(&pending{Action: tt.action, Reason: tt.reason, Record: r}, tt.o); got != tt.want {
			t.Errorf("%v, %+v: %v", tt.reason, tt.o, got)
		}
	}
	// The date of an index page may be that of the easternmost zone, so the origin is not behind.
	const zone = 14 * 3600
	for ahead, want := range map[int64]bool{zone: false, zone + 1: true} {
		p := &pending{Action: feed.Recheck, Reason: feed.Modified, Record: feed.Record{Format: feed.IndexPage, LastModified: 1e9}}
		if got := isAhead(p, Outcome{LastModified: at(1e9 - ahead)}); got != want {
			t.Errorf("an index page, %d s later: %v", ahead, got)
		}
	}
}

// TestDailyLimit_Rule56 checks that the updates and bytes of a feed per day are limited and that the rest follows the
// next day. Another feed has a limit of its own.
func TestDailyLimit_Rule56(t *testing.T) {
	for _, limits := range []Limits{{Updates: 3}, {DayBytes: 300}} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			start := time.Now()
			a.Handlers = 1
			a.Feeds[0].Limits = limits
			a.Watches = nil
			p.text = ""
			for i := range 8 {
				u := fmt.Sprintf("https://files.example/%d", i)
				p.text += lirsLine(u, start, start, 100)
				a.Watches = append(a.Watches, Watch{URL: u})
			}
			other := &page{}
			other.set(lirsLine(fileURL, start, start, 100))
			w.sites["other.example"] = other.answer
			a.Feeds = append(a.Feeds, Feed{Name: "other", URL: "https://other.example/", Every: time.Hour})
			a.Watches = append(a.Watches, Watch{URL: fileURL})
			days := map[int]int{}
			j.handle = func(_ context.Context, u Update) (Outcome, error) {
				if u.Feed == "f" {
					days[int(time.Since(start)/(24*time.Hour))]++
				}
				if left := u.Allowance; u.Feed == "f" && limits.DayBytes > 0 &&
					(left == nil || left.Load() <= 0 || left.Load() > 300) {
					t.Errorf("may bring %d", left)
				}
				return Outcome{Changed: true, Bytes: 100}, nil
			}
			watchFor(t, a, j, 4*24*time.Hour)
			if fmt.Sprint(days) != "map[0:3 1:3 2:2]" || len(j.got()) != 9 {
				t.Errorf("%+v: %v, %d in all", limits, days, len(j.got()))
			}
			skipped := eventsOf[Skipped](j)
			if len(skipped) != 2 || skipped[0].Why != DailyLimit || skipped[0].Feed != "f" ||
				skipped[0].Until.Sub(start) != 24*time.Hour || skipped[1].Until.Sub(start) != 48*time.Hour {
				t.Errorf("%+v", skipped)
			}
		})
	}
}

// TestDailyLimitAtOnce_Rule56 checks that concurrent updates share the bytes of their feed, and that an update waits if
// none are left.
func TestDailyLimitAtOnce_Rule56(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		start := time.Now()
		a.Handlers, a.Watches, p.text = 3, nil, ""
		a.Feeds[0].Limits = Limits{DayBytes: 300}
		for i := range 8 {
			u := fmt.Sprintf("https://files.example/%d", i)
			p.text += lirsLine(u, start, start, 100)
			a.Watches = append(a.Watches, Watch{URL: u})
		}
		days := map[int]int64{}
		var mu sync.Mutex
		j.handle = func(_ context.Context, u Update) (o Outcome, err error) {
			for ; o.Bytes < 100; o.Bytes += 10 {
				if u.Allowance.Add(-10) < 0 {
					return o, errors.New("no more")
				}
				mu.Lock()
				days[int(time.Since(start)/(24*time.Hour))] += 10
				mu.Unlock()
				time.Sleep(time.Minute)
			}
			o.Changed = true
			return o, nil
		}
		watchFor(t, a, j, 4*24*time.Hour)
		done := 0
		for _, h := range eventsOf[Handled](j) {
			if h.Err == nil {
				done++
			}
		}
		if done != 8 || days[0] != 300 || days[1] != 300 || days[2] > 300 {
			t.Errorf("%d are done; bytes a day: %v", done, days)
		}
	})
}

// TestHandlersAtOnce checks the limit on concurrent updates of all watches.
func TestHandlersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		a.Watches, a.Handlers, p.text = nil, 3, ""
		for i := range 20 {
			u := fmt.Sprintf("https://files.example/%d", i)
			p.text += lirsLine(u, time.Now(), time.Now(), 100)
			a.Watches = append(a.Watches, Watch{URL: u})
		}
		running, most := make(chan struct{}, 100), 0
		j.handle = func(context.Context, Update) (Outcome, error) {
			running <- struct{}{}
			time.Sleep(time.Minute)
			j.mu.Lock()
			most = max(most, len(running))
			j.mu.Unlock()
			<-running
			return Outcome{Changed: true}, nil
		}
		watchFor(t, a, j, time.Hour)
		if most != 3 || len(j.got()) != 20 {
			t.Errorf("%d at once, %d in all", most, len(j.got()))
		}
	})
}

// TestReportFromTheFuture checks that a report with a time in the future is considered when that time has come, even if
// the feed responds with 304 by then.
func TestReportFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		later := time.Now().Add(90 * time.Minute)
		p.set(lirsLine(fileURL, later, later, 100))
		watchFor(t, a, j, 3*time.Hour)
		if h := eventsOf[Updated](j); len(h) != 1 || len(j.got()) != 1 {
			t.Fatalf("%+v", h)
		}
	})
}

// TestTwoFeeds checks that the same news from two feeds causes one update.
func TestTwoFeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		second := &page{}
		w.sites["other.example"] = second.answer
		a.Feeds = append(a.Feeds, Feed{Name: "g", URL: "https://other.example/", Every: 7 * time.Minute})
		for i := range 4 {
			w.later(time.Duration(i)*time.Hour, func() {
				line := lirsLine(fileURL, time.Now(), time.Now(), 100+i)
				p.set(line)
				w.later(10*time.Minute, func() { second.set(strings.Replace(line, ",t,", ",other,", 1)) })
			})
		}
		watchFor(t, a, j, 5*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified modified modified" {
			t.Error(got)
		}
	})
}

// TestNewsRepeated checks that a feed that repeats its news does not shorten the interval between attempts.
func TestNewsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		p.plain, a.Feeds[0].Every = true, 5*time.Minute // each poll is a new report
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("down") }
		watchFor(t, a, j, 8*time.Hour)
		got := j.got()
		// 1, 2, 4 ... 256 minutes
		if len(got) < 8 || len(got) > 9 || got[len(got)-1].Try != len(got) || len(eventsOf[Updated](j)) != 1 {
			t.Errorf("%d tries, the last is number %d, told %d times", len(got), got[len(got)-1].Try, len(eventsOf[Updated](j)))
		}
	})
}

func TestSameNews(t *testing.T) {
	p := pending{Action: feed.Download, Record: feed.Record{LastModified: 1, Size: 2, MD5: "x", Virtual: "v", Detected: 5}}
	again := p
	if again.Record.Detected = 9; !p.same(&again) {
		t.Error("to be seen again is other news")
	}
	for _, change := range []func(p *pending){
		func(p *pending) { p.Action = feed.Recheck }, func(p *pending) { p.Record.LastModified = 2 },
		func(p *pending) { p.Record.Size = 3 },
		func(p *pending) { p.Record.MD5 = "y" }, func(p *pending) { p.Record.Virtual = "" },
	} {
		other := p
		if change(&other); p.same(&other) {
			t.Errorf("%+v is the same", other)
		}
	}
}
