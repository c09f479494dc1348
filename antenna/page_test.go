package antenna

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// onePage returns a world with a file that is checked and no feed.
func onePage(t *testing.T, s site) (*world, *Antenna, *journal) {
	w, j := newWorld(t), &journal{}
	w.sites["files.example"] = s
	a := w.antenna(j)
	a.Watches = []Watch{{Name: "a", URL: fileURL, CheckEvery: time.Hour, Header: http.Header{"X-Key": {"k"}}}}
	return w, a, j
}

// bare returns a response with header fields and a size, without a body.
func bare(size int64, fields ...string) *http.Response {
	resp := says(200, "", fields...)
	resp.ContentLength = size
	return resp
}

func TestOwnChecks(t *testing.T) {
	date := func(t time.Time) string { return "Last-Modified: " + t.UTC().Format(http.TimeFormat) }
	for _, tt := range []struct {
		name   string
		answer func(changed bool, at time.Time) *http.Response
	}{
		{"by time", func(_ bool, at time.Time) *http.Response { return bare(-1, date(at)) }},
		{"by size", func(changed bool, _ time.Time) *http.Response {
			if changed {
				return bare(11)
			}
			return bare(10)
		}},
		{"by ETag", func(_ bool, at time.Time) *http.Response { return bare(-1, "ETag: "+at.String()) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			w, a, j := onePage(t, nil)
			changed, at := false, start
			w.sites["files.example"] = func(req *http.Request) *http.Response {
				if req.Method != http.MethodHead || req.Header.Get("Accept-Encoding") != "identity" ||
					req.Header.Get("X-Key") != "k" {
					t.Errorf("%s %v", req.Method, req.Header)
				}
				return tt.answer(changed, at)
			}
			w.later(90*time.Minute, func() { changed, at = true, time.Now() })
			watchFor(t, a, j, 6*time.Hour)
			got := j.got()
			if len(got) != 2 || got[0].Reason != feed.FirstSight || got[1].Action != feed.Download || got[1].Feed != "a" {
				t.Errorf("%s: %s: %+v", tt.name, reasons(got), got)
			}
			if got[0].Record.URL != fileURL || got[0].Record.Format != feed.Own {
				t.Errorf("%s: %+v", tt.name, got[0].Record)
			}
		})
	}
}

// TestOwnChecksByGET checks that a server that refuses HEAD gets a conditional GET request, and that the body is not
// read.
func TestOwnChecksByGET(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{text: "file", modified: time.Now()}
		w, a, j := onePage(t, func(req *http.Request) *http.Response {
			if req.Method == http.MethodHead {
				return says(405, "")
			}
			resp := p.answer(req)
			resp.Body = http.NoBody
			return resp
		})
		w.later(150*time.Minute, func() { p.set("other") })
		watchFor(t, a, j, 4*time.Hour)
		var got []int
		for _, v := range w.to(fileURL) {
			got = append(got, v.status)
		}
		if want := []int{405, 200, 304, 304, 200}; len(got) != len(want) || got[2] != 304 || got[4] != 200 || got[0] != 405 {
			t.Errorf("%v, want %v", got, want)
		}
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Error(got)
		}
	})
}

// TestOwnChecksSpareTheSite checks the rule of LIRS that a server is not asked while a feed has seen the file recently,
// and that it is asked again when no feed has.
func TestOwnChecksSpareTheSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		file := &page{text: "file", modified: time.Now().Add(-time.Hour)}
		w.sites["files.example"] = file.answer
		a.Watches[0].CheckEvery = time.Hour
		start := time.Now()
		// For twelve hours, the feed reports each hour that it has seen the file.
		for i := range 12 {
			w.later(time.Duration(i)*time.Hour+time.Nanosecond, func() {
				p.set(lirsLine(fileURL, start.Add(-time.Hour), time.Now(), 100))
			})
		}
		p.set(lirsLine(fileURL, start.Add(-time.Hour), start, 100))
		a.Feeds[0].Every = 5 * time.Minute
		watchFor(t, a, j, 24*time.Hour)
		visits := w.to(fileURL)
		// The file is checked at once, perhaps before the feed is polled, and then from 8 hours after the last report.
		late := 0
		for _, v := range visits {
			if d := v.at.Sub(start); d > time.Minute && d < 19*time.Hour {
				t.Errorf("asked after %v", d)
			} else if d > time.Minute {
				late++
			}
		}
		if late < 4 || late > 6 {
			t.Errorf("asked %d times when no report was fresh", late)
		}
		if s := eventsOf[Skipped](j); len(s) == 0 || s[0].Why != FreshReport || s[0].Watch != "a" {
			t.Errorf("%+v", s)
		}
	})
}

// TestOwnChecksGoOn checks that a file is still checked now and then if a feed always claims to have seen it.
func TestOwnChecksGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		start := time.Now()
		w.sites["feeds.example"] = siteOfText(func() string {
			return lirsLine(fileURL, start.Add(-time.Hour), time.Now().Add(30*time.Minute), 100)
		})
		w.sites["files.example"] = (&page{text: "file", modified: start.Add(-time.Hour)}).answer
		a.Watches[0].CheckEvery = time.Hour
		watchFor(t, a, j, 100*time.Hour)
		if n := len(w.to(fileURL)); n < 4 || n > 6 {
			t.Errorf("asked %d times in 100 hours", n)
		}
	})
}

// TestPageAsFeed checks that a page can be a feed for every watch of its URL.
func TestPageAsFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, j := onePage(t, (&page{text: "x", modified: time.Now()}).answer)
		a.Feeds = []Feed{{URL: fileURL, Kind: Page}}
		a.Watches = []Watch{{URL: fileURL}}
		dir := t.TempDir()
		for range 2 {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
		}
		if got := j.got(); len(got) != 1 || got[0].URL != fileURL || len(w.to(fileURL)) < 4 {
			t.Errorf("%+v", got)
		}
	})
}

// siteOf returns a site that responds to HEAD with header fields and a size.
func siteOf(fields func() []string, size *int64) site {
	return func(*http.Request) *http.Response { return bare(*size, fields()...) }
}

// TestOwnCheckNow checks that RunNow checks a file by the name of its watch although a report is fresh.
func TestOwnCheckNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		w.sites["files.example"] = (&page{text: "file", modified: time.Now()}).answer
		p.set(lirsLine(fileURL, time.Now(), time.Now(), 100))
		a.Watches[0].CheckEvery = time.Hour
		time.AfterFunc(90*time.Minute, func() {
			if err := a.RunNow(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
		watchFor(t, a, j, 100*time.Minute)
		if n := len(w.to(fileURL)); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestSizeOfAnEncodedPage checks that the length of an encoded response is not taken for the size of the file.
func TestSizeOfAnEncodedPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, j := onePage(t, func(*http.Request) *http.Response { return bare(77, "Content-Encoding: gzip", `ETag: "1"`) })
		watchFor(t, a, j, time.Minute)
		if got := j.got(); len(got) != 1 || got[0].Record.Size != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestTagOfTheSameDate checks that a file with another tag counts as changed even if its date and size are the same,
// but that alternating tags count as those of two servers.
func TestTagOfTheSameDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		a := w.antenna(j)
		a.Watches = []Watch{{Name: "a", URL: fileURL, CheckEvery: time.Hour}}
		tags, n := []string{`"1"`}, 0
		w.sites["files.example"] = func(*http.Request) *http.Response {
			n++
			resp := says(200, "", "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT", "ETag: "+tags[n%len(tags)])
			resp.ContentLength = 100
			return resp
		}
		w.later(150*time.Minute, func() { tags = []string{`"2"`} })
		w.later(390*time.Minute, func() { tags = []string{`"1"`, `"2"`} })
		watchFor(t, a, j, 24*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Errorf("updates: %s", got)
		}
	})
}
