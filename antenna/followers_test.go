package antenna

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
	"braid/antenna/release"
	"braid/internal/web"
)

// TestReleasesRetryAfter checks that a server's wish to be asked later holds.
func TestReleasesRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		p.tag("v1.0", 0)
		var at []time.Time
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if at = append(at, time.Now()); len(at) < 3 {
				return Outcome{}, &NotYet{Err: errMissing, After: 3 * time.Hour}
			}
			return Outcome{Changed: true}, nil
		}
		watchFor(t, a, j, 12*time.Hour)
		if len(at) != 3 || at[1].Sub(at[0]) < 3*time.Hour || at[2].Sub(at[1]) < 3*time.Hour {
			t.Errorf("asked at %v", at)
		}
	})
}

// TestReleasesHourly_Rule80 checks that versions that are not ready cost a host 60 requests an hour at most, whatever the number
// of watches. First requests do not wait.
func TestReleasesHourly_Rule80(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := follower(t)
		a.Feeds, a.Watches = nil, nil
		start := time.Now()
		for i := range 100 {
			name := fmt.Sprintf("tool%d", i)
			p := newProject(t, w, name)
			p.tag("v1.0", -1)
			a.Feeds = append(a.Feeds, Feed{Name: name, URL: "https://forge.example/" + name + "/releases.atom", Every: time.Hour})
			a.Watches = append(a.Watches, Watch{Name: name, Feeds: []string{name}, Releases: &Releases{
				Template: templateOf(t, "https://files.example/"+name+"/{version}.tar.gz")}})
		}
		var first, again []time.Time
		seen := map[string]bool{}
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if !seen[u.Watch] {
				first = append(first, time.Now())
			} else {
				again = append(again, time.Now())
			}
			seen[u.Watch] = true
			return Outcome{}, &NotYet{Err: errMissing}
		}
		a.Handlers = 1
		watchFor(t, a, j, 6*time.Hour)
		if len(first) != 100 || first[99].Sub(start) > 10*time.Minute {
			t.Errorf("%d were asked for, the last after %v", len(first), first[len(first)-1].Sub(start))
		}
		for i := maxAsked; i < len(again); i++ {
			if again[i].Sub(again[i-maxAsked]) < time.Hour {
				t.Fatalf("more than %d requests within %v", maxAsked, again[i].Sub(again[i-maxAsked]))
			}
		}
		if len(again) < 200 {
			t.Errorf("asked again %d times", len(again))
		}
	})
}

// TestReleasesHourlyRequests_Rule80 checks that requests count for the limit of a host, and not attempts: a look for a file
// and its proof takes several, also to other hosts.
func TestReleasesHourlyRequests_Rule80(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := follower(t)
		a.Feeds, a.Watches = nil, nil
		for i := range 20 {
			name := fmt.Sprintf("tool%d", i)
			p := newProject(t, w, name)
			p.tag("v1.0", -1)
			a.Feeds = append(a.Feeds, Feed{Name: name, URL: "https://forge.example/" + name + "/releases.atom", Every: time.Hour})
			a.Watches = append(a.Watches, Watch{Name: name, Feeds: []string{name}, Releases: &Releases{
				Template: templateOf(t, fmt.Sprintf("https://files%d.example/%s/{version}.tar.gz", i, name))}})
		}
		const each = 8
		lookup := &url.URL{Scheme: "https", Host: "lookup.example"}
		var again []time.Time
		seen := map[string]bool{}
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			for range each {
				if web.TallyOf(ctx).Add(lookup); seen[u.Watch] {
					again = append(again, time.Now())
				}
			}
			seen[u.Watch] = true
			return Outcome{}, &NotYet{Err: errMissing}
		}
		watchFor(t, a, j, 6*time.Hour)
		for i := maxAsked; i < len(again); i++ {
			if d := again[i].Sub(again[i-maxAsked]); d < time.Hour {
				t.Fatalf("more than %d requests within %v", maxAsked, d)
			}
		}
		if len(again) < 200 {
			t.Errorf("asked again with %d requests", len(again))
		}
	})
}

// TestForgetRelease checks that a version that the user renounces is not asked for any more, and that the newest of the
// others follows if it was in place.
func TestForgetRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		p.tag("v2.0", 0)
		p.tag("v9999.0", -1)
		watchAsking(t, a, j, 2*time.Hour, func() {
			if len(j.got()) == 4 {
				if err := a.ForgetRelease(t.Context(), "tool", "9999.0"); err != nil {
					t.Error(err)
				}
			}
		})
		if got := stages(t, a); got != "9999.0 unwanted, 2.0 in-place" {
			t.Errorf("stages: %s", got)
		}
		if got := versions(j.got()); got != "9999.0 2.0 9999.0 9999.0" {
			t.Errorf("asked for %s", got)
		}
		for _, unknown := range [][2]string{{"tool", "7.0"}, {"other", "2.0"}} {
			if err := a.ForgetRelease(t.Context(), unknown[0], unknown[1]); err == nil {
				t.Errorf("%v was forgotten", unknown)
			}
		}
		w.later(time.Minute, func() { p.tag("v1.9", 0) })
		if err := a.ForgetRelease(t.Context(), "tool", "v2.0"); err != nil { // by its tag, while nothing runs
			t.Fatal(err)
		}
		closed(t, a.Store)
		a.Store = storeIn(t, dir)
		watchFor(t, a, j, time.Hour)
		if got := done(j); got != "2.0 1.9" {
			t.Errorf("in place were %s", got)
		}
		if err := a.Forget(t.Context(), "tool"); err != nil {
			t.Fatal(err)
		}
		p.remove("v9999.0")
		watchFor(t, a, j, time.Hour)
		if got := done(j); got != "2.0 1.9 2.0" {
			t.Errorf("in place were %s", got)
		}
		closed(t, a.Store)
	})
}

// TestDeclinedRelease checks that a version that the handler declined is wanted again once the user asks for the watch,
// but not a version that the user renounced.
func TestDeclinedRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		p.tag("v1.0", 0)
		watchFor(t, a, j, time.Hour)
		p.tag("v1.1", 0)
		p.tag("v1.2", 0)
		declines := true
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			if declines {
				return Outcome{Declined: true}, nil
			}
			return p.handle(ctx, u)
		}
		watchFor(t, a, j, time.Hour)
		if got := stages(t, a); got != "1.2 unwanted, 1.1 unwanted, 1.0 in-place" {
			t.Errorf("stages: %s", got)
		}
		if err := a.ForgetRelease(t.Context(), "tool", "1.2"); err != nil {
			t.Fatal(err)
		}
		declines = false
		asked := false
		watchAsking(t, a, j, time.Hour, func() {
			if !asked {
				if asked = true; a.RunNow(t.Context(), "tool") != nil {
					t.Error("the antenna does not run")
				}
			}
		})
		if got := stages(t, a); got != "1.2 unwanted, 1.1 in-place" {
			t.Errorf("stages: %s", got)
		}
	})
}

// TestReleaseReplaced checks that a later report about the version in place leads to a request with what is known of it.
func TestReleaseReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		p.tag("v1.0", 0)
		w.later(time.Hour, func() { p.dates["v1.0"] = time.Now(); p.write() })
		watchFor(t, a, j, 3*time.Hour)
		got := j.got()
		if len(got) != 2 || got[1].Release.Version != "1.0" || got[1].Reason != feed.Modified || got[1].Previous != "" ||
			got[1].Last.Digest != "digest of 1.0" || got[1].Last.ETag != "e" {
			t.Errorf("%+v", got)
		}
	})
}

// TestReleasesLostStore checks that the version in place is known after the store was lost, so that no older one follows.
func TestReleasesLostStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		a.Publish = func(context.Context, feed.Snapshot) error { return nil }
		p.tag("v1.0", 0)
		p.tag("v2.0", 0)
		watchFor(t, a, j, time.Hour)
		closed(t, a.Store)
		if err := os.Remove(filepath.Join(dir, "antenna.db")); err != nil {
			t.Fatal(err)
		}
		p.remove("v2.0")
		a.Store = storeIn(t, dir)
		defer func() { closed(t, a.Store) }()
		watchFor(t, a, j, time.Hour)
		if got := stages(t, a); got != "2.0 in-place" {
			t.Errorf("stages: %s", got)
		}
		if got := done(j); got != "2.0" {
			t.Errorf("in place were %s", got)
		}
	})
}

// TestReleasesOfOneFeed checks that watches of one feed each have their own releases, and that a watch of a file and one
// of releases do not disturb each other.
func TestReleasesOfOneFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Watches = append(a.Watches,
			Watch{Name: "page", URL: "https://forge.example/tool/releases/tag/v2.0"},
			Watch{Name: "old", Releases: &Releases{Template: templateOf(t, toolURL),
				Choice: release.Choice{Versions: rangeOf(t, "<2")}}},
			Watch{Name: "deaf", Feeds: []string{"other"}, Releases: &Releases{Template: templateOf(t, toolURL)}},
			Watch{Name: "unfit", Releases: &Releases{Template: templateOf(t, "https://forge.example/{version}.zip"),
				Choice: release.Choice{Versions: rangeOf(t, ">7")}}})
		a.Feeds = append(a.Feeds, Feed{Name: "other", URL: "https://forge.example/other.atom"})
		p.tag("v1.0", 0)
		p.tag("v2.0", 0)
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{Changed: true}, nil }
		watchFor(t, a, j, time.Hour)
		got := map[string]string{}
		for _, u := range j.got() {
			got[u.Watch] = cmp.Or(u.Previous, got[u.Watch]) + u.URL
		}
		want := map[string]string{"tool": fill("2.0"), "old": fill("1.0"), "page": "https://forge.example/tool/releases/tag/v2.0"}
		if !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func fill(version string) string {
	return "https://forge.example/tool/download/v" + version + "/tool_" + version + ".tar.gz"
}

// TestReleasesInvalid checks that a watch of releases is nothing else.
func TestReleasesInvalid(t *testing.T) {
	for _, w := range []Watch{
		{Glob: true}, {AnyNews: true}, {CheckEvery: time.Hour},
		{Releases: &Releases{Template: templateOf(t, "https://user:secret@forge.example/{version}")}},
	} {
		if w.Releases == nil {
			w.Releases = &Releases{Template: templateOf(t, toolURL)}
		}
		if err := (&Antenna{Watches: []Watch{w}}).Check(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
