package antenna

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// mapOf returns a sitemap that lists the file with this lastmod.
func mapOf(lastmod string) string {
	return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` + fileURL + `</loc><lastmod>` +
		lastmod + `</lastmod></url></urlset>`
}

// TestMapAheadOfSite checks that a file that has changed according to its sitemap but not on its server is requested
// again a few times.
func TestMapAheadOfSite(t *testing.T) {
	for _, comes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			has := seconds(time.Now().Add(-48 * time.Hour))
			p.set(mapOf(has.UTC().Format(time.RFC3339)))
			changed := has.Add(50 * time.Hour)
			w.later(2*time.Hour, func() { p.set(mapOf(changed.UTC().Format(time.RFC3339))) })
			if comes {
				w.later(3*time.Hour, func() { has = changed })
			}
			var before time.Time
			j.handle = func(context.Context, Update) (Outcome, error) {
				o := Outcome{Changed: !has.Equal(before), LastModified: has.UTC()}
				before = has
				return o, nil
			}
			watchFor(t, a, j, 40*time.Hour)
			switch last := j.got()[len(j.got())-1]; {
			case comes && !before.Equal(changed):
				t.Errorf("the change was lost: %s", reasons(j.got()))
			case !comes && len(j.got()) != 2+aheadMap:
				t.Errorf("%d tries", len(j.got()))
			case last.Reason != feed.Modified:
				t.Errorf("%s", reasons(j.got()))
			}
		})
	}
}

// TestSecondChangeOfDay checks that a file whose date has no time, and which has changed twice on that day, is
// requested once more when the day is over.
func TestSecondChangeOfDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(48 * time.Hour)
		today := midnight.Format(time.DateOnly)
		p.set(mapOf(midnight.Add(-24 * time.Hour * 30).Format(time.DateOnly)))
		start := time.Now()
		version, seen := 1, 0
		w.later(midnight.Add(2*time.Hour).Sub(start), func() { version = 2; p.set(mapOf(today)) })
		w.later(midnight.Add(9*time.Hour).Sub(start), func() { version = 3; p.set(mapOf(today)) })
		j.handle = func(context.Context, Update) (Outcome, error) {
			o := Outcome{Changed: version != seen, LastModified: midnight.Add(time.Duration(version) * time.Minute)}
			seen = version
			return o, nil
		}
		watchFor(t, a, j, 10*24*time.Hour)
		if seen != 3 || len(j.got()) != 3 {
			t.Errorf("version %d is here, after %s", seen, reasons(j.got()))
		}
	})
}

// TestBytesPastMidnight_Rule56 checks that an update that runs past midnight may use the bytes of the next day, and
// that each day is charged for its own bytes.
func TestBytesPastMidnight_Rule56(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(17*time.Hour + time.Minute)
		_, _, a, j := oneFeed(t)
		const rate, most = 100, 1000 // per hour and per day
		a.Feeds[0].Limits.DayBytes = most
		var brought int64
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			for range 13 { // from 17:01 to 06:01
				time.Sleep(time.Hour)
				if brought += rate; u.Allowance.Add(-rate) < 0 {
					return Outcome{Bytes: brought}, errors.New("spent")
				}
			}
			return Outcome{Bytes: brought, Changed: true}, nil
		}
		told := make(chan Status, 1)
		time.AfterFunc(14*time.Hour, func() {
			s, _ := a.Status(context.Background())
			told <- s
		})
		watchFor(t, a, j, 15*time.Hour)
		if brought != 13*rate || len(j.got()) != 1 {
			t.Errorf("%d bytes in %d tries", brought, len(j.got()))
		}
		if s := <-told; len(s.Feeds) != 1 || s.Feeds[0].Bytes != 7*rate {
			t.Errorf("%+v", s.Feeds)
		}
	})
}

// TestHeadRefused checks that GET is used if a server refuses HEAD with any status, and that later checks use GET at
// once.
func TestHeadRefused(t *testing.T) {
	for _, status := range []int{400, 403, 404, 405, 501} {
		synctest.Test(t, func(t *testing.T) {
			file := &page{text: "x", modified: time.Now().Add(-time.Hour)}
			w, a, j := onePage(t, func(req *http.Request) *http.Response {
				if req.Method == http.MethodHead {
					return says(status, "")
				}
				return file.answer(req)
			})
			watchFor(t, a, j, 5*time.Hour)
			var methods []string
			for _, v := range w.to(fileURL) {
				methods = append(methods, v.method)
			}
			if len(j.got()) != 1 || !strings.HasPrefix(strings.Join(methods, " "), "HEAD GET GET GET") {
				t.Errorf("%d: %d updates, %s", status, len(j.got()), methods)
			}
		})
	}
}
