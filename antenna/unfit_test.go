package antenna

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/release"
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

// TestExcluded checks the status of a watch whose settings exclude all versions of its feed.
func TestExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		a.Watches[0].Releases.Choice = release.Choice{Versions: rangeOf(t, ">=3")}
		p.tag("v1.0", 0)
		p.tag("v1.1", 0)
		watchFor(t, a, j, time.Hour)
		s, err := a.Status(t.Context())
		if err != nil || len(s.Watches) != 1 || s.Watches[0].Reason != Excluded ||
			s.Watches[0].Words != "the feeds report 2 versions, but the settings of the watch exclude all of them" {
			t.Errorf("%+v, %v", s.Watches, err)
		}
		p.tag("v3.0", 0)
		watchFor(t, a, j, time.Hour)
		if got := stages(t, a); got != "3.0 in-place" {
			t.Errorf("stages: %s", got)
		}
	})
}

// TestStatusOfAttempts checks that the status has the time of the last attempt of a release that is not ready, also in a
// later run, and says while the handler runs.
func TestStatusOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		running := 0
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			s, err := a.Status(ctx)
			if err == nil && len(s.Watches) == 1 && s.Watches[0].Running {
				running++
			}
			return p.handle(ctx, u)
		}
		p.tag("v1.0", -1)
		watchFor(t, a, j, time.Hour)
		closed(t, a.Store)
		a.Store = storeIn(t, dir)
		defer func() { closed(t, a.Store) }()
		s, err := a.Status(t.Context())
		if err != nil || len(s.Watches) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		if w := &s.Watches[0]; w.Running || !w.Last.At.IsZero() || w.Asked().IsZero() || !w.Asked().Before(time.Now()) {
			t.Errorf("%+v", w)
		}
		if running == 0 || running != len(j.got()) {
			t.Errorf("%d of %d updates were shown as running", running, len(j.got()))
		}
	})
}
