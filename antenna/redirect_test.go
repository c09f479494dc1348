package antenna

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestRedirectedBack_Rule27 checks that header fields of a feed are sent again after a redirect within its server, but
// not after a redirect from another host back to it.
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

// TestValidatorsAreOfOneURL checks a redirector that leads to different mirrors: the ETag of one mirror is not sent to
// another, and each mirror's own ETag is.
func TestValidatorsAreOfOneURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mirror := "https://one.example/f"
		w, a, j := withSite(t, func(*http.Request) *http.Response { return says(302, "", "Location: "+mirror) })
		old, news := lirsLine(fileURL, time.Now().Add(-time.Hour), time.Now(), 1), lirsLine(fileURL, time.Now(), time.Now(), 2)
		serve := func(text string) site {
			return func(req *http.Request) *http.Response {
				if req.Header.Get("If-None-Match") == `"1"` {
					return says(304, "")
				}
				return says(200, text, `ETag: "1"`)
			}
		}
		w.sites["one.example"], w.sites["two.example"] = serve(old), serve(news)
		w.later(time.Hour, func() { mirror = "https://two.example/f" })
		watchFor(t, a, j, 3*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Errorf("updates: %s", got)
		}
		for _, u := range []string{"https://one.example/f", "https://two.example/f"} {
			if v := w.to(u); len(v) < 2 || v[0].status != 200 || v[1].status != 304 {
				t.Errorf("%s: %+v", u, v)
			}
		}
	})
}
