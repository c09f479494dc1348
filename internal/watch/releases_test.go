package watch

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/antenna/release"
	"braid/download"
)

const releasesOf = "[feed.f]\nurl = 'http://a.example/f'\n[watch.w]\nurl = " +
	"'http://a.example/dl/{tag}/tool_{version}.tar.gz'\ndir = 'd'\n"

// TestReleasesRefused: settings of releases that contradict each other or have no effect are refused.
func TestReleasesRefused(t *testing.T) {
	with := func(url, rest string) string {
		return "[feed.f]\nurl = 'http://a.example/f'\n[watch.w]\nurl = '" + url + "'\ndir = 'd'\n" + rest
	}
	refused(t, []wrong{
		{with("http://a.example/{verison}", ""), "watch.w.url", 4, "unknown field {verison}"},
		{with("http://{version}.example/a", ""), "watch.w.url", 4, "path or the query"},
		{with("http://me:pw@a.example/{version}", ""), "watch.w.url", 4, "name or password"},
		{releasesOf + "token-pattern = '('", "watch.w.token-pattern", 6, "pattern of the token"},
		{releasesOf + "version-pattern = 'v.*'", "watch.w.version-pattern", 6, "needs one group"},
		{releasesOf + "versions = '2'", "watch.w.versions", 6, "range of versions"},
		{small + "token-pattern = '(x)'", "watch.w.token-pattern", 6, "applies only to releases"},
		{small + "version-pattern = '(x)'", "watch.w.version-pattern", 6, "applies only to releases"},
		{small + "versions = '>2'", "watch.w.versions", 6, "applies only to releases"},
		{small + "pre-releases = true", "watch.w.pre-releases", 6, "applies only to releases"},
		{small + "moving = true", "watch.w.moving", 6, "applies only to releases"},
		{small + "link = 'l'", "watch.w.link", 6, "applies only to releases"},
		{small + "name = 'a-{version}'", "watch.w.name", 6, "unknown field {version}"},
		{releasesOf + "check-every = '1h'", "watch.w.check-every", 6, "only when a feed reports"},
		{releasesOf + "any-news = true\nfeeds = ['f']", "watch.w.any-news", 6, "only when a feed reports"},
		{releasesOf + "mirror = ['http://b.example/']", "watch.w.mirror", 6, "this mirror has only one file"},
		{releasesOf + "allow-older = true", "watch.w.allow-older", 6, "never replaces a newer one"},
		{releasesOf + "key = ['k']\nsignature = ['http://a.example/s']", "watch.w.signature", 7,
			"this is the signature of one file"},
		{releasesOf + "link = 'a/b'", "watch.w.link", 6, "is not a valid name for a link"},
		{releasesOf + "name = 'tool.tar.gz'\nlink = 'l'", "watch.w.link", 7, "have the same name"},
		{"[watch.w]\nurl = 'http://a.example/{version}'\ndir = 'd'\n", "watch.w.feeds", 1, "needs a feed"},
		{"[feed.g]\nurl = 'http://a.example/g'\n" + releasesOf, "watch.w.feeds", 5, "there are several feeds"},
		{"[feed.f]\nurl = 'http://a.example/f'\n[watch.x]\nurl = 'http://a.example/l.latest'\nto = " +
			"'s3://b/'\n[watch.w]\nurl = 'http://a.example/{version}.zip'\nto = 's3://b/'\nlink = 'l'", "watch.w.link",
			9, "may write a file to the same path"},
		{releasesOf + "link = 'tool_7.tar.gz'\n[watch.x]\nurl = 'http://a.example/tool_7.tar.gz'\ndir = 'd'",
			"watch.x.name", 7, "writes the same file"},
		{releasesOf + "[watch.x]\nurl = 'http://a.example/tool_7.tar.gz'\ndir = 'd'", "watch.x.name", 6,
			"may write the same file"},
		{"[feed.f]\nurl = 'http://a.example/f'\n[watch.x]\nurl = 'http://a.example/l'\ndir = 'd'\n[watch.w]\nurl = " +
			"'http://a.example/{version}.zip'\ndir = 'd'\nlink = 'l'", "watch.w.link", 9, "may write a file to the same path"},
	})
}

// TestReleasesParsed: the keys become those of the antenna, and the names of files are those of versions or not.
func TestReleasesParsed(t *testing.T) {
	c := parse(t, releasesOf+"token-pattern = 'x(.*)'\nversion-pattern = 'v(.*)'\nversions = '>=2 <3'\npre-releases = "+
		"true\nmoving = true\nlink = 'l'\nkeep = 2")
	w := c.Watches[0]
	if r := w.Releases; r == nil || r.Template.Patterns() != (release.Patterns{Token: "x(.*)", Version: "v(.*)"}) ||
		r.Choice.Versions.String() != ">=2 <3" ||
		!r.Choice.PreReleases || !r.Moving || w.Link != "l" || !w.File.PerVersion() {
		t.Errorf("%+v", w)
	}
	for name, own := range map[string]bool{"": true, "a-{version}": true, "a-{tag}": true, "{hash}": true,
		"{below}": true, "a": false, "{watch}": false} {
		text := releasesOf
		if name != "" {
			text += "name = '" + name + "'"
		}
		if got := parse(t, text).Watches[0].File.PerVersion(); got != own {
			t.Errorf("name %q: own names %t", name, got)
		}
	}
	if parse(t, strings.Replace(releasesOf, "tool_{version}", "tool", 1)).Watches[0].File.PerVersion() {
		t.Error("a name without a field differs")
	}
}

// TestReleasePrints: a change of each key is a change of the watch, and the print is the same in another process.
func TestReleasePrints(t *testing.T) {
	seen := map[string]string{}
	for _, more := range []string{"", "token-pattern = '(x)'", "version-pattern = '(x)'", "versions = '>2'",
		"pre-releases = true", "moving = true", "link = 'l'", "keep = 1", "keep = 2"} {
		print := watchPrint(&parse(t, releasesOf+more).Watches[0], nil)
		if print != watchPrint(&parse(t, releasesOf+more).Watches[0], nil) {
			t.Errorf("%q: another print", more)
		}
		if other, there := seen[print]; there {
			t.Errorf("%q and %q have one print", more, other)
		}
		seen[print] = more
	}
}

// TestReleaseFiles: versions have their own names, the link leads to the latest, surplus ones are removed, and programs
// learn the version.
func TestReleaseFiles(t *testing.T) {
	w, s := following(t, "link = 'latest'\nkeep = 1\nrun = ['program']")
	for i, version := range []string{"1.0", "1.1", "1.2"} {
		s.put(version, "file of "+version)
		if o, err := w.next(version); err != nil || !o.Changed {
			t.Fatalf("%s: %+v, %v", version, o, err)
		}
		w.holds(filepath.Join(w.rule.Dir, "latest"), "file of "+version)
		env := w.hooks[i].Env
		previous := map[bool]string{true: "before"}[i > 0]
		for _, want := range []string{"BRAID_VERSION=" + version, "BRAID_TAG=v" + version, "BRAID_PREVIOUS_VERSION=" + previous} {
			if !slices.Contains(env, want) {
				t.Errorf("%s: no %s", version, want)
			}
		}
	}
	if got := w.names(); got != "latest->tool_1.2 tool_1.1 tool_1.2" {
		t.Errorf("in the folder is %s", got)
	}
	if s.bodies != 3 {
		t.Errorf("%d files were sent", s.bodies)
	}
	// A changed file, and one that braid did not put there, stay.
	if err := os.WriteFile(filepath.Join(w.rule.Dir, "tool_1.1"), []byte("changed"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.rule.Dir, "tool_0.9"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.put("1.3", "file of 1.3")
	if _, err := w.next("1.3"); err != nil {
		t.Fatal(err)
	}
	if got := w.names(); got != "latest->tool_1.3 tool_0.9 tool_1.1 tool_1.2 tool_1.3" {
		t.Errorf("in the folder is %s", got)
	}
}

// TestReleaseKeepNone: with keep = 0, only the version in place stays.
func TestReleaseKeepNone(t *testing.T) {
	w, s := following(t, "keep = 0")
	for _, version := range []string{"1.0", "1.1"} {
		s.put(version, "file of "+version)
		if _, err := w.next(version); err != nil {
			t.Fatal(err)
		}
		if got := w.names(); got != "tool_"+version {
			t.Errorf("in the folder is %s", got)
		}
	}
}

// TestReleaseNotYet_Rule80: a missing file and missing proof are no failures until the last try.
func TestReleaseNotYet_Rule80(t *testing.T) {
	w, s := following(t, "on-failure = ['program']")
	s.header = http.Header{"Retry-After": {"7200"}}
	is := func(what string, after time.Duration) {
		t.Helper()
		_, err := w.next("1.0")
		if late, ok := errors.AsType[*antenna.NotYet](err); !ok {
			t.Errorf("%s: %v", what, err)
		} else if len(w.hooks) > 0 {
			t.Errorf("%s: a failure was reported: %v", what, late)
		} else if late.After != after {
			t.Errorf("%s: asked again after %v, want %v", what, late.After, after)
		}
	}
	is("missing", 2*time.Hour)
	s.put("1.0", "one")
	s.bare["1.0"] = true
	is("bare", 0)
	if got := w.names(); strings.Contains(" "+got+" ", " tool_1.0 ") {
		t.Errorf("in the folder is %s", got)
	}
	r, _ := w.rule.Releases.Template.Of(feed.Record{Tag: "v1.0"})
	if _, err := w.handle(antenna.Update{Watch: "w", URL: r.URL, Release: &r, LastTry: true}); err == nil || len(w.hooks) != 1 {
		t.Errorf("%v, and %d programs", err, len(w.hooks))
	}
	s.bare["1.0"] = false
	if _, err := w.next("1.0"); err != nil {
		t.Error(err)
	}
	w.holds(filepath.Join(w.rule.Dir, "tool_1.0"), "one")
}

// TestReleaseReplaced_Rule80: another file under the tag of the version in place replaces nothing, unless it is moving.
func TestReleaseReplaced_Rule80(t *testing.T) {
	w, s := following(t, "")
	s.put("1.0", "one")
	if _, err := w.next("1.0"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o, err := w.recheck("1.0"); err != nil || o.Changed {
			t.Fatalf("the same file: %+v, %v", o, err)
		}
	}
	s.put("1.0", "two")
	_, err := w.recheck("1.0")
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Mismatch ||
		!strings.Contains(err.Error(), "the file of the tag v1.0 was replaced") {
		t.Errorf("replaced: %v", err)
	}
	path := filepath.Join(w.rule.Dir, "tool_1.0")
	w.holds(path, "one")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := w.recheck("1.0"); err == nil || !strings.Contains(err.Error(), "the file of the tag v1.0 was replaced") {
		t.Errorf("replaced and removed: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("another file is in place")
	}
	w.rule.Releases.Moving = true
	if o, err := w.recheck("1.0"); err != nil || !o.Changed {
		t.Errorf("moving: %+v, %v", o, err)
	}
	w.holds(path, "two")
	s.put("1.0", "three")
	if o, err := w.recheck("1.0"); err != nil || !o.Changed {
		t.Errorf("moving: %+v, %v", o, err)
	}
	w.holds(path, "three")
}

// TestReleaseName: versions of one name replace each other, and keep means the folder of old ones.
func TestReleaseName(t *testing.T) {
	w, s := following(t, "name = 'tool'\nkeep = 5")
	for _, version := range []string{"1.0", "1.1", "1.2"} {
		s.put(version, "file of "+version)
		if o, err := w.next(version); err != nil || !o.Changed {
			t.Fatalf("%s: %+v, %v", version, o, err)
		}
		w.holds(filepath.Join(w.rule.Dir, "tool"), "file of "+version)
	}
	if got := w.names(); got != ".old tool" || len(w.old()) != 2 {
		t.Errorf("in the folder is %s, and old ones are %q", got, w.old())
	}
}

// TestReleaseInterrupted: a file that an interrupted update put in place is not fetched again, and its program runs.
func TestReleaseInterrupted(t *testing.T) {
	w, s := following(t, "link = 'latest'\nrun = ['program']")
	s.put("1.0", "one")
	w.fail = errors.New("it fails")
	if _, err := w.next("1.0"); err == nil {
		t.Fatal("no error")
	}
	w.fail = nil
	w.start()
	if o, err := w.next("1.0"); err != nil || !o.Changed || len(w.hooks) != 2 {
		t.Errorf("%+v, %v, %d programs", o, err, len(w.hooks))
	}
	w.last = antenna.Outcome{} // as if the watcher had been killed before it knew
	if o, err := w.next("1.0"); err != nil || !o.Changed || len(w.hooks) != 3 || o.Digest == "" {
		t.Errorf("%+v, %v, %d programs", o, err, len(w.hooks))
	}
	if s.bodies != 1 {
		t.Errorf("the file was sent %d times", s.bodies)
	}
	// Another file of its name, without a digest to compare with, is replaced.
	w.last = antenna.Outcome{}
	if err := os.WriteFile(filepath.Join(w.rule.Dir, "tool_1.0"), []byte("other"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := w.next("1.0"); err != nil {
		t.Error(err)
	}
	w.holds(filepath.Join(w.rule.Dir, "latest"), "one")
}

// TestReleaseTaken_Rule80: a file that braid did not make is not replaced by an unproven one. One that it put in place
// before it was killed is.
func TestReleaseTaken_Rule80(t *testing.T) {
	w, s := following(t, "")
	w.rule.Request.Trust.Require = download.RequireNothing
	s.put("1.0", "one")
	s.bare["1.0"] = true
	path := filepath.Join(w.rule.Dir, "tool_1.0")
	if err := errors.Join(os.MkdirAll(w.rule.Dir, 0o777), os.WriteFile(path, []byte("mine"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.next("1.0"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a file of another program: %v", err)
		}
		w.holds(path, "mine")
	}
	if err := w.updater.Memory.begin("w", begun{Name: "tool_1.0", Version: "1.0", Tag: "v1.0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.next("1.0"); err != nil {
		t.Error(err)
	}
	w.holds(path, "one")
}

// TestLinkTaken_Rule80: what braid did not make is not replaced by the link, and nothing is fetched.
func TestLinkTaken_Rule80(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"file":   func(path string) error { return os.WriteFile(path, []byte("mine"), 0o666) },
		"folder": func(path string) error { return os.Mkdir(path, 0o777) },
		"link":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"other":  func(path string) error { return os.Symlink("../other", path) },
	} {
		w, s := following(t, "link = 'latest'")
		s.put("1.0", "one")
		if err := errors.Join(os.MkdirAll(w.rule.Dir, 0o777), make(filepath.Join(w.rule.Dir, "latest"))); err != nil {
			t.Fatal(err)
		}
		_, err := w.next("1.0")
		if e, ok := errors.AsType[*linkError](err); !ok || s.bodies != 0 {
			t.Errorf("%s: %v, %v", name, err, e)
		}
	}
}

// TestLinkCopied: where links need a privilege, a copy stands for the link, and a file that it did not make stays.
func TestLinkCopied(t *testing.T) {
	copies = true
	t.Cleanup(func() { copies = false })
	w, s := following(t, "link = 'latest'")
	path := filepath.Join(w.rule.Dir, "latest")
	for _, version := range []string{"1.0", "1.1", "1.2"} {
		s.put(version, "file of "+version)
		if _, err := w.next(version); err != nil {
			t.Fatal(err)
		}
		w.holds(path, "file of "+version)
		w.start()
	}
	if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.put("1.3", "file of 1.3")
	if _, err := w.next("1.3"); err == nil {
		t.Error("a file of the user was replaced")
	}
	w.holds(path, "mine")
}
