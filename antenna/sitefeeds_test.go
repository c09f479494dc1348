package antenna

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// indexPageOf returns the index of the file's folder, as nginx writes it.
func indexPageOf(at time.Time) string {
	stamp := at.UTC().Format("02-Jan-2006 15:04")
	return "<html><head><title>Index of /dist/</title></head><body><pre><a href=\"../\">../</a>\n" +
		"<a href=\"a.tar.xz\">a.tar.xz</a>  " + stamp + "  100\n" +
		"<a href=\"https://other.example/dist/b.tar.xz\">b.tar.xz</a>  " + stamp + "  100\n</pre></body></html>"
}

// TestIndexPage_Rule79 checks that the index of a folder is polled like any feed: conditionally, and a new date of a file
// leads to a request for it. A file of another server is not reported.
func TestIndexPage_Rule79(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		p := &page{}
		p.set(indexPageOf(time.Now().Add(-48 * time.Hour)))
		w.sites["files.example"] = p.answer
		a.Feeds[0].URL = "https://files.example/dist/"
		a.Watches = append(a.Watches, Watch{Name: "b", URL: "https://other.example/dist/b.tar.xz"})
		w.later(3*time.Hour, func() { p.set(indexPageOf(time.Now())) })
		watchFor(t, a, j, 6*time.Hour)
		got := j.got()
		if reasons(got) != "first-sight modified" || got[1].Action != feed.Recheck || got[1].URL != fileURL ||
			got[1].Record.Size != 100 {
			t.Errorf("updates: %+v", got)
		}
		visits := w.to("https://files.example/dist/")
		if len(visits) < 30 || visits[1].status != 304 || visits[len(visits)-1].status != 304 {
			t.Errorf("%d visits: %+v", len(visits), visits[:2])
		}
	})
}

// releasesOf returns the list of releases of GitHub, with the file in one of them.
func releasesOf(tag string, at time.Time) string {
	return fmt.Sprintf(`[{"tag_name":"v9","draft":true,"assets":[{"browser_download_url":%q,"state":"uploaded","updated_at":"2026-01-01T00:00:00Z"}]},
{"tag_name":%q,"prerelease":true,"assets":[{"browser_download_url":%q,"state":"uploaded","size":100,"updated_at":%q}]}]`,
		fileURL, tag, fileURL, at.UTC().Format(time.RFC3339))
}

// TestReleases_Rule79 checks that a release API is polled like any feed, that an update has the tag, also after a
// restart, and that drafts do not count.
func TestReleases_Rule79(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w, p, a, j := oneFeed(t)
		p.set(releasesOf("v1.2", time.Now().Add(-time.Hour)))
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("not now") }
		a.Store = storeIn(t, dir)
		watchFor(t, a, j, time.Hour)
		closed(t, a.Store)
		first := j.got()
		j.handle = nil
		w.sites["feeds.example"] = func(*http.Request) *http.Response { return says(503, "") }
		a.Store = storeIn(t, dir)
		watchFor(t, a, j, 12*time.Hour)
		closed(t, a.Store)
		got := j.got()
		if len(first) == 0 || len(got) != len(first)+1 {
			t.Fatalf("%d updates, then %d", len(first), len(got))
		}
		for _, u := range got {
			if u.Record.Tag != "v1.2" || !u.Record.PreRelease || u.Record.Format != feed.ReleaseAPI || u.Record.Size != 100 {
				t.Errorf("%+v", u.Record)
			}
		}
	})
}

// TestSiteFeedsWithoutDates checks that a file that an index page lists without a date is fetched once.
func TestSiteFeedsWithoutDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		p := &page{plain: true}
		p.set(`<title>Index of /dist</title><a href="a.tar.xz">a.tar.xz</a>`)
		w.sites["files.example"] = p.answer
		a.Feeds[0].URL = "https://files.example/dist/"
		watchFor(t, a, j, 6*time.Hour)
		if got := reasons(j.got()); got != "first-sight" {
			t.Errorf("updates: %s", got)
		}
	})
}
