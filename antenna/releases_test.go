package antenna

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
	"braid/antenna/release"
)

const toolURL = "https://forge.example/tool/download/{tag}/tool_{version}.tar.gz"

// A project has releases, an Atom feed of them, and files that may come later.
type project struct {
	t     *testing.T
	name  string
	feed  page
	most  int // number of entries in the feed; 0: all
	tags  []string
	dates map[string]time.Time
	// ready has the times from which the files of versions, and their proof, are there. mu guards it, because handlers
	// read it while releases are added.
	mu    sync.Mutex
	ready map[string]time.Time
}

// newProject returns a project in the world w, at the host forge.example.
func newProject(t *testing.T, w *world, name string) *project {
	p := &project{t: t, name: name, dates: map[string]time.Time{}, ready: map[string]time.Time{}}
	old := w.sites["forge.example"]
	w.sites["forge.example"] = func(req *http.Request) *http.Response {
		switch {
		case req.URL.Path == "/"+name+"/releases.atom":
			return p.feed.answer(req)
		case old != nil:
			return old(req)
		}
		return says(404, "")
	}
	p.write()
	return p
}

// tag adds a release whose files are there after a time. If it is negative, they never are.
func (p *project) tag(tag string, late time.Duration) {
	p.tags = append(p.tags, tag)
	p.dates[tag] = seconds(time.Now())
	if late >= 0 {
		p.mu.Lock()
		p.ready[strings.TrimPrefix(tag, "v")] = time.Now().Add(late)
		p.mu.Unlock()
	}
	p.write()
}

// remove removes a release.
func (p *project) remove(tag string) {
	p.tags = slices.DeleteFunc(p.tags, func(s string) bool { return s == tag })
	p.mu.Lock()
	delete(p.ready, strings.TrimPrefix(tag, "v"))
	p.mu.Unlock()
	p.write()
}

func (p *project) write() {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>tag:forge.example,2008:/` + p.name + `</id>` +
		`<title>Releases</title><updated>2026-01-01T00:00:00Z</updated>`)
	list := slices.Clone(p.tags)
	slices.Reverse(list)
	if p.most > 0 {
		list = list[:min(len(list), p.most)]
	}
	for _, tag := range list {
		fmt.Fprintf(&b, `<entry><id>tag:forge.example,2008:%s/%s</id><title>%s</title><updated>%s</updated>`+
			`<link rel="alternate" type="text/html" href="https://forge.example/%s/releases/tag/%s"/></entry>`,
			p.name, tag, tag, p.dates[tag].UTC().Format(time.RFC3339), p.name, tag)
	}
	b.WriteString("</feed>")
	p.feed.set(b.String())
}

// isReady reports whether the file of a version is there.
func (p *project) isReady(version string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.ready[version]
	return ok && !time.Now().Before(at)
}

var errMissing = errors.New("status 404 Not Found")

// handle is a handler that takes what is there.
func (p *project) handle(_ context.Context, u Update) (Outcome, error) {
	if u.Release == nil {
		p.t.Errorf("%s: an update without a release", u.URL)
		return Outcome{}, nil
	}
	if !p.isReady(u.Release.Version) {
		return Outcome{}, &NotYet{Err: errMissing}
	}
	return Outcome{Changed: true, Digest: "digest of " + u.Release.Version, Path: "/" + u.Release.Version, ETag: "e"}, nil
}

// follower returns a world with one project, and an antenna that follows it.
func follower(t *testing.T) (*world, *project, *Antenna, *journal) {
	w, j := newWorld(t), &journal{}
	p := newProject(t, w, "tool")
	j.handle = p.handle
	a := w.antenna(j)
	a.Feeds = []Feed{{Name: "tool", URL: "https://forge.example/tool/releases.atom", Every: time.Minute}}
	a.Watches = []Watch{{Name: "tool", Releases: &Releases{Template: templateOf(t, toolURL)}, Feeds: []string{"tool"}}}
	return w, p, a, j
}

func templateOf(t *testing.T, text string) *release.Template {
	t.Helper()
	x, err := release.ParseTemplate(text, release.Patterns{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// versions returns the versions of the updates.
func versions(list []Update) string {
	var words []string
	for _, u := range list {
		words = append(words, u.Release.Version)
	}
	return strings.Join(words, " ")
}

// done returns the versions that were put in place.
func done(j *journal) string {
	var words []string
	for _, h := range eventsOf[Handled](j) {
		if h.Err == nil && h.Outcome.Changed {
			words = append(words, h.Update.Release.Version)
		}
	}
	return strings.Join(words, " ")
}

// stages returns the releases of a status with their stages.
func stages(t *testing.T, a *Antenna) string {
	t.Helper()
	s, err := a.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, w := range s.Watches {
		if w.Release == nil {
			words = append(words, string(w.Reason))
			continue
		}
		words = append(words, w.Release.Version+" "+w.Release.Stage)
	}
	return strings.Join(words, ", ")
}

// TestReleases checks that the newest release of a feed is fetched, later ones as they come, and each once. The file of
// the second is late, and takes no update of the day.
func TestReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		a.Feeds[0].Limits.Updates = 3
		p.tag("v1.8.0", 0)
		p.tag("v1.10.0", 0)
		p.tag("v1.9.0", 0)
		w.later(time.Hour, func() { p.tag("v1.11.0", 30*time.Minute) })
		w.later(3*time.Hour, func() { p.tag("v2.0.0", 0) })
		watchFor(t, a, j, 12*time.Hour)
		if got := done(j); got != "1.10.0 1.11.0 2.0.0" {
			t.Fatalf("in place were %s; updates %s", got, versions(j.got()))
		}
		for _, u := range j.got() {
			if want := fmt.Sprintf("https://forge.example/tool/download/v%s/tool_%[1]s.tar.gz",
				u.Release.Version); u.URL != want || u.Release.URL != want ||
				u.Release.Tag != "v"+u.Release.Version || u.Reason != Released || u.Action != feed.Download || u.Feed != "tool" {
				t.Errorf("%+v", u)
			}
		}
		last := j.got()[len(j.got())-1]
		if last.Previous != "1.11.0" || last.Last.Digest != "digest of 1.11.0" || last.Last.ETag != "" ||
			last.Words != "version 2.0.0 is newer than 1.11.0" {
			t.Errorf("%+v", last)
		}
		waits := eventsOf[NotReady](j)
		if n := len(waits); n < 4 || n > 6 { // after 1, 2, 5, 15 minutes and an hour, less the time until the poll
			t.Errorf("not ready %d times", n)
		}
		for _, h := range eventsOf[Handled](j) {
			if h.Err != nil {
				t.Errorf("a failure was told: %v", h.Err)
			}
		}
	})
}

// TestReleasesNoFile checks that versions without a file do not hold up lower ones, are asked for at the intervals of
// release.Delay, and are given up after two days, which is the only failure.
func TestReleasesNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		a.Feeds[0].Every, a.Round = 10*time.Minute, 10*time.Minute
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		p.tag("v2.0", 0)
		w.later(10*time.Minute, func() { p.tag("v9999.0", -1); p.tag("v2.1", 0) })
		w.later(time.Hour, func() { p.tag("v2.2", 0) })
		watchFor(t, a, j, 24*time.Hour)
		if got := done(j); got != "2.0 2.1 2.2" {
			t.Errorf("in place were %s", got)
		}
		if got := stages(t, a); got != "9999.0 waiting, 2.2 in-place" {
			t.Errorf("stages: %s", got)
		}
		watchFor(t, a, j, 72*time.Hour)
		if got := stages(t, a); got != "9999.0 given-up, 2.2 in-place" {
			t.Errorf("stages: %s", got)
		}
		var failures []string
		for _, h := range eventsOf[Handled](j) {
			if h.Err != nil {
				failures = append(failures, fmt.Sprint(h.Update.LastTry, " ", h.Err))
			}
		}
		if fmt.Sprint(failures) != "[true not there yet: status 404 Not Found]" {
			t.Errorf("failures: %v", failures)
		}
		if n := len(eventsOf[NotReady](j)); n < 45 || n > 60 {
			t.Errorf("asked %d times within two days", n)
		}
		p.tag("v2.3", 0)
		watchFor(t, a, j, time.Hour)
		if got := done(j); got != "2.0 2.1 2.2 2.3" {
			t.Errorf("in place were %s", got)
		}
	})
}

// TestReleaseAfterOutage checks that a release is not given up after a few requests because the watcher did not run, or
// the clock was wrong, for days.
func TestReleaseAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		p.tag("v2.0", 0)
		watchFor(t, a, j, time.Hour)
		p.tag("v2.1", 75*time.Hour)
		watchFor(t, a, j, time.Hour)
		time.Sleep(72 * time.Hour)
		watchFor(t, a, j, 4*time.Hour)
		if got := done(j); !strings.HasSuffix(got, " 2.1") {
			t.Errorf("in place were %s", got)
		}
	})
}

// TestReleaseRecord checks that the record of an update is about the file of the release, and not about another of the
// files that an API lists.
func TestReleaseRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		w.sites["api.example"] = func(*http.Request) *http.Response {
			return says(200, `[{"tag_name":"v1.0","assets":[
				{"browser_download_url":"https://forge.example/tool/download/v1.0/SHA256SUMS","size":5,"updated_at":"1999-12-31T20:00:00Z"},
				{"browser_download_url":"https://forge.example/tool/download/v1.0/tool_1.0.tar.gz","size":7,"updated_at":"1999-12-31T10:00:00Z"},
				{"browser_download_url":"https://forge.example/tool/download/v1.0/tool_1.0.zip","size":9,"updated_at":"1999-12-31T22:00:00Z"}]}]`)
		}
		a := w.antenna(j)
		a.Feeds = []Feed{{Name: "api", URL: "https://api.example/releases"}}
		a.Watches = []Watch{{Name: "tool", Releases: &Releases{Template: templateOf(t, toolURL)}}}
		watchFor(t, a, j, time.Hour)
		if got := j.got(); len(got) != 1 || got[0].Record.Size != 7 {
			t.Errorf("%+v", got)
		}
	})
}

// watchAsking is like watchFor, and calls ask every minute meanwhile.
func watchAsking(t *testing.T, a *Antenna, j *journal, d time.Duration, ask func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- a.Watch(ctx, j.take) }()
	for ctx.Err() == nil {
		time.Sleep(time.Minute)
		if ctx.Err() == nil {
			ask()
		}
	}
	if err := <-ended; !errors.Is(err, ctx.Err()) {
		t.Errorf("watch: %v", err)
	}
	time.Sleep(time.Second)
}

// TestReleasesManyWait checks that at most three versions wait, and that a lower one that is late, too, has its turn
// although five others never come.
func TestReleasesManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := follower(t)
		for i := range 5 {
			p.tag(fmt.Sprintf("v%d.0", 9990+i), -1)
		}
		p.tag("v2.1", 2*time.Hour)
		watchAsking(t, a, j, 12*time.Hour, func() {
			if n := strings.Count(stages(t, a), string(waiting)); n > maxWaiting {
				t.Errorf("%d wait", n)
			}
		})
		if got := done(j); got != "2.1" {
			t.Errorf("in place were %q", got)
		}
	})
}

// TestReleasesRemoved checks that a waiting release is dropped when it is removed from the feed, and not when the feed
// has become too long for it.
func TestReleasesRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		a.Watches[0].Releases.Choice = release.Choice{Versions: rangeOf(t, "<3")}
		p.most = 3
		p.tag("v1.0", 0)
		w.later(10*time.Minute, func() { p.tag("v2.0", -1) })
		w.later(2*time.Hour, func() { p.remove("v2.0") })
		w.later(3*time.Hour, func() { p.tag("v2.1", 4*time.Hour) })
		for i := range 5 {
			w.later(time.Duration(200+i)*time.Minute, func() { p.tag(fmt.Sprintf("v3.%d", i), 0) })
		}
		removed := ""
		w.later(170*time.Minute, func() { removed = versions(j.got()) })
		watchFor(t, a, j, 24*time.Hour)
		if got := done(j); got != "1.0 2.1" {
			t.Errorf("in place were %s", got)
		}
		if n := strings.Count(versions(j.got()), "2.0"); n < 4 || n != strings.Count(removed, "2.0") {
			t.Errorf("the removed release was asked for %d times, %d before", n, strings.Count(removed, "2.0"))
		}
	})
}

func rangeOf(t *testing.T, text string) release.Range {
	t.Helper()
	r, err := release.ParseRange(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
