package antenna

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestDateOfThisSecond checks that a Last-Modified less than a second before the response is not used as a validator,
// because the file may change again within that second (RFC 9110, section 8.8.2.2).
func TestDateOfThisSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text, date string
		w, a, j := withSite(t, func(req *http.Request) *http.Response {
			if req.Header.Get("If-Modified-Since") == date {
				return says(304, "")
			}
			return says(200, text, "Last-Modified: "+date)
		})
		text, date = lirsLine(fileURL, time.Now().Add(-time.Hour), time.Now(), 1), time.Now().UTC().Format(http.TimeFormat)
		w.later(500*time.Millisecond, func() { text = lirsLine(fileURL, time.Now(), time.Now(), 2) }) // in the same second
		watchFor(t, a, j, 3*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Errorf("updates: %s", got)
		}
	})
}
