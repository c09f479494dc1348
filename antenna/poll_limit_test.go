package antenna

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// TestLimits_Rule52 checks that a feed beyond a limit fails without any of its records, and that earlier ones are kept.
func TestLimits_Rule52(t *testing.T) {
	for _, tt := range []struct {
		name   string
		body   func(line string) io.Reader
		limits feed.Limits
		err    string
	}{
		{"too long", func(line string) io.Reader { return strings.NewReader(strings.Repeat(line, 1000)) },
			feed.Limits{Bytes: 10_000}, "10000 octets"},
		{"too many records", func(line string) io.Reader { return strings.NewReader(strings.Repeat(line, 11)) },
			feed.Limits{Entries: 10}, "more than 10"},
		{"a line too long", func(line string) io.Reader { return strings.NewReader(line + strings.Repeat("#", 2000)) },
			feed.Limits{Line: 1000}, "1000 octets"},
		{"compressed too well", func(line string) io.Reader {
			return strings.NewReader(zipped(line + strings.Repeat("#\n", 3<<20)))
		}, feed.Limits{}, "to 1"},
		{"twice compressed too well", func(line string) io.Reader {
			return strings.NewReader(zipped(zipped(line + strings.Repeat("#\n", 3<<20))))
		}, feed.Limits{}, "to 1"},
		{"nothing, compressed for ever", func(line string) io.Reader {
			return io.MultiReader(strings.NewReader(zipped(line)), &repeated{text: zipped(""), n: 1 << 30})
		}, feed.Limits{Bytes: 1 << 20}, "1048576 octets"},
	} {
		synctest.Test(t, func(t *testing.T) {
			bad := false
			w, a, j := withSite(t, nil)
			line := func() string { return lirsLine(fileURL, time.Now(), time.Now(), 1) }
			w.sites["feeds.example"] = func(*http.Request) *http.Response {
				if bad {
					return reply(200, tt.body(line()))
				}
				return says(200, line(), `ETag: "1"`)
			}
			a.Feeds[0].Limits.Limits = tt.limits
			w.later(5*time.Minute, func() { bad = true })
			watchFor(t, a, j, 15*time.Minute)
			failed := eventsOf[PollFailed](j)
			if len(failed) != 1 || !strings.Contains(failed[0].Err.Error(), tt.err) {
				t.Errorf("%s: %+v", tt.name, failed)
			}
			if got := reasons(j.got()); got != "first-sight" {
				t.Errorf("%s: what was rejected counts: %s", tt.name, got)
			}
		})
	}
}

func zipped(s string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

// TestSilence_Rule52 checks the timeout of 30 seconds without a byte, before and during a response (rule 52).
func TestSilence_Rule52(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a, j := withSite(t, func(*http.Request) *http.Response { return says(200, "") })
		w.latency = time.Minute
		watchFor(t, a, j, 2*time.Minute)
		failed := eventsOf[PollFailed](j)
		if len(failed) != 1 || !errors.Is(failed[0].Err, errSilent) || failed[0].Took != silence {
			t.Errorf("%+v", failed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, a, j := withSite(t, func(*http.Request) *http.Response { return reply(200, drip{31 * time.Second}) })
		watchFor(t, a, j, 2*time.Minute)
		if failed := eventsOf[PollFailed](j); len(failed) != 1 || !errors.Is(failed[0].Err, errSilent) {
			t.Errorf("%+v", failed)
		}
	})
}
