package antenna

import (
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// nowTest is the time of the collectors.
const nowTest feed.Time = 1_700_000_000

// collectorOf returns a collector for one watch.
func collectorOf(t *testing.T, f Feed) *collector {
	t.Helper()
	w, err := newWatcher(Watch{Name: "a", URL: fileURL})
	if err != nil {
		t.Fatal(err)
	}
	f.Limits = f.Limits.orDefault()
	return newCollector(&f, newMatcher([]*watcher{w}), nowTest)
}

// collect reads all records, as read does. If the feed is rejected, it returns the records before the error only if c
// may keep them.
func (c *collector) collect(records iter.Seq2[feed.Record, error]) (result, error) {
	broke, err := c.take(records)
	if err != nil && !broke {
		return result{}, err
	}
	return c.finish(err)
}

func sequenceOf(list ...feed.Record) iter.Seq2[feed.Record, error] {
	return func(yield func(feed.Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// TestRelayIsBounded checks the limits on relayed records, in records and in bytes. Watched records are always kept.
func TestRelayIsBounded(t *testing.T) {
	record := func(i, size int) feed.Record {
		return feed.Record{URL: fmt.Sprintf("https://h.example/%d", i),
			Fields: []feed.Field{{Name: "X", Value: strings.Repeat("x", size)}}}
	}
	many := []feed.Record{}
	for i := range 10 {
		many = append(many, record(i, 10))
	}
	many = append(many, feed.Record{URL: fileURL, Fields: []feed.Field{{Name: "X"}}})
	k, err := collectorOf(t, Feed{Relay: true, Limits: Limits{Relayed: 4}}).collect(sequenceOf(many...))
	stored, failed := restored(k.stored)
	if err != nil || failed != nil || k.relayed != 4 || k.matched != 1 || len(stored) != 5 || stored[0].Fields == nil ||
		stored[4].Fields != nil {
		t.Errorf("%d relayed, %d matched, %d stored, %v, %v", k.relayed, k.matched, len(stored), err, failed)
	}
	k, err = collectorOf(t, Feed{Relay: true}).collect(sequenceOf(record(1, maxRelayed/2), record(2, maxRelayed/2),
		record(3, 100)))
	if err != nil || k.relayed != 2 || k.records != 3 {
		t.Errorf("%d of %d are relayed, %v", k.relayed, k.records, err)
	}
	k, err = collectorOf(t, Feed{}).collect(sequenceOf(many...))
	if stored, _ := restored(k.stored); err != nil || k.relayed != 0 || len(stored) != 1 {
		t.Errorf("%d are relayed though nobody asked, %v", k.relayed, err)
	}
}

func TestIsWeb_Rule53(t *testing.T) {
	for u, want := range map[string]bool{
		"http://h/": true, "HTTPS://h/": true, "ftp://h/": false, "http:h": false, "": false, "javascript://h/": false,
		"http://h/" + strings.Repeat("x", feed.MaxURL-9): true, "http://h/" + strings.Repeat("x", feed.MaxURL-8): false,
	} {
		if isWeb(u) != want {
			t.Errorf("%.40s: %v", u, !want)
		}
	}
}

// TestHatenaTimes checks that the times of Hatena are used only with HatenaTimes (repair H12).
func TestHatenaTimes(t *testing.T) {
	r := feed.Record{Format: feed.HinaDI, URL: fileURL,
		Fields: []feed.Field{{Name: "X-Hatena-Last-Modified", Value: "Tue, 10 Nov 2026 01:00:00 GMT"}}}
	for asked, want := range map[bool]feed.Time{false: 0, true: 1794272400} {
		k, err := collectorOf(t, Feed{HatenaTimes: asked}).collect(sequenceOf(r))
		if err != nil || k.matches[0].record.LastModified != want {
			t.Errorf("asked %v: %+v, %v", asked, k.matches, err)
		}
	}
}

// TestReceived checks that the Last-Modified of the response is used if the feed has no date.
func TestReceived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		modified := seconds(time.Now().Add(-time.Hour))
		text := "HINA/2.2beta\r\nUser-Agent: x\r\n\r\nURL: " + fileURL + "\r\nLast-Modified: Fri, 31 Dec 1999 20:00:00 " +
			"GMT\r\n\r\n"
		_, a, j := withSite(t, func(*http.Request) *http.Response {
			return says(200, text, "Last-Modified: "+modified.UTC().Format(http.TimeFormat))
		})
		watchFor(t, a, j, time.Minute)
		if got := j.got(); len(got) != 1 || got[0].Record.Received != feed.At(modified) {
			t.Errorf("%+v", got)
		}
	})
}

func TestContentEncoding(t *testing.T) {
	for encoding, ok := range map[string]bool{"gzip": true, "X-GZIP": true, "identity": true, "br": false, "gzip, gzip": false} {
		synctest.Test(t, func(t *testing.T) {
			_, a, j := withSite(t, func(*http.Request) *http.Response {
				return says(200, lirsLine(fileURL, time.Now(), time.Now(), 1), "Content-Encoding: "+encoding)
			})
			watchFor(t, a, j, time.Minute)
			if got := len(j.got()) == 1; got != ok || len(eventsOf[PollFailed](j)) == 1 == ok {
				t.Errorf("%s: %v, %+v", encoding, got, eventsOf[PollFailed](j))
			}
		})
	}
}

// TestAdaptiveInterval_Rule57 checks that the interval between polls depends on how often the watched records change,
// whatever validators the server sends (rule 57).
func TestAdaptiveInterval_Rule57(t *testing.T) {
	for _, tt := range []struct {
		changes  time.Duration
		from, to time.Duration // the last interval
	}{
		{0, time.Hour, 66 * time.Minute}, {10 * time.Minute, 5 * time.Minute, 11 * time.Minute / 2},
		{2 * time.Hour, 20 * time.Minute, 45 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			start := time.Now()
			w.sites["feeds.example"] = func(*http.Request) *http.Response {
				modified := start
				if tt.changes > 0 {
					modified = start.Add(time.Since(start).Truncate(tt.changes))
				}
				// Other records change all the time, and every response is complete.
				p.text = lirsLine(fileURL, modified, time.Now(), 1) + lirsLine("https://files.example/other",
					time.Now(), time.Now(), 1)
				return says(200, p.text)
			}
			a.Feeds[0].Every = 0
			watchFor(t, a, j, 48*time.Hour)
			gaps := times(w.to(feedURL))
			last := gaps[len(gaps)-1].Truncate(time.Second)
			if last < tt.from || last > tt.to {
				t.Errorf("what changes every %v is asked every %v at last, want %v to %v", tt.changes, last, tt.from, tt.to)
			}
		})
	}
}

// TestWhatIsKeptOfManyRecords checks which of many records of one URL are kept, wherever they are in the feed. Older
// and unusable records do not displace usable ones. Records that are usable only later have a limit of their own.
// Restoring the stored records gives the same ones.
func TestWhatIsKeptOfManyRecords(t *testing.T) {
	const day = 24 * 60 * 60
	var many []feed.Record
	add := func(n int, r feed.Record) {
		for i := range n {
			r.URL, r.Format = fileURL, feed.News
			r.LastModified += feed.Time(min(i, 1)) // the others are equal
			many = append(many, r)
		}
	}
	add(3*maxReports, feed.Record{LastModified: nowTest - 9*day})
	add(3*maxReports, feed.Record{LastModified: nowTest + 9*day, Title: "early"})
	add(3*maxReports, feed.Record{LastModified: nowTest - 1, Failed: true})
	add(1, feed.Record{LastModified: nowTest - day, Title: "last"})
	for range 2 {
		c := collectorOf(t, Feed{})
		k, err := c.collect(sequenceOf(many...))
		if err != nil || len(k.matches) != 3*maxReports {
			t.Fatalf("%d hits, %v", len(k.matches), err)
		}
		titles := map[string]int{}
		for _, h := range k.matches {
			titles[h.record.Title]++
		}
		if titles["last"] != 1 || titles["early"] != maxReports {
			t.Errorf("kept are %v", titles)
		}
		stored, err := restored(k.stored)
		if err != nil || len(stored) != len(k.matches) || k.matches[len(k.matches)-1].record.Title != "last" {
			t.Errorf("%d are stored, %v", len(stored), err)
		}
		many = stored
	}
}

// TestLatestNewsLast checks a feed that lists one URL more than eight times, with the latest news last.
func TestLatestNewsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		begin := time.Now().AddDate(-1, 0, 0).Add(time.Minute) // not a whole number of days
		text := func(n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(`<url><loc>` + fileURL + `</loc><lastmod>` +
					begin.Add(time.Duration(i)*time.Hour).UTC().Format(time.RFC3339) + `</lastmod></url>`)
			}
			return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + b.String() + `</urlset>`
		}
		p.set(text(20))
		w.later(time.Hour, func() { p.set(text(21)) })
		watchFor(t, a, j, 4*time.Hour)
		if got := j.got(); len(got) != 2 || got[1].Record.LastModified != feed.At(begin.Add(20*time.Hour)) {
			t.Errorf("updates: %s", reasons(got))
		}
	})
}
