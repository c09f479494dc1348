package antenna

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// atomOf returns a feed with one entry about the file.
func atomOf(at time.Time) string {
	stamp := at.UTC().Format(time.RFC3339)
	return `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><id>urn:f</id><updated>` + stamp +
		`</updated><entry><title>e</title><id>urn:e</id><updated>` +
		stamp + `</updated><link href="` + fileURL + `"/></entry></feed>`
}

func sitemapOf(at time.Time) string {
	return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` + fileURL + `</loc><lastmod>` +
		at.UTC().Format(time.RFC3339) + `</lastmod></url></urlset>`
}

// soifText returns an object without Time-to-Live.
func soifText(at time.Time) string {
	return fmt.Sprintf("@FILE { %s\nLast-Modification-Time{9}:\t%d\nUpdate-Time{9}:\t%d\n}\n", fileURL, at.Unix(), at.Unix())
}

// hinaText returns a block that expires in five years.
func hinaText(at time.Time) string {
	date := func(t time.Time) string { return t.UTC().Format(http.TimeFormat) }
	return "HINA/2.2beta\r\nUser-Agent: x\r\nDate: " + date(at) + "\r\n\r\nURL: " + fileURL + "\r\nLast-Modified: " + date(at) +
		"\r\nLast-Modified-Detected: " + date(at) + "\r\nExpires: " + date(at.AddDate(5, 0, 0)) + "\r\n\r\n"
}

// TestNewsBesideOthers checks that news of the site itself cause an update even if the file was checked before, by the
// antenna itself or by an agent whose record never expires.
func TestNewsBesideOthers(t *testing.T) {
	for name, other := range map[string]func(time.Time) string{"own checks": nil, "SOIF without a limit": soifText,
		"hina-di with a far limit": hinaText} {
		for kind, text := range map[string]func(time.Time) string{"atom": atomOf, "sitemap": sitemapOf} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, p, a, j := oneFeed(t)
					p.set(text(time.Now().Add(-48 * time.Hour)))
					file, agent := &page{}, &page{}
					file.set("x")
					w.sites["files.example"] = file.answer
					if other == nil {
						a.Watches[0].CheckEvery = 6 * time.Hour
					} else {
						agent.set(other(time.Now().Add(-time.Hour)))
						w.sites["agent.example"] = agent.answer
						a.Feeds = append(a.Feeds, Feed{Name: "agent", URL: "https://agent.example/", Every: time.Hour})
					}
					var at time.Time
					w.later(100*time.Minute, func() { at = time.Now(); p.set(text(at)) })
					watchFor(t, a, j, 3*time.Hour)
					got := j.got()
					if last := got[len(got)-1]; last.Feed != "f" || last.Record.LastModified != feed.At(at) {
						t.Errorf("updates: %s, the last by %s", reasons(got), last.Feed)
					}
				})
			})
		}
	}
}

// TestNewsBeforeTheLook checks that news that are older than the last check of the file cause no update, also if checks
// are rare.
func TestNewsBeforeTheLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		file := &page{}
		file.set("x")
		announced := time.Now().Add(30 * time.Minute) // about the file that exists already
		w.sites["files.example"] = file.answer
		a.Watches[0].CheckEvery = 12 * time.Hour
		p.set("# nothing\n")
		time.Sleep(time.Hour)
		p.set(atomOf(announced))
		p.plain = true
		watchFor(t, a, j, 48*time.Hour)
		if got := reasons(j.got()); got != "first-sight went-backwards" { // the first check
			t.Errorf("updates: %s", got)
		}
	})
}
