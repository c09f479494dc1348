package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/antenna/release"
	"braid/download"
	"braid/internal/partfile"
)

// TestReleaseFailedInPlace_Rule80: the outcome of a failed update has the path of a file that is in place, so that no
// older version follows it.
func TestReleaseFailedInPlace_Rule80(t *testing.T) {
	for name, more := range map[string]string{"tool_1.1": "link = 'latest'\n", "tool": "name = 'tool'\n"} {
		w, s := following(t, more+"run = ['program']")
		s.put("1.0", "one")
		if _, err := w.next("1.0"); err != nil {
			t.Fatal(err)
		}
		if o, err := w.next("1.1"); err == nil || o.Path != "" {
			t.Errorf("%s: a missing file: %+v, %v", more, o, err)
		}
		s.put("1.1", "two")
		w.fail = errors.New("it fails")
		o, err := w.next("1.1")
		if err == nil || o.Path != filepath.Join(w.rule.Dir, name) {
			t.Errorf("%s: a failed program: %+v, %v", more, o, err)
		}
		s.Close()
		if again, err := w.next("1.1"); err == nil || again.Path != o.Path {
			t.Errorf("%s: then no server: %+v, %v", more, again, err)
		}
	}
}

// TestReleaseFinishedAway_Rule80 checks that a version whose file is in place is finished after its program failed, or
// its link could not be replaced, although the server no longer has the file.
func TestReleaseFinishedAway_Rule80(t *testing.T) {
	w, s := following(t, "link = 'latest'\nrun = ['program']")
	s.put("1.0", "one")
	if _, err := w.next("1.0"); err != nil {
		t.Fatal(err)
	}
	s.put("1.1", "two")
	w.fail = errors.New("it fails")
	if _, err := w.next("1.1"); !errors.Is(err, w.fail) {
		t.Fatal(err)
	}
	s.remove("1.1")
	w.start() // another process
	w.fail = nil
	if o, err := w.next("1.1"); err != nil || !o.Changed || w.names() != "latest->tool_1.1 tool_1.0 tool_1.1" ||
		len(w.hooks) != 3 {
		t.Errorf("after a failed program: %+v, %v, %d programs; in the folder is %s", o, err, len(w.hooks), w.names())
	}

	w, s = following(t, "link = 'latest'")
	s.put("1.0", "one")
	blocked := filepath.Join(w.rule.Dir, ".braid-latest.tmp", "x")
	if err := os.MkdirAll(blocked, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := w.next("1.0"); err == nil {
		t.Fatal("the link was made")
	}
	s.remove("1.0")
	if err := os.RemoveAll(filepath.Dir(blocked)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.next("1.0"); err != nil || w.names() != "latest->tool_1.0 tool_1.0" {
		t.Errorf("after a failed link: %v; in the folder is %s", err, w.names())
	}
}

// TestReleaseFailedEdited checks that a file that the user changed or wrote is not taken for that of a release that
// fails, unless an earlier attempt may have put it there. Otherwise no older release would follow.
func TestReleaseFailedEdited(t *testing.T) {
	for name, more := range map[string]string{"tool_1.1": "", "tool": "name = 'tool'\n"} {
		w, s := following(t, more)
		s.put("1.0", "one")
		if _, err := w.next("1.0"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(w.rule.Dir, name)
		if err := os.WriteFile(path, []byte("of the user"), 0o666); err != nil {
			t.Fatal(err)
		}
		s.Close()
		r, _ := w.rule.Releases.Template.Of(feed.Record{Tag: "v1.1"})
		for begun, want := range map[bool]string{false: "", true: path} {
			u := antenna.Update{Watch: "w", URL: r.URL, Release: &r, Previous: "1.0", Last: w.last, Begun: begun}
			if o, err := w.handle(u); err == nil || o.Path != want {
				t.Errorf("%s, begun %t: the path of the outcome is %q, want %q (%v)", name, begun, o.Path, want, err)
			}
		}
		w.holds(path, "of the user")
	}
}

// TestReleasePartsRemoved: the part file of a version is removed once a newer one is in place or the version is given
// up, and not before.
func TestReleasePartsRemoved(t *testing.T) {
	w, s := following(t, "")
	for _, version := range []string{"1.0", "1.2", "1.3"} {
		s.put(version, strings.Repeat("file of "+version, 10_000))
	}
	s.cut = true
	for _, version := range []string{"1.0", "1.2", "1.3"} {
		if _, err := w.next(version); err == nil {
			t.Fatal("no error")
		}
	}
	s.cut = false
	is := func(want string) {
		t.Helper()
		if got := w.names(); got != want {
			t.Errorf("in the folder is %s, want %s", got, want)
		}
	}
	is("tool_1.0.part tool_1.0.part.journal tool_1.2.part tool_1.2.part.journal tool_1.3.part tool_1.3.part.journal")
	s.put("1.1", "file of 1.1")
	w.start()
	if _, err := w.next("1.1"); err != nil {
		t.Fatal(err)
	}
	is("tool_1.1 tool_1.2.part tool_1.2.part.journal tool_1.3.part tool_1.3.part.journal")
	s.mu.Lock()
	delete(s.files, "1.2")
	s.mu.Unlock()
	r, _ := w.rule.Releases.Template.Of(feed.Record{Tag: "v1.2"})
	if _, err := w.handle(antenna.Update{Watch: "w", URL: r.URL, Release: &r, LastTry: true}); err == nil {
		t.Error("no error")
	}
	is("tool_1.1 tool_1.3.part tool_1.3.part.journal")
}

// TestReleasePartsMoved_Rule80 checks that the part files of a watch whose folder and file names have changed are
// removed once a version is in place. A part file of another download stays, also of one that continues the watch's, as
// does a user's file in the new folder.
func TestReleasePartsMoved_Rule80(t *testing.T) {
	w, s := following(t, "")
	w.rule.Request.Trust.Require, s.bare["1.1"] = download.RequireNothing, true
	before := w.rule.Dir
	for _, version := range []string{"0.9", "1.0", "1.1", "1.2"} {
		s.put(version, strings.Repeat("file of "+version, 10_000))
	}
	s.cut = true
	for _, version := range []string{"0.9", "1.0", "1.1"} {
		if _, err := w.next(version); err == nil {
			t.Fatal("no error")
		}
	}
	if _, err := partfile.Remove(nil, before, "tool_1.0"); err != nil {
		t.Fatal(err)
	}
	user := download.Client{RetryWait: time.Millisecond, Tries: 1, JournalKey: filepath.Join(w.dir, "user-key")}
	for from, name := range map[string]string{"/v0.9/tool_0.9": "tool_0.9", "/other/tool_1.0": "tool_1.0"} {
		u, err := url.Parse(s.URL + from)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := user.Get(t.Context(), download.Request{URL: u, Dir: before, Name: name}); err == nil {
			t.Fatal("no error")
		}
	}
	s.cut = false
	w.rule.Dir = filepath.Join(w.dir, "moved")
	w.start()
	taken := filepath.Join(w.rule.Dir, "tool_1.1")
	if err := errors.Join(os.Mkdir(w.rule.Dir, 0o777), os.WriteFile(taken, []byte("of the user"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.next("1.1"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file of the user's: %v", err)
	}
	w.holds(taken, "of the user")
	var err error
	if w.rule.File, err = parseTemplate("t-{version}", w.rule.URL, false); err != nil {
		t.Fatal(err)
	}
	w.start()
	if _, err := w.next("1.2"); err != nil {
		t.Error(err)
	}
	if got := w.names(); got != "t-1.2 tool_1.1" {
		t.Errorf("in the folder is %s", got)
	}
	w.rule.Dir = before
	if got := w.names(); got != "tool_0.9.part tool_0.9.part.journal tool_1.0.part tool_1.0.part.journal" {
		t.Errorf("in the previous folder is %s", got)
	}
}

// A listing is a watch that follows a feed of releases whose files are on a shelf.
type listing struct {
	*world
	*shelf
	config *Loaded
	text   string // of the configuration
	mu     sync.Mutex
	tags   string // in the feed
}

func newListing(t *testing.T) *listing {
	l, dir := &listing{shelf: newShelf(t)}, t.TempDir()
	l.world = &world{t: t, dir: dir, rule: &Rule{Watch: &Watch{Dir: filepath.Join(dir, "d")}}}
	l.shelf.dir = l.rule.Dir
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		io.WriteString(w,
			`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>f</id><title>f</title><updated>2026-01-01T00:00:00Z</updated>`)
		for i, tag := range strings.Fields(l.tags) {
			fmt.Fprintf(w,
				`<entry><id>%s</id><title>%s</title><updated>2026-01-0%dT00:00:00Z</updated><link href="http://a.example/%s"/></entry>`, tag, tag, i+1, tag)
		}
		io.WriteString(w, "</feed>")
	}))
	t.Cleanup(feeds.Close)
	l.text = "host-gap = '1ms'\n" + strings.NewReplacer("http://a.example/dl/{tag}/tool_{version}.tar.gz",
		l.URL+"/{tag}/tool_{version}",
		"http://a.example/f", feeds.URL+"/f", "'d'", "'"+l.rule.Dir+"'").Replace(releasesOf)
	l.config = &Loaded{Config: parse(t, l.text), Folder: filepath.Join(dir, "state"), Command: &Command{
		ExitCode: func(k download.Kind) int { return int(k) }, Kind: func(code int) download.Kind { return download.Kind(code) },
		Worse: func(a, b download.Kind) bool { return a > b }, Ended: func(context.Context) bool { return false },
	}}
	return l
}

// round runs a round with the tags in the feed. want is what the folder has then.
func (l *listing) round(tags, want string) {
	l.t.Helper()
	l.mu.Lock()
	l.tags = tags
	l.mu.Unlock()
	if _, err := (&Watcher{Err: io.Discard, Metrics: &Metrics{}}).Watch(l.t.Context(), l.config, []string{"f", "w"}); err != nil {
		l.t.Fatal(err)
	}
	if got := l.names(); got != want {
		l.t.Errorf("in the folder is %s, want %s", got, want)
	}
}

// TestReleaseWithdrawn checks that a watcher removes the part file of a version that its feed no longer reports, or that
// the settings exclude now, and neither the part file of a version that is still reported nor a file that braid did not
// write.
func TestReleaseWithdrawn(t *testing.T) {
	l := newListing(t)
	for _, version := range []string{"1.0", "1.1", "1.2", "1.3"} {
		l.put(version, strings.Repeat("file of "+version, 10_000))
		l.bare[version] = version != "1.0" // not ready: received, but without proof
	}
	l.round("v1.0 v1.1 v1.2 v1.3", "tool_1.0 tool_1.1.part tool_1.1.part.journal tool_1.2.part tool_1.2.part.journal "+
		"tool_1.3.part tool_1.3.part.journal")
	foreign := filepath.Join(l.rule.Dir, "tool_1.4.part")
	if err := os.WriteFile(foreign, []byte("of the user"), 0o666); err != nil {
		t.Fatal(err)
	}
	l.config.Config = parse(t, l.text+"versions = '<1.3'\n")
	l.round("v1.0 v1.1 v1.2 v1.3", "tool_1.0 tool_1.1.part tool_1.1.part.journal tool_1.2.part tool_1.2.part.journal "+
		"tool_1.4.part")
	l.round("v1.0 v1.1", "tool_1.0 tool_1.1.part tool_1.1.part.journal tool_1.4.part")
	l.round("", "tool_1.0 tool_1.1.part tool_1.1.part.journal tool_1.4.part") // the feed may be empty for a moment
	l.holds(foreign, "of the user")
}

// TestReleaseWithdrawnLater checks that the antenna does not wait for the removal of a part file, but the end of the
// watching does.
func TestReleaseWithdrawnLater(t *testing.T) {
	l := newListing(t)
	l.put("1.1", strings.Repeat("file of 1.1", 10_000))
	l.bare["1.1"] = true
	l.round("v1.1", "tool_1.1.part tool_1.1.part.journal")
	s := &service{Watcher: &Watcher{Err: io.Discard, Metrics: &Metrics{}}, log: NewServiceLog(io.Discard, "text")}
	if err := s.use(l.config); err != nil {
		t.Fatal(err)
	}
	now := s.current.Load()
	now.memory.mu.Lock() // as during a slow removal
	now.antenna.Observe(antenna.Withdrawn{Watch: "w", Release: release.Release{Tag: "v1.1", Version: "1.1"}})
	now.memory.mu.Unlock()
	now.close()
	if got := l.names(); got != "" {
		t.Errorf("in the folder is %s", got)
	}
}

// TestReleaseWithdrawnShared checks that the part file of a version stays if another version that has begun has a file of
// the same name.
func TestReleaseWithdrawnShared(t *testing.T) {
	w, s := following(t, "")
	s.put("1.1", strings.Repeat("file of 1.1", 10_000))
	s.cut = true
	if _, err := w.next("1.1"); err == nil {
		t.Fatal("no error")
	}
	m := w.updater.Memory
	if err := m.begin("w", begun{Name: "tool_1.1", Version: "1.1", Tag: "1.1"}); err != nil {
		t.Fatal(err)
	}
	if err := m.withdraw(nil, w.rule, release.Release{Version: "1.1", Tag: "v1.1"}); err != nil {
		t.Fatal(err)
	}
	if got := w.names(); got != "tool_1.1.part tool_1.1.part.journal" {
		t.Errorf("in the folder is %s", got)
	}
}
