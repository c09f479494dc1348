package antenna

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestTokenRefused_Rule27 checks that a feed is polled without its token once the server has refused it, that this is
// reported once, and that no other server gets the token.
func TestTokenRefused_Rule27(t *testing.T) {
	for name, refuses := range map[string]bool{"accepted": false, "refused": true} {
		synctest.Test(t, func(t *testing.T) {
			w, j := newWorld(t), &journal{}
			w.sites["api.example"] = func(req *http.Request) *http.Response {
				switch {
				case req.URL.Path == "/moved":
					return says(302, "", "Location: https://other.example/feed")
				case refuses && req.Header.Get("Authorization") != "":
					return says(401, "{}")
				}
				return says(200, "[]")
			}
			w.sites["other.example"] = func(*http.Request) *http.Response { return says(200, "[]") }
			a := w.antenna(j)
			a.Feeds = []Feed{
				{Name: "f", URL: "https://api.example/feed", Token: "secret", Every: time.Hour},
				{Name: "moved", URL: "https://api.example/moved", Token: "secret", Every: time.Hour},
				{Name: "own", URL: "https://api.example/own", Token: "secret", Every: time.Hour,
					Header: http.Header{"Authorization": {"mine"}}},
			}
			watchFor(t, a, j, 3*time.Hour+30*time.Minute)
			var with, without int
			for _, v := range w.to("https://api.example/feed") {
				if v.header.Get("Authorization") == "Bearer secret" {
					with++
				} else {
					without++
				}
			}
			events := eventsOf[TokenRefused](j)
			if refuses && (with != 1 || without < 3 || len(events) != 1 || events[0].Feed != "f") {
				t.Errorf("%s: %d requests with the token, %d without it; events %v", name, with, without, events)
			}
			if !refuses && (with < 3 || without > 0 || len(events) > 0) {
				t.Errorf("%s: %d requests with the token, %d without it; events %v", name, with, without, events)
			}
			if failed := eventsOf[PollFailed](j); !refuses && len(failed) > 0 || len(w.to("https://other.example/feed")) == 0 {
				t.Errorf("%s: %+v", name, failed)
			}
			for _, v := range w.to("https://other.example/feed") {
				if v.header.Get("Authorization") != "" {
					t.Errorf("%s: another server got %q", name, v.header.Get("Authorization"))
				}
			}
			for _, v := range w.to("https://api.example/own") {
				if v.header.Get("Authorization") != "mine" {
					t.Errorf("%s: the user's own field became %q", name, v.header.Get("Authorization"))
				}
			}
		})
	}
}
