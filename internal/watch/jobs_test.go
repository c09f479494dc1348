package watch

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/antenna/release"
	"braid/download"
	"braid/fleet"
	"braid/internal/web"
)

// TestJobNotYet_Rule80 checks that the watcher learns from the job of a release that is not ready how long the server asked
// to wait, and how many requests the worker has sent.
func TestJobNotYet_Rule80(t *testing.T) {
	t.Parallel()
	c := &Command{Kind: func(int) download.Kind { return download.Refused }}
	u := &antenna.Update{Release: &release.Release{Version: "1.0"}}
	var sent web.Tally
	e := &fleet.Ending{Why: "404", Missing: true, After: 30 * time.Minute, Requests: map[string]int{"a.example:443": 5}}
	err := c.errorOf(sent.Context(t.Context()), &Rule{}, u, &fleet.Job{Name: "tool"}, e)
	late, ok := errors.AsType[*antenna.NotYet](err)
	if !ok || late.After != 30*time.Minute {
		t.Errorf("%+v", err)
	}
	if got := sent.Sent(); got["a.example:443"] != 5 {
		t.Errorf("counted are %v", got)
	}
}

// TestJobAskedAgain checks that a watcher's job is new in the queue if the update is: the user asked for it again, or
// the day of a change is over. An update that is delivered again is the same job.
func TestJobAskedAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	c := &Loaded{Config: parse(t, "[watch.w]\nurl = 'http://a.example/f'\ncheck-every = '1h'\ndir = 'd'\n"),
		File: filepath.Join(t.TempDir(), "w.toml")}
	c.Watches[0].Dir = "d"
	rule := &Rule{Watch: &c.Watches[0]}
	u := antenna.Update{Watch: "w", URL: rule.URL, Action: feed.Recheck, Reason: feed.Modified,
		Record: feed.Record{LastModified: feed.At(now.Truncate(24 * time.Hour))}}
	var r fleet.Record
	for i, want := range []fleet.News{fleet.Fresh, fleet.Fresh, fleet.Fresh} {
		if u.Last.At = now.Add(time.Duration(i) * 24 * time.Hour); i == 2 {
			u.Reason = antenna.AskedFor
		}
		for range 2 {
			j, err := c.jobOf(rule, u)
			if err != nil {
				t.Fatal(err)
			}
			if news, err := r.Report(j, now); news != want || err != nil {
				t.Errorf("update %d is %v, %v", i, news, err)
			}
			want = fleet.Duplicate
			if r.State == fleet.Queued {
				r.Take("w", now, time.Minute)
				r.Finish("w", r.Lease.Fence, fleet.Ending{Kind: fleet.Right}, now)
			}
		}
	}
}
