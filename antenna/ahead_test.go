package antenna

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// datedSite returns a site that knows only dates as validators, like http.server of Python. get returns its text and the
// date of the text. The site does not support HEAD.
func datedSite(get func() (string, time.Time)) site {
	return func(req *http.Request) *http.Response {
		text, modified := get()
		fields := []string{"Date: " + time.Now().UTC().Format(http.TimeFormat),
			"Last-Modified: " + modified.UTC().Format(http.TimeFormat)}
		since, err := http.ParseTime(req.Header.Get("If-Modified-Since"))
		switch {
		case req.Method == http.MethodHead:
			return says(405, "")
		case err == nil && !seconds(modified).After(since):
			return says(304, "", fields...)
		}
		resp := says(200, text, fields...)
		resp.ContentLength = int64(len(text))
		return resp
	}
}

// TestDateAhead checks that a feed whose date is in the future, from a wrong clock, is read again: until that date, its
// server would answer each conditional request with 304.
func TestDateAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		p.modified = time.Now().Add(365 * 24 * time.Hour)
		w.sites["feeds.example"] = datedSite(func() (string, time.Time) { return p.text, p.modified })
		w.later(3*time.Hour, func() { p.set(lirsLine(fileURL, time.Now().Add(-time.Minute), time.Now(), 120)) })
		watchFor(t, a, j, 6*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Error(got)
		}
	})
}

// TestPageChangedInItsSecond checks that a file that changes again in the second of its date is noticed, although its
// server supports neither HEAD nor ETags.
func TestPageChangedInItsSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		a.Feeds, a.Watches[0].CheckEvery = nil, time.Hour
		text, modified := "one", seconds(time.Now()).Add(time.Second) // GET follows HEAD after a second
		w.sites["files.example"] = datedSite(func() (string, time.Time) { return text, modified })
		w.later(1900*time.Millisecond, func() { text = "three" })
		watchFor(t, a, j, 6*time.Hour)
		if got := reasons(j.got()); got != "first-sight size-changed" {
			t.Error(got)
		}
	})
}
