package antenna

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCutOff_Rule55 checks a feed that was cut off: its records count, records that are missing do not count as
// removed, and the next poll sends no validators (rule 55).
func TestCutOff_Rule55(t *testing.T) {
	line := func(url string) string { return strings.TrimSpace(lirsLine(url, time.Now(), time.Now(), 1)) }
	block := func(url string) string {
		now := time.Now().UTC().Format(http.TimeFormat)
		return fmt.Sprintf("URL: %s\r\nLast-Modified: %s\r\nLast-Modified-Detected: %s\r\n", url, now, now)
	}
	const head = "HINA/2.2beta\r\nUser-Agent: a\r\n\r\n"
	const other = "https://files.example/other"
	for _, tt := range []struct {
		name       string
		first, all func() string
		fails      bool
	}{
		{"LIRS within a record", func() string { return line(other) + "\n" + line(fileURL)[:40] },
			func() string { return line(other) + "\n" + line(fileURL) + "\n" }, true},
		{"LIRS within its first word", func() string { return line(other) + "\nLI" },
			func() string { return line(other) + "\n" + line(fileURL) + "\n" }, true},
		{"LIRS behind a record", func() string { return line(other) },
			func() string { return line(other) + "\n" + line(fileURL) + "\n" }, false},
		{"hina-di within a line", func() string { return head + block(other) + "\r\n" + block(fileURL)[:30] },
			func() string { return head + block(other) + "\r\n" + block(fileURL) + "\r\n" }, true},
		{"hina-di behind a line", func() string { return head + block(other) },
			func() string { return head + block(other) + "\r\n" + block(fileURL) + "\r\n" }, false},
		{"hina-di within its header", func() string { return head[:20] },
			func() string { return head + block(fileURL) + "\r\n" }, true},
		{"SOIF within a wrapper", func() string { return "@UPDATE {\n@FILE { " + other + "\n}\n" }, func() string {
			return fmt.Sprintf("@UPDATE {\n@FILE { %s\nLast-Modification-Time{9}:\t%d\n}\n}\n", fileURL, time.Now().Unix())
		}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			_, a, j := withSite(t, func(req *http.Request) *http.Response {
				if req.Header.Get("If-None-Match") == `"v1"` {
					return says(304, "")
				}
				if asked++; asked == 1 {
					return says(200, tt.first(), `ETag: "v1"`)
				}
				return says(200, tt.all(), `ETag: "v1"`)
			})
			watchFor(t, a, j, 3*time.Hour)
			if len(j.updates) != 1 || j.updates[0].URL != fileURL {
				t.Errorf("%s: updates %+v", tt.name, j.updates)
			}
			if asked != 2 {
				t.Errorf("%s: all of it was asked for %d times", tt.name, asked)
			}
			if fails := len(eventsOf[PollFailed](j)); fails > 0 != tt.fails {
				t.Errorf("%s: %d failures", tt.name, fails)
			}
		})
	}
}

// TestReadingEnds checks that a cancelled context ends decoding at once, even if more of the feed has arrived.
func TestReadingEnds(t *testing.T) {
	l, err := (&Antenna{Feeds: []Feed{{Name: "f", URL: feedURL}}}).newLoop()
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{
		"<rss><channel><item/></channel></rss>", `{"items":[{}]}`, "<urlset><url/></urlset>",
		lirsLine(fileURL, time.Unix(1e9, 0), time.Unix(1e9, 0), 1),
		"HINA/2.2beta\r\nUser-Agent: a\r\n\r\nURL: http://h.example/\r\n\r\n", "@FILE { http://h.example/\n}\n",
	} {
		if _, err := l.poller.read(ended, &task{feed: &l.polls.members[0].feed}, strings.NewReader(text), 0,
			0); err != context.Canceled {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestExtractIsNotRelayed checks that a record beyond the limit of relayed records is watched but never relayed in
// part.
func TestExtractIsNotRelayed(t *testing.T) {
	list := []string{}
	for i := range 3 {
		list = append(list, fmt.Sprintf("URL: https://files.example/%d\r\nTitle: t\r\nLast-Modified: Tue, 10 Nov 2026 "+
			"01:00:00 GMT\r\nLast-Modified-Detected: Tue, 10 Nov 2026 02:00:00 GMT\r\n"+
			"Authorized: a\r\nAuthorized-url: http://agent.example/\r\n\r\n", i))
	}
	f := Feed{Name: "f", URL: feedURL, Relay: true, Trust: []string{"http://agent.example/"}, Limits: Limits{Relayed: 1}}
	a := &Antenna{Feeds: []Feed{f}, Watches: []Watch{{URL: "https://files.example/2"}}}
	l, err := a.newLoop()
	if err != nil {
		t.Fatal(err)
	}
	k, err := l.poller.read(t.Context(), &task{feed: &l.polls.members[0].feed},
		strings.NewReader("HINA/2.2beta\r\nUser-Agent: a\r\n\r\n"+strings.Join(list, "")), 0, 0)
	if err != nil || k.relayed != 1 || k.matched != 1 {
		t.Fatalf("%+v, %v", k, err)
	}
	known, err := relays(&f, func(string) ([]byte, error) { return k.stored, nil })
	if err != nil || len(known) != 2 {
		t.Fatalf("%+v, %v", known, err)
	}
	for _, r := range known {
		if r.Extract != (r.URL == "https://files.example/2") {
			t.Errorf("%+v", r)
		}
	}
}
