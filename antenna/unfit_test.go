package antenna

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoneFits checks that it is reported once if no URL of a feed matches a glob, and shown in the status until one
// does, also in a later run.
func TestNoneFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Watches = []Watch{{Name: "g", URL: "https://files.example/other/*.iso", Glob: true}, {Name: "deaf", URL: "https://files.example/*", Glob: true, Feeds: []string{"silent"}}}
		a.Feeds = append(a.Feeds, Feed{Name: "silent", URL: "https://feeds.example/silent.lirs"})
		w.sites["feeds.example"] = func(req *http.Request) *http.Response {
			if req.URL.Path == "/antenna.lirs" {
				return p.answer(req)
			}
			return says(200, "# nothing\n")
		}
		p.set(lirsLine(strings.Replace(fileURL, "https://", "https://user:secret@", 1), time.Now(), time.Now(), 1) + lirsLine(fileURL+".2", time.Now(), time.Now(), 1))
		for range 2 {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			s, err := a.Status(t.Context())
			closed(t, a.Store)
			if err != nil || len(s.Watches) != 1 || s.Watches[0].Name != "g" || s.Watches[0].Reason != Unfit ||
				!strings.Contains(s.Watches[0].Words, "the feed f reports 2 URLs, but none that matches; for example https://") || strings.Contains(s.Watches[0].Words, "secret") {
				t.Errorf("%+v, %v", s.Watches, err)
			}
		}
		if told := eventsOf[NoneFits](j); len(told) != 1 || told[0].Feed != "f" || told[0].Watch != "g" || told[0].URLs != 2 || strings.Contains(told[0].Example, "secret") {
			t.Errorf("%+v", told)
		}
		p.set(lirsLine("https://files.example/other/a.iso", time.Now(), time.Now(), 1))
		a.Store = storeIn(t, dir)
		defer func() { closed(t, a.Store) }()
		watchFor(t, a, j, time.Hour)
		if s, err := a.Status(t.Context()); err != nil || len(s.Watches) != 1 || s.Watches[0].Reason == Unfit {
			t.Errorf("%+v, %v", s.Watches, err)
		}
	})
}
