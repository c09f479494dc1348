package antenna

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bomb returns a site with a compressed feed of 128 MiB.
func bomb() site {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(bytes.Repeat([]byte("#"+strings.Repeat("x", 1022)+"\n"), 128<<10))
	z.Close()
	return func(*http.Request) *http.Response { return reply(200, bytes.NewReader(b.Bytes())) }
}

// drip is a body that returns one byte at each interval, without end.
type drip struct{ every time.Duration }

func (d drip) Read(p []byte) (int, error) {
	time.Sleep(d.every)
	p[0] = '#'
	return 1, nil
}

// badSites returns servers that must not affect other feeds, by host.
func badSites() map[string]site {
	return map[string]site{
		"bomb.example":  bomb(),
		"drip.example":  func(*http.Request) *http.Response { return reply(200, drip{20 * time.Second}) },
		"error.example": func(*http.Request) *http.Response { return says(500, "") },
		"busy.example":  func(*http.Request) *http.Response { return says(503, "", "Retry-After: 7200") },
		"page.example":  func(*http.Request) *http.Response { return says(200, "<html>not found</html>") },
		"loop.example": func(*http.Request) *http.Response {
			return says(302, "", "Location: https://loop.example/antenna.lirs")
		},
		"cut.example": func(*http.Request) *http.Response {
			return reply(200, io.MultiReader(strings.NewReader("LIRS,1,2,"), broken{}))
		},
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestDay simulates a day with feeds that change at intervals of hours and with bad servers, and checks that each news
// is handled once.
func TestDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		a := w.antenna(j)
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		a.Store.db.NoSync = true // the test has no power failure
		const feeds, files = 9, 4
		for i := range feeds {
			addChanging(w, a, i, files)
		}
		for host, s := range badSites() {
			w.sites[host] = s
			a.Feeds = append(a.Feeds, Feed{Name: host, URL: "https://" + host + "/antenna.lirs", Every: 10 * time.Minute})
		}
		watchFor(t, a, j, 24*time.Hour) // synctest fails if a goroutine is left
		// File n of a feed changes every n+1 hours. The last change may be too late to be polled.
		count := map[string]int{}
		for _, u := range j.got() {
			count[u.URL]++
		}
		for i := range feeds {
			for n := range files {
				got, want := count[changingURL(i, n)], 1+23/(n+1)
				if got < want-1 || got > want {
					t.Errorf("file %d of feed %d: %d updates, want %d", n, i, got, want)
				}
			}
		}
		checkBad(t, w, j)
	})
}

func changingURL(i, n int) string { return fmt.Sprintf("https://files.example/%d/%d.iso", i, n) }

// addChanging adds a feed whose file n changes every n+1 hours. Three feeds share a host.
func addChanging(w *world, a *Antenna, i, files int) {
	host, path := fmt.Sprintf("feeds%d.example", i/3), fmt.Sprintf("/%d.lirs", i)
	start := seconds(time.Now())
	if w.sites[host] == nil {
		pages := map[string]func() string{}
		w.sites[host] = func(req *http.Request) *http.Response {
			p := page{text: pages[req.URL.Path]()}
			p.modified = start.Add(time.Since(start).Truncate(time.Hour))
			return p.answer(req)
		}
		w.texts(host, pages)
	}
	w.pages[host][path] = func() string {
		var b strings.Builder
		for n := range files {
			every := time.Duration(n+1) * time.Hour
			changed := start.Add(time.Since(start).Truncate(every)).Add(-time.Minute)
			b.WriteString(lirsLine(changingURL(i, n), changed, start.Add(time.Since(start).Truncate(time.Hour)), 100))
		}
		return b.String()
	}
	name := fmt.Sprintf("feed %d", i)
	a.Feeds = append(a.Feeds, Feed{Name: name, URL: "https://" + host + path})
	for n := range files {
		a.Watches = append(a.Watches, Watch{URL: changingURL(i, n), Feeds: []string{name}})
	}
}

// checkBad checks how often bad servers were polled.
func checkBad(t *testing.T, w *world, j *journal) {
	failed := map[string]int{}
	for _, e := range eventsOf[PollFailed](j) {
		failed[e.Feed]++
	}
	for host, n := range map[string]int{
		// 10 minutes, then 20, 40, 60 and so on (rule 57), each up to a quarter longer
		"bomb.example": 21, "drip.example": 18, "error.example": 21, "page.example": 21, "cut.example": 21, "loop.example": 21,
		"busy.example": 11, // every two hours
	} {
		if failed[host] < n || failed[host] > n+6 {
			t.Errorf("%s failed %d times, want about %d", host, failed[host], n)
		}
	}
	if n := len(w.to("https://loop.example/antenna.lirs")); n > 11*27 {
		t.Errorf("%d requests in a circle", n)
	}
	for _, e := range eventsOf[PollFailed](j) {
		if strings.HasPrefix(e.Feed, "feed ") {
			t.Errorf("%s failed: %v", e.Feed, e.Err)
		}
	}
}
