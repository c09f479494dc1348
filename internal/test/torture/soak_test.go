//go:build linux

package torture

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"braid/antenna"
	"braid/download"
)

// A level is what a process holds.
type level struct {
	goroutines, descriptors int
	heap                    uint64
}

// measure is what is held when nothing goes on: the lowest of some looks, as what was ended needs a moment to go.
func measure(t *testing.T) (low level) {
	t.Helper()
	for i := range 20 {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		files, err := os.ReadDir("/proc/self/fd")
		check(t, err)
		if i == 0 {
			low = level{runtime.NumGoroutine(), len(files), m.HeapAlloc}
		}
		low = level{min(low.goroutines, runtime.NumGoroutine()), min(low.descriptors, len(files)), min(low.heap, m.HeapAlloc)}
	}
	return low
}

// leastRounds is how many rounds TestSoak has at least: so many that one thing not given back in each is more than what
// comes and goes.
const leastRounds = 16

// TestSoak: downloads and polls in one process, again and again, some of which fail, leave nothing behind.
func TestSoak(t *testing.T) {
	s := newSoaking(t)
	for range 20 { // until everything was used once
		s.round(t)
	}
	before, rounds := measure(t), 0
	for end := time.Now().Add(*soak); time.Now().Before(end) || rounds < leastRounds; rounds++ {
		s.round(t)
	}
	after := measure(t)
	t.Logf("soak: %d rounds of 3 downloads and a poll in %v; goroutines %d to %d, descriptors %d to %d, heap %d "+
		"to %d KiB", rounds, *soak,
		before.goroutines, after.goroutines, before.descriptors, after.descriptors, before.heap>>10, after.heap>>10)
	few := rounds / 2 // connections that wait for another request come and go; what is not given back stays of each round
	if after.goroutines > before.goroutines+few || after.descriptors > before.descriptors+few || after.heap > before.heap+2<<20 {
		t.Errorf("before %+v, after %d rounds %+v", before, rounds, after)
	}
}

// A soaking is a client and an antenna, and servers that remember nothing.
type soaking struct {
	client  download.Client
	antenna antenna.Antenna
	dir     string
	good    *url.URL
	bad     *url.URL // has wrong bytes
	gone    *url.URL // has nothing
}

func newSoaking(t *testing.T) *soaking {
	serve := func(h http.HandlerFunc) *url.URL {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL + "/" + fileName)
		check(t, err)
		return u
	}
	file := func(b string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(b))
		}
	}
	digest := (&world{body: body}).base64()
	mirror := serve(file(string(body)))
	s := &soaking{dir: t.TempDir(), client: download.Client{Tries: 2, RetryWait: time.Millisecond}}
	headed := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Digest", "SHA-256="+digest)
			w.Header().Set("Link", "<"+mirror.String()+">; rel=duplicate")
			h(w, r)
		}
	}
	s.good, s.gone = serve(headed(file(string(body)))), serve(http.NotFound)
	s.bad = serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Digest", "SHA-256="+digest)
		file("x"+string(body[1:]))(w, r)
	})
	feed := serve(func(w http.ResponseWriter, r *http.Request) {
		file("LIRS,1794261900,1794279490,0,0,http://a.example/,title,author,0,\n")(w, r)
	})
	s.antenna = antenna.Antenna{Feeds: []antenna.Feed{{URL: feed.String(), Every: time.Second}}, HostGap: time.Millisecond}
	return s
}

// round downloads a file from two servers, one that is wrong and one that is not there, and polls a feed.
func (s *soaking) round(t *testing.T) {
	t.Helper()
	for u, right := range map[*url.URL]bool{s.good: true, s.bad: false, s.gone: false} {
		_, err := s.client.Get(t.Context(), download.Request{URL: u, Dir: s.dir, Name: fileName})
		if (err == nil) != right {
			t.Fatalf("%v: %v", u, err)
		}
		if err := os.Remove(filepath.Join(s.dir, fileName)); right && err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(context.Context, antenna.Update) (antenna.Outcome, error) { return antenna.Outcome{}, nil }
	check(t, s.antenna.Once(t.Context(), refuse))
}
