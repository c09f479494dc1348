package antenna

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// entriesOf returns an Atom feed with an entry for each page, with or without dates.
func entriesOf(dated bool, pages ...time.Time) string {
	s := `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><id>i</id>`
	for i, at := range pages {
		s += fmt.Sprintf(`<entry><title>%d</title><id>i%d</id><link href="https://files.example/releases/tag/%d"/>`, i, i, i)
		if dated {
			s += `<updated>` + at.UTC().Format(time.RFC3339) + `</updated>`
		}
		s += `</entry>`
	}
	return s + `</feed>`
}

// TestAnyNews checks that with AnyNews a file that no feed lists is checked once for each news of its feed, with or
// without a date, and not for news of other feeds.
func TestAnyNews(t *testing.T) {
	for _, tt := range []struct {
		any, dated bool
		feeds      []string
		want       string
	}{
		{true, true, []string{"f"}, "first-sight modified"},
		{true, false, []string{"f"}, "first-sight md5-changed"},
		{true, true, []string{"other"}, ""},
		{false, true, []string{"f"}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			a.Feeds = append(a.Feeds, Feed{Name: "other", URL: "https://feeds.example/other"})
			w.sites["feeds.example"] = func(req *http.Request) *http.Response {
				if req.URL.Path == "/other" {
					return says(200, "# nothing\n")
				}
				return p.answer(req)
			}
			a.Watches = []Watch{{Name: "a", URL: fileURL, AnyNews: tt.any, Feeds: tt.feeds}}
			first := seconds(time.Now().Add(-time.Hour))
			p.set(entriesOf(tt.dated, first))
			w.later(3*time.Hour, func() { p.set(entriesOf(tt.dated, first, seconds(time.Now()))) })
			watchFor(t, a, j, 8*time.Hour)
			got := j.got()
			if reasons(got) != tt.want {
				t.Fatalf("%+v: %s", tt, reasons(got))
			}
			for i, u := range got {
				if u.URL != fileURL || i > 0 && u.Action != feed.Recheck {
					t.Errorf("%+v", u)
				}
			}
		})
	}
}

// TestAnyNewsWithEarlierDate checks that a new entry is news although its date is earlier than that of another entry.
func TestAnyNewsWithEarlierDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Watches = []Watch{{Name: "a", URL: fileURL, AnyNews: true, Feeds: []string{"f"}}}
		first := seconds(time.Now().Add(-time.Hour))
		p.set(entriesOf(true, first))
		w.later(3*time.Hour, func() { p.set(entriesOf(true, first, first.Add(-time.Hour))) })
		watchFor(t, a, j, 8*time.Hour)
		if got := reasons(j.got()); got != "first-sight md5-changed" {
			t.Error(got)
		}
	})
}

// TestAnyNewsAfterRestart checks that a restart is no news.
func TestAnyNewsAfterRestart(t *testing.T) {
	for _, dated := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			_, p, a, j := oneFeed(t)
			a.Store = storeIn(t, t.TempDir())
			defer closed(t, a.Store)
			a.Watches = []Watch{{Name: "a", URL: fileURL, AnyNews: true, Feeds: []string{"f"}}}
			p.set(entriesOf(dated, seconds(time.Now().Add(-time.Hour))))
			for range 3 {
				watchFor(t, a, j, time.Hour)
			}
			if got := reasons(j.got()); got != "first-sight" {
				t.Errorf("dated %v: %s", dated, got)
			}
		})
	}
}
