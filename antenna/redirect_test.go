package antenna

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// What a feed's server is told goes there again after a redirect within it, and not when another host sent us back.
func TestRedirectedBack_Rule27(t *testing.T) {
	const back = "https://feeds.example/back"
	for via, want := range map[string]string{"/within": "k", "https://other.example/f": ""} {
		synctest.Test(t, func(t *testing.T) {
			p := &page{}
			p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
			w, a, j := withSite(t, func(req *http.Request) *http.Response {
				switch req.URL.Path {
				case "/back":
					return p.answer(req)
				case "/within":
					return says(302, "", "Location: "+back)
				}
				return says(302, "", "Location: "+via)
			})
			w.sites["other.example"] = func(*http.Request) *http.Response { return says(302, "", "Location: "+back) }
			a.Feeds[0].Header = http.Header{"X-Key": {"k"}}
			watchFor(t, a, j, 5*time.Minute)
			if v := w.to(back); len(v) == 0 || v[0].header.Get("X-Key") != want {
				t.Errorf("by %s: %+v", via, v)
			}
		})
	}
}
