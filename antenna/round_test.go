package antenna

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRoundPollsFirst_Rule80 checks that a round tries a waiting release only after the polls of all feeds that may
// report it. A digest that a feed reports in this round counts. A release that the feed withdraws is not tried again.
func TestRoundPollsFirst_Rule80(t *testing.T) {
	for _, names := range [][]string{nil, {"tool"}} {
		synctest.Test(t, func(t *testing.T) {
			w, j := newWorld(t), &journal{}
			const file = "https://forge.example/tool/download/v%[1]s/tool_%[1]s.tar.gz"
			list := func(version, digest string) string {
				return fmt.Sprintf(`[{"tag_name":"v%[1]s",
					"assets":[{"browser_download_url":"`+file+`","size":7,"digest":%[2]q}]}]`, version, digest)
			}
			text := list("1.0", "")
			w.sites["api.example"] = func(req *http.Request) *http.Response {
				if req.URL.Path == "/later" { // requested one second later than /first
					return says(200, text)
				}
				return says(200, list("0.9", ""))
			}
			a := w.antenna(j)
			a.Feeds = []Feed{{Name: "first", URL: "https://api.example/first"}, {Name: "later", URL: "https://api.example/later"}}
			a.Watches = []Watch{{Name: "tool", Releases: &Releases{Template: templateOf(t, toolURL)}}}
			j.handle = func(_ context.Context, u Update) (Outcome, error) {
				if digests, _ := u.Record.Proof(); len(digests) == 0 {
					return Outcome{}, &NotYet{Err: errMissing}
				}
				return Outcome{Changed: true}, nil
			}
			dir := t.TempDir()
			once := func() {
				t.Helper()
				a.Store = storeIn(t, dir)
				defer closed(t, a.Store)
				if err := a.Once(t.Context(), j.take, names...); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
			}
			once()
			text = list("1.0", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
			once()
			if got := done(j); got != "1.0" {
				t.Errorf("%v: in place is %q after the round in which the digest came", names, got)
			}
			text = list("1.1", "")
			once()
			text = list("1.0", "")
			once()
			if got := versions(j.got()); strings.Count(got, "1.1") != 1 {
				t.Errorf("%v: tried were %s, although 1.1 was withdrawn", names, got)
			}
		})
	}
}

// TestRoundOfOneWatch_Rule80 checks that a round for one watch tries its waiting release, although the next try is
// later, and leaves the releases of other watches alone.
func TestRoundOfOneWatch_Rule80(t *testing.T) {
	for _, fault := range []error{errors.New("disk full"), &NotYet{Err: errMissing}} {
		synctest.Test(t, func(t *testing.T) {
			w, j := newWorld(t), &journal{}
			w.sites["api.example"] = func(*http.Request) *http.Response { return says(200, releaseOf("1.0")) }
			a, dir := w.antenna(j), t.TempDir()
			a.Feeds = []Feed{{Name: "f", URL: "https://api.example/f"}}
			a.Watches = []Watch{
				{Name: "tool", Releases: &Releases{Template: templateOf(t, toolURL)}},
				{Name: "other", Releases: &Releases{Template: templateOf(t, strings.Replace(toolURL, "/tool/", "/other/", 1))}},
			}
			var mu sync.Mutex
			asked := map[string]int{}
			j.handle = func(_ context.Context, u Update) (Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				if asked[u.Watch]++; asked[u.Watch] == 1 {
					return Outcome{}, fault
				}
				return Outcome{Changed: true}, nil
			}
			for _, names := range [][]string{nil, {"tool"}} {
				a.Store = storeIn(t, dir)
				a.Once(t.Context(), j.take, names...) // the first round reports fault
				closed(t, a.Store)
				time.Sleep(5 * time.Second)
			}
			if asked["tool"] != 2 || asked["other"] != 1 {
				t.Errorf("%v: %v", fault, asked)
			}
		})
	}
}

// TestRoundDoesNotAwaitHost_Rule80 checks that a host that must not be asked for an hour does not hold up the waiting
// releases of a watch.
func TestRoundDoesNotAwaitHost_Rule80(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		busy := false
		w.sites["api.example"] = func(*http.Request) *http.Response {
			if busy {
				return says(429, "", "Retry-After: 3600")
			}
			return says(200, releaseOf("1.0"))
		}
		a, dir := w.antenna(j), t.TempDir()
		a.Feeds = []Feed{{Name: "f", URL: "https://api.example/f"}, {Name: "g", URL: "https://api.example/g"}}
		a.Watches = []Watch{{Name: "tool", Releases: &Releases{Template: templateOf(t, toolURL)}}}
		var start, tried time.Time
		j.handle = func(context.Context, Update) (Outcome, error) {
			if tried = time.Now(); busy {
				return Outcome{Changed: true}, nil
			}
			return Outcome{}, &NotYet{Err: errMissing}
		}
		for _, busy = range []bool{false, true} {
			start = time.Now()
			a.Store = storeIn(t, dir)
			a.Once(t.Context(), j.take) // the second round reports the refusals
			closed(t, a.Store)
			time.Sleep(time.Hour)
		}
		if waited := tried.Sub(start); waited < 0 || waited > time.Minute {
			t.Errorf("tried %v after the begin of the round", waited)
		}
	})
}

// releaseOf is the answer of a release API with one version of toolURL.
func releaseOf(version string) string {
	return fmt.Sprintf(`[{"tag_name":"v%[1]s","assets":[{"browser_download_url":"%[2]s","size":7}]}]`, version,
		strings.NewReplacer("{tag}", "v"+version, "{version}", version).Replace(toolURL))
}
