package watch

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/internal/fsys"
)

func TestDownloadAndNothingNew(t *testing.T) {
	w := newWorld(t)
	w.origin.etag = `"1"`
	o := w.does()
	w.holds(w.path(), "one")
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("one")))
	if !o.Changed || o.ETag != `"1"` || !o.LastModified.Equal(date(1)) || o.Size != 3 || o.Digest != sum ||
		o.Path != w.path() || o.Bytes != 3 ||
		o.Evidence != "sha-256 from Digest over http" || o.At.IsZero() || o.ModTime.IsZero() {
		t.Errorf("%+v", o)
	}
	// 304: nothing changes, and the known outcome stays.
	w.origin.set(func(*origin) {})
	again := w.does()
	if again.Changed || again.Bytes != 0 || again.Digest != sum || again.ETag != o.ETag ||
		!again.ModTime.Equal(o.ModTime) || !again.At.After(o.At) {
		t.Errorf("%+v", again)
	}
	if asked := w.origin.asked(); !slices.Equal(asked, []string{`HEAD "1"` + date(1).Format(http.TimeFormat)}) {
		t.Errorf("asked %q", asked)
	}
	// Without an ETag, the date is the validator.
	w.origin.set(func(o *origin) { o.etag, o.body, o.modified = "", "two", date(2) })
	if o := w.does(); !o.Changed || o.ETag != "" {
		t.Errorf("%+v", o)
	}
	w.holds(w.path(), "two")
	w.origin.set(func(*origin) {})
	if o := w.does(); o.Changed || w.origin.asked()[0] != "HEAD "+date(2).Format(http.TimeFormat) {
		t.Errorf("%+v, %q", o, w.origin.asked())
	}
}

// A file that was downloaded in the second of its date is downloaded once more, because it may have changed in that
// second.
func TestChangedInItsSecond(t *testing.T) {
	w := newWorld(t)
	w.rule.Request.Trust.Require = download.RequireNothing
	w.origin.set(func(o *origin) { o.digest, o.modified = false, time.Now().Add(time.Second) })
	w.does()
	w.origin.set(func(o *origin) { o.body = "two" })
	w.does()
	w.holds(w.path(), "two")
}

// The request has the validators of the file in place or none: a 304 must not leave another file or none in place.
func TestFileIsGone(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"removed": os.Remove,
		"changed": func(path string) error { return os.WriteFile(path, []byte("!!!"), 0o644) },
		"touched": func(path string) error { return os.Chtimes(path, date(1), date(1)) },
	} {
		w := newWorld(t)
		w.origin.etag = `"1"`
		w.does()
		if err := harm(w.path()); err != nil {
			t.Fatal(err)
		}
		o := w.does()
		if o.Changed != (name == "removed") {
			t.Errorf("%s: %+v", name, o)
		}
		w.holds(w.path(), "one")
	}
}

// Rule 54: an older file does not replace a newer one, unless that is allowed; the update is done nevertheless.
func TestOlder_Rule54(t *testing.T) {
	w := newWorld(t)
	w.origin.set(func(o *origin) { o.modified, o.etag = date(5), `"5"` })
	w.does()
	w.origin.set(func(o *origin) { o.body, o.modified, o.etag = "old", date(4), `"4"` })
	o := w.does()
	w.holds(w.path(), "one")
	if o.Changed || !o.LastModified.Equal(date(5)) || !strings.Contains(w.log.String(), "older") {
		t.Errorf("%+v\n%s", o, w.log.String())
	}
	w.rule.AllowOlder = true
	if o := w.does(); !o.Changed || !o.LastModified.Equal(date(4)) {
		t.Errorf("%+v", o)
	}
	w.holds(w.path(), "old")
	// For an older file, a server would answer that it was not modified, so the date is no validator here.
	w.origin.set(func(o *origin) { o.body, o.modified, o.etag = "first", date(3), "" })
	w.last.ETag = ""
	if o := w.does(); !o.Changed || !o.LastModified.Equal(date(3)) {
		t.Errorf("%+v", o)
	}
}

// A verified file is not replaced by an unverified one, even if the watch does not require verification.
func TestVerifiedStays(t *testing.T) {
	w := newWorld(t)
	w.rule.Request.Trust.Require = download.RequireNothing
	w.does()
	w.origin.set(func(o *origin) { o.digest, o.body, o.modified = false, "two", date(2) })
	if _, err := w.handle(w.update()); kindOf(err) != fmt.Sprintf("download %d", download.NoEvidence) {
		t.Errorf("error is %v", err)
	}
	w.holds(w.path(), "one")
	w.rule.Request.Trust.LessProof = true
	if o := w.does(); o.Evidence != "" || !o.Changed {
		t.Errorf("%+v", o)
	}
	w.holds(w.path(), "two")
}

// RequireDigest is the default of a watch, and a failure leaves the old file in place.
func TestUnverifiedIsRefused(t *testing.T) {
	w := newWorld(t)
	w.origin.digest = false
	if _, err := w.handle(w.update()); kindOf(err) != fmt.Sprintf("download %d", download.NoEvidence) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Lstat(w.path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

// Rule 56: the allowance of a feed limits the size of the file.
func TestLimits_Rule56(t *testing.T) {
	w := newWorld(t)
	u := w.update()
	for _, tt := range []struct{ left, size int64 }{{2, 0}, {2, 4}, {5, 2}} {
		u.Allowance, w.rule.Size = allowed(tt.left), tt.size
		_, err := w.handle(u)
		e, ok := errors.AsType[*download.Error](err)
		if !ok || e.Kind != download.Limit || strings.Contains(string(e.Hint), "bytes-a-day") != (tt.left < 3) {
			t.Errorf("%+v: error is %v (%+v)", tt, err, e)
		}
	}
	w.rule.Size = 4
	if _, err := w.handle(u); err != nil {
		t.Error(err)
	}
}

func TestFeedMismatch(t *testing.T) {
	w := newWorld(t)
	u := w.update()
	u.Record = feed.Record{Size: 3, MD5: fmt.Sprintf("%x", md5.Sum([]byte("one")))}
	if _, err := w.handle(u); err != nil || strings.Contains(w.log.String(), "mismatch") {
		t.Errorf("%v\n%s", err, w.log.String())
	}
	w.origin.set(func(o *origin) { o.body, o.modified = "two!", date(2) })
	u.Last = w.last
	if o, err := w.handle(u); err != nil || !o.Changed || strings.Count(w.log.String(), "feed-mismatch") != 2 {
		t.Errorf("%+v, %v\n%s", o, err, w.log.String())
	}
}

func TestGlob(t *testing.T) {
	w := newWorld(t)
	w.template("", true)
	u := w.update()
	u.URL = w.origin.URL + "/pub/a/b/file"
	if _, err := w.handle(u); err != nil {
		t.Fatal(err)
	}
	w.holds(filepath.Join(w.rule.Dir, "a", "b", "file"), "one")
	// Rules 5 and 10: names do not lead elsewhere, nor through existing links.
	if err := os.Symlink(w.dir, filepath.Join(w.rule.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/pub/link/x", "/pub/%2e%2e/x", "/pub/.old/x", "/pub/a/b/", "/pub/x?q"} {
		u.URL = w.origin.URL + path
		if o, err := w.handle(u); err == nil {
			t.Errorf("%s: %+v", path, o)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "x")); err == nil {
		t.Error("a file outside of the folder")
	}
	u.Watch = "other"
	if _, err := w.handle(u); err == nil || !strings.Contains(err.Error(), `no watch "other"`) {
		t.Errorf("error is %v", err)
	}
}

// A name with a date is that of the report, so that a repetition has the same.
// TestMoved: another folder or name is another place, unless each version has its own.
func TestMoved(t *testing.T) {
	w := newWorld(t)
	w.does()
	moved := func() bool { return w.updater.Moved(w.update()) }
	if moved() {
		t.Error("it is where it was put")
	}
	w.template("{host}-{base}", false)
	if !moved() {
		t.Error("it has another name")
	}
	w.template("{date}", false)
	if moved() {
		t.Error("another version may have another name")
	}
	w.template("", false)
	w.rule.Dir += "2"
	if !moved() {
		t.Error("it has another folder")
	}
	w.does()
	w.holds(w.path(), "one")
	if moved() {
		t.Error("it is in the other folder")
	}
	w.last.Path = ""
	if moved() {
		t.Error("nobody knows where it was")
	}
}

func TestDatedName(t *testing.T) {
	w := newWorld(t)
	w.template("{base}-{date}", false)
	u := w.update()
	u.Record.LastModified = feed.At(date(7))
	for range 2 {
		if _, err := w.handle(u); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(w.rule.Dir, "*"))
	if want := []string{w.path() + "-2026-11-07"}; !slices.Equal(names, want) {
		t.Errorf("files are %q, want %q", names, want)
	}
}

// A request has the header fields and signatures of the watch, and the credentials of its URL.
func TestRequest(t *testing.T) {
	w := newWorld(t)
	w.rule.Request.Access.Header = map[string][]string{"X-Key": {"k"}}
	w.rule.SignaturesOf = func(u *url.URL) ([]download.Signature, error) {
		return []download.Signature{{From: u.String()}}, nil
	}
	u := w.update()
	u.URL = strings.Replace(u.URL, "://", "://me:word@", 1) + "#x"
	task, err := func() (*task, error) { w.updater.init(); return w.updater.task(t.Context(), u) }()
	if err != nil {
		t.Fatal(err)
	}
	r, err := task.request()
	if err != nil || r.Access.User.String() != "me:word" || r.URL.String() != w.origin.URL+"/pub/file" ||
		r.Trust.Signatures[0].From != r.URL.String() || r.Access.Header["X-Key"] == nil || !r.IfExists.IfNewer {
		t.Errorf("%+v, %v", r, err)
	}
	if key := task.key(); strings.Contains(key, "word") || !strings.HasPrefix(key, "w ") {
		t.Errorf("key is %q", key)
	}
}

// TestMemoryIsBounded: the failures of names that no feed has any more are forgotten for those of others. A failure that
// happens again stays known, however many others there were since it was new.
func TestMemoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory")
	m := &Memory{}
	fail := func(key string, wantNew bool) {
		t.Helper()
		if isNew, err := m.failed(key, "x"); isNew != wantNew || err != nil {
			t.Fatalf("%s: new %t, %v", key, isNew, err)
		}
	}
	fail("w lasting", true)
	const others = mostFailed + 100
	for i := range others {
		fail(fmt.Sprintf("w %d", i), true)
		if i%1000 == 0 {
			fail("w lasting", false)
		}
	}
	if len(m.Failed) != mostFailed {
		t.Errorf("%d failures", len(m.Failed))
	}
	m.files, m.path = fsys.OS, path // earlier, each failure would rewrite the file
	fail("w last", true)
	info, err := os.Stat(path)
	if err != nil || info.Size() > 64*mostFailed {
		t.Errorf("%v, %v", info, err)
	}
	if m, err = openMemory(fsys.OS, path, map[string]*Rule{"w": {}}); err != nil || len(m.Failed) != mostFailed {
		t.Fatal(len(m.Failed), err)
	}
	fail("w last", false)
	fail("w lasting", false)
	fail(fmt.Sprintf("w %d", others-1), false)
	fail("w 0", true)
}

func TestMemoryForgetsOtherWatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory")
	m, err := openMemory(fsys.OS, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a b 12", "a 12", "c 12"} {
		if _, err := m.failed(key, "x"); err != nil {
			t.Fatal(err)
		}
		if err := m.place(key, antenna.Outcome{Size: 1}); err != nil {
			t.Fatal(err)
		}
	}
	m, err = openMemory(fsys.OS, path, map[string]*Rule{"a b": {}, "c": {}})
	if err != nil || len(m.Failed) != 2 || len(m.Placed) != 2 || m.Failed[0].Key != "a b 12" || m.Failed[1].Key != "c 12" {
		t.Errorf("%+v, %v", m, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err = openMemory(fsys.OS, path, nil); err != nil || m.Failed != nil {
		t.Errorf("garbage: %+v, %v", m, err)
	}
	if _, err := openMemory(fsys.OS, filepath.Dir(path), nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a folder: %v", err)
	}
}
