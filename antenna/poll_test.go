package antenna

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

const feedURL = "https://feeds.example/antenna.lirs"

// withSite returns a world with one feed, which s serves.
func withSite(t *testing.T, s site) (*world, *Antenna, *journal) {
	w, _, a, j := oneFeed(t)
	w.sites["feeds.example"] = s
	return w, a, j
}

// times returns the times between successive visits.
func times(list []visit) (gaps []time.Duration) {
	for i := 1; i < len(list); i++ {
		gaps = append(gaps, list[i].at.Sub(list[i-1].at))
	}
	return gaps
}

func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		status   int
		value    func() string
		from, to time.Duration
	}{
		{503, func() string { return "7200" }, 2 * time.Hour, 132 * time.Minute},
		{503, func() string { return time.Now().Add(3 * time.Hour).UTC().Format(http.TimeFormat) }, 179 * time.Minute,
			198 * time.Minute},
		{429, func() string { return "10000000000000000" }, 24 * time.Hour, 27 * time.Hour},
		{503, func() string { return "soon" }, 20 * time.Minute, 25 * time.Minute},
		{503, func() string { return "-1" }, 20 * time.Minute, 25 * time.Minute},
		{503, func() string { return "60" }, 20 * time.Minute, 25 * time.Minute}, // the usual interval is longer
	} {
		synctest.Test(t, func(t *testing.T) {
			w, a, j := withSite(t, nil)
			w.sites["feeds.example"] = func(*http.Request) *http.Response {
				return says(tt.status, "", "Retry-After: "+tt.value())
			}
			watchFor(t, a, j, 30*time.Hour)
			gaps := times(w.to(feedURL))
			if len(gaps) == 0 || gaps[0] < tt.from || gaps[0] > tt.to+time.Second {
				t.Errorf("%d %s: %v, want %v to %v", tt.status, tt.value(), gaps, tt.from, tt.to)
			}
		})
	}
}

// TestTooManyRequests checks that 429 for one feed holds all requests to the host, and 503 only that feed.
func TestTooManyRequests(t *testing.T) {
	for status, want := range map[int]int{429: 1, 503: 7} {
		synctest.Test(t, func(t *testing.T) {
			p := &page{}
			p.set("# nothing\n")
			w, a, j := withSite(t, func(req *http.Request) *http.Response {
				if req.URL.Path == "/bad" {
					return says(status, "", "Retry-After: 3300")
				}
				return p.answer(req)
			})
			a.Feeds = []Feed{{URL: "https://feeds.example/bad"}, {URL: feedURL, Every: 10 * time.Minute}}
			watchFor(t, a, j, 65*time.Minute)
			if got := len(w.to(feedURL)); got != want && got != want-want/7 { // because of jitter
				t.Errorf("after %d the other feed was asked %d times, want %d", status, got, want)
			}
		})
	}
}

// TestBackoff_Rule57 checks that a feed that is down is polled once an hour in the end, and as before when it is up.
func TestBackoff_Rule57(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, p := false, &page{}
		p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
		w, a, j := withSite(t, func(req *http.Request) *http.Response {
			if up {
				return p.answer(req)
			}
			return says(500, "")
		})
		w.later(10*time.Hour, func() {
			up = true
			p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
		})
		watchFor(t, a, j, 12*time.Hour)
		gaps := times(w.to(feedURL))
		for i, want := range []time.Duration{20, 40, 60, 60, 60, 60} {
			if d := gaps[i]; d < want*time.Minute || d > want*time.Minute*5/4+time.Second {
				t.Errorf("gap %d is %v, want %v minutes", i, d, want)
			}
		}
		if last := gaps[len(gaps)-1]; last > 11*time.Minute+time.Second || reasons(j.got()) != "first-sight" {
			t.Errorf("up again: %v, %s", last, reasons(j.got()))
		}
	})
}

// TestPreconditionFailed checks that a poll is repeated once without validators after status 412.
func TestPreconditionFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{}
		p.set("# nothing\n")
		w, a, j := withSite(t, func(req *http.Request) *http.Response {
			if req.Header.Get("If-None-Match") != "" {
				return says(412, "")
			}
			return p.answer(req)
		})
		watchFor(t, a, j, 15*time.Minute)
		var got []int
		for _, v := range w.to(feedURL) {
			got = append(got, v.status)
		}
		if fmt.Sprint(got) != "[200 412 200]" {
			t.Errorf("%v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w, a, j := withSite(t, func(*http.Request) *http.Response { return says(412, "") })
		watchFor(t, a, j, 5*time.Minute)
		if n := len(w.to(feedURL)); n != 1 || len(eventsOf[PollFailed](j)) != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestIfModifiedSince checks that If-Modified-Since is sent if the feed has no ETag, and never together with
// If-None-Match.
func TestIfModifiedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const date = "Wed, 10 Nov 1999 01:00:00 GMT"
		w, a, j := withSite(t, func(*http.Request) *http.Response { return says(200, "#", "Last-Modified: "+date) })
		watchFor(t, a, j, 15*time.Minute)
		if v := w.to(feedURL); v[1].header.Get("If-Modified-Since") != date || v[1].header.Get("If-None-Match") != "" {
			t.Errorf("%v", v[1].header)
		}
	})
}

func TestRedirects_Rule26(t *testing.T) {
	const good = "https://other.example/f"
	for _, tt := range []struct{ name, location, err string }{
		{"another host", good, ""},
		{"relative", "/moved", ""},
		{"nowhere", "", "to nowhere"},
		{"garbled", "https://%zz/", "not a URL"},
		{"downgrade", "http://other.example/f", "from https to http"},
		{"file", "file:///etc/passwd", "scheme"},
		{"ftp", "ftp://other.example/f", "scheme"},
		{"private", "https://10.0.0.1/", "private address"}, // rule 63
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &page{}
			p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
			w, a, j := withSite(t, func(req *http.Request) *http.Response {
				if req.URL.Path == "/moved" {
					return p.answer(req)
				}
				return says(302, "", "Location: "+tt.location)
			})
			w.sites["other.example"], w.sites["10.0.0.1"] = p.answer, p.answer
			a.Feeds[0].URL = "https://me:pw@feeds.example/antenna.lirs"
			a.Feeds[0].Header = http.Header{"X-Key": {"k"}}
			watchFor(t, a, j, 5*time.Minute)
			failed := eventsOf[PollFailed](j)
			if tt.err == "" && len(failed) > 0 ||
				tt.err != "" && (len(failed) != 1 || !strings.Contains(failed[0].Err.Error(), tt.err)) {
				t.Errorf("%s: %+v", tt.name, failed)
			}
			if first := w.to(feedURL)[0].header; first.Get("X-Key") != "k" ||
				!strings.HasPrefix(first.Get("Authorization"), "Basic ") {
				t.Errorf("%s: the server itself is told %v", tt.name, first)
			}
			for _, v := range w.to(good) { // rule 27
				if v.header.Get("X-Key") != "" || v.header.Get("Authorization") != "" {
					t.Errorf("%s: another host is told %v", tt.name, v.header)
				}
			}
		})
	}
}

// TestBrokenSOIF_Rule55 checks that objects before an error count and that missing ones do not count as removed.
func TestBrokenSOIF_Rule55(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "https://files.example/b"
		object := func(u string, modified time.Time) string {
			at, now := fmt.Sprint(modified.Unix()), fmt.Sprint(time.Now().Unix())
			return fmt.Sprintf("@FILE { %s\nLast-Modification-Time{%d}:\t%s\nUpdate-Time{%d}:\t%s\n}\n", u, len(at), at,
				len(now), now)
		}
		start := time.Now()
		body := object(fileURL, start) + object(other, start)
		w, a, j := withSite(t, func(*http.Request) *http.Response { return says(200, body) })
		a.Watches = append(a.Watches, Watch{URL: other})
		w.later(15*time.Minute, func() {
			body = object(fileURL, start.Add(time.Minute)) + "@FILE { " + other + "\nMD5{-1}:\tx\n}\n"
		})
		time.AfterFunc(24*time.Minute, func() {
			if s, err := a.Status(t.Context()); err != nil || s.Watches[1].Reason != "unchanged" {
				t.Errorf("%+v, %v", s, err)
			}
		})
		watchFor(t, a, j, 25*time.Minute)
		if got := reasons(j.got()); got != "first-sight first-sight modified" || len(eventsOf[PollFailed](j)) != 1 {
			t.Errorf("%s, %+v", got, eventsOf[PollFailed](j))
		}
	})
}

// TestSkipped_Rule53 checks that records with an unusable or private URL are skipped and counted.
func TestSkipped_Rule53(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := []string{
			"ftp://files.example/a", "news:x.y", "https://files.example/" + strings.Repeat("x", feed.MaxURL-30),
			"http://10.0.0.1/a", fileURL,
		}
		var b strings.Builder
		for _, u := range lines {
			b.WriteString(lirsLine(u, time.Now(), time.Now(), 1))
		}
		_, a, j := withSite(t, func(*http.Request) *http.Response { return says(200, b.String()) })
		a.Feeds[0].Relay = true
		watchFor(t, a, j, time.Minute)
		e := eventsOf[Polled](j)
		if len(e) != 1 || e[0].Records != 5 || e[0].Skipped != 3 || e[0].Relayed != 2 || e[0].Matched != 1 {
			t.Errorf("%+v", e)
		}
	})
}

func TestLocalFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, j := withSite(t, nil)
		path := filepath.Join(t.TempDir(), "antenna.lirs")
		write := func(size int) {
			if err := os.WriteFile(path, []byte(lirsLine(fileURL, time.Now(), time.Now(), size)), 0o600); err != nil {
				t.Error(err)
			}
		}
		write(1)
		a.Feeds = []Feed{
			{URL: path, Local: true, Every: time.Minute}, {URL: t.TempDir(), Local: true}, {URL: "/dev/zero", Local: true},
			{URL: filepath.Join(t.TempDir(), "pipe"), Local: true},
		}
		if err := syscall.Mkfifo(a.Feeds[3].URL, 0o600); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(150*time.Second, func() { write(2) })
		watchFor(t, a, j, 5*time.Minute)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Error(got)
		}
		polled := eventsOf[Polled](j)
		if len(polled) < 3 || !polled[1].Unchanged || polled[1].Records != 0 {
			t.Errorf("%+v", polled)
		}
		failed := eventsOf[PollFailed](j)
		for _, e := range failed {
			if !strings.Contains(e.Err.Error(), "not a regular file") {
				t.Errorf("%s: %v", e.Feed, e.Err)
			}
		}
		if len(failed) != 3 {
			t.Errorf("%d feeds failed", len(failed))
		}
	})
}

// TestStopInTheMiddle checks that everything ends when the context is cancelled, and that nothing counts as failed.
func TestStopInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, j := withSite(t, nil)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		p := &page{}
		p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
		w.sites["feeds.example"] = p.answer
		w.sites["drip.example"] = func(*http.Request) *http.Response { return reply(200, drip{time.Second}) }
		a.Feeds = append(a.Feeds, Feed{URL: "https://drip.example/"})
		j.handle = func(ctx context.Context, _ Update) (Outcome, error) {
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		}
		watchFor(t, a, j, 30*time.Second)
		closed(t, a.Store)
		if len(eventsOf[PollFailed](j)) > 0 || len(j.got()) != 1 {
			t.Errorf("%+v, %d updates", eventsOf[PollFailed](j), len(j.got()))
		}
		time.Sleep(w.gap)
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		s, err := a.Status(t.Context())
		if err != nil || !s.Watches[0].Pending || s.Watches[0].Err != "" {
			t.Errorf("%+v, %v", s, err)
		}
		watchFor(t, a, j, 30*time.Second)
		if len(j.got()) != 2 || j.got()[1].Try != 2 {
			t.Errorf("%+v", j.got())
		}
	})
}

// TestReportFromTheFutureOfAFeedThatIsDown checks that a report from the future counts when its time has come.
func TestReportFromTheFutureOfAFeedThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		w.later(time.Hour, func() {
			at := time.Now().Add(2 * time.Hour)
			p.set(lirsLine(fileURL, at, at, 200))
		})
		w.later(90*time.Minute, func() { w.sites["feeds.example"] = func(*http.Request) *http.Response { return says(503, "") } })
		watchFor(t, a, j, 6*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Errorf("updates: %s", got)
		}
	})
}
