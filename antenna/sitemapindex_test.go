package antenna

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// indexOf returns an index of sitemaps, each with lastmod unless it is empty.
func indexOf(lastmod string, urls ...string) string {
	s := `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for _, u := range urls {
		s += "<sitemap><loc>" + u + "</loc>"
		if lastmod != "" {
			s += "<lastmod>" + lastmod + "</lastmod>"
		}
		s += "</sitemap>"
	}
	return s + "</sitemapindex>"
}

// TestSitemapIndex_Rule53 checks that the sitemaps of an index are read as one feed. Sitemaps of other hosts and
// indexes in an index are skipped, and a missing sitemap does not affect the others. Without lastmod, the sitemaps are
// read even if the index has not changed.
func TestSitemapIndex_Rule53(t *testing.T) {
	for _, lastmod := range []string{"2026-11-01", ""} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			const at = "https://feeds.example"
			p.set(indexOf(lastmod, at+"/one.xml", "https://evil.example/map.xml", at+"/two.xml", at+"/deep.xml",
				at+"/missing.xml"))
			has := seconds(time.Now().Add(-time.Hour))
			two := &page{plain: true}
			two.set(mapOf(has.UTC().Format(time.RFC3339)))
			w.later(3*time.Hour, func() {
				two.set(mapOf(seconds(time.Now()).UTC().Format(time.RFC3339)))
				if lastmod != "" {
					p.set(indexOf("2026-11-02", at+"/one.xml", at+"/two.xml"))
				}
			})
			w.sites["feeds.example"] = func(req *http.Request) *http.Response {
				switch req.URL.Path {
				case "/one.xml":
					return says(200, `<urlset><url><loc>https://files.example/other</loc></url></urlset>`)
				case "/two.xml":
					return two.answer(req)
				case "/deep.xml":
					return says(200, indexOf("", at+"/deeper.xml"))
				case "/missing.xml", "/deeper.xml":
					return says(404, "")
				}
				return p.answer(req)
			}
			watchFor(t, a, j, 8*time.Hour)
			if got := reasons(j.got()); !strings.HasPrefix(got, "first-sight modified") {
				t.Errorf("%q: %s", lastmod, got)
			}
			if n := len(w.to("https://evil.example/map.xml")) + len(w.to(at+"/deeper.xml")); n > 0 {
				t.Errorf("%d requests lead elsewhere", n)
			}
			failed := eventsOf[PollFailed](j)
			if len(failed) == 0 || !strings.Contains(failed[0].Err.Error(), "1 of 4 sitemaps of the index were not read") {
				t.Errorf("%+v", failed)
			}
		})
	}
}

// TestManySitemaps checks that only the sitemaps with the latest lastmod of a long index are read.
func TestManySitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		var b strings.Builder
		b.WriteString("<sitemapindex>")
		for i := range 1000 {
			fmt.Fprintf(&b, "<sitemap><loc>https://feeds.example/%d.xml</loc><lastmod>%s</lastmod></sitemap>", i,
				time.Date(2020, 1, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339))
		}
		p.set(b.String() + "</sitemapindex>")
		asked := 0
		w.sites["feeds.example"] = func(req *http.Request) *http.Response {
			if !strings.HasSuffix(req.URL.Path, ".xml") {
				return p.answer(req)
			}
			asked++
			if req.URL.Path != "/999.xml" {
				return says(200, "<urlset><url><loc>https://files.example/x</loc></url></urlset>")
			}
			return says(200, mapOf(time.Now().Add(-100*time.Hour).UTC().Format(time.RFC3339)))
		}
		watchFor(t, a, j, 5*time.Hour)
		if got := reasons(j.got()); asked != maxSitemaps || got != "first-sight" {
			t.Errorf("%d sitemaps are asked for, %s", asked, got)
		}
		if polled := eventsOf[Polled](j); len(polled) == 0 || polled[0].Matched != 1 {
			t.Errorf("%+v", polled)
		}
	})
}

// TestSecondChangeOfDayOfIndex checks that a sitemap that changes twice on the day of its lastmod in an index is read
// again, although the index has not changed.
func TestSecondChangeOfDayOfIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(48 * time.Hour)
		has := midnight.Add(-30 * 24 * time.Hour)
		index := func() { p.set(indexOf(has.Format(time.DateOnly), "https://feeds.example/one.xml")) }
		index()
		for _, hour := range []int{2, 9} {
			w.later(time.Until(midnight.Add(time.Duration(hour)*time.Hour)), func() {
				if has = time.Now().UTC(); hour == 2 {
					index()
				}
			})
		}
		w.sites["feeds.example"] = func(req *http.Request) *http.Response {
			if req.URL.Path == "/one.xml" {
				return says(200, mapOf(has.Format(time.RFC3339)))
			}
			return p.answer(req)
		}
		watchFor(t, a, j, 10*24*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified modified" {
			t.Errorf("%s", got)
		}
		if n := len(w.to("https://feeds.example/one.xml")); n > 300 {
			t.Errorf("%d requests for the sitemap", n)
		}
	})
}
