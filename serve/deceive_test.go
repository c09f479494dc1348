package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/fsys"
	"braid/verify"
)

// deceptions replace the bytes of a file by others of the same length.
var deceptions = map[string]func(file string, data []byte) error{
	"removed and made anew": func(file string, data []byte) error {
		if err := os.Remove(file); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o644)
	},
	"another one renamed": func(file string, data []byte) error {
		if err := os.WriteFile(file+".new", data, 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(file+".new", longAgo, longAgo); err != nil {
			return err
		}
		return os.Rename(file+".new", file)
	},
	"written in place": func(file string, data []byte) error {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Write(data)
		return err
	},
}

// Other bytes with the same size and date get a digest of their own, in this run and in the next.
func TestSameSizeAndDate(t *testing.T) {
	if fsys.InfoOf(statOf(t, t.TempDir())).Changed.IsZero() {
		t.Log("this system does not say when a file was changed: only another file is told apart, in one run")
		return
	}
	upper := strings.ToUpper(content)
	for name, deceive := range deceptions {
		t.Run(name, func(t *testing.T) {
			dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
			put(t, dir, "a", content)
			file := filepath.Join(dir, "a")
			change := func(to string) {
				if err := deceive(file, []byte(to)); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(file, longAgo, longAgo); err != nil {
					t.Fatal(err)
				}
			}
			serveOnce(t, dir, cache, nil, "/a")
			change(upper)
			if n := serveOnce(t, dir, cache, nil, "/a"); n != 1 { // compares digest and bytes
				t.Errorf("hashed %d times in the next run", n)
			}
			w := open(t, dir, Options{CacheFile: cache}, nil)
			date := longAgo.Format(http.TimeFormat)
			for _, text := range []string{upper, content} {
				change(text)
				a := w.get("/a", "Range", "bytes=1-2", "If-Range", date) // RFC 9110, section 13.1.5
				a.want(t, 200, text)
				if got := a.digest(t); got != digestOf(t, text) || a.header.Get("Last-Modified") != "" {
					t.Errorf("digest %v, Last-Modified %q", got, a.header.Get("Last-Modified"))
				}
			}
		})
	}
}

// settleAt sets how long after a write a file is quiet.
func (d *digests) settleAt(quiet time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quiet = quiet
}

func statOf(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// A file that was just written is read once more when it is quiet, because a write through a mapping may not have been
// visible.
func TestHashedAgainWhenQuiet(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	var hashed atomic.Int64
	w := open(t, dir, Options{}, func(s *Server) {
		s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
			hashed.Add(1)
			return sum(ctx, r)
		}
		s.digests.quiet = 20 * 365 * 24 * time.Hour // for systems that know only the date, which is long ago
	})
	for _, want := range []int64{1, 1, 2, 2} {
		if want == 2 {
			w.s.digests.settleAt(0)
		}
		w.get("/a").want(t, 200, content)
		if n := hashed.Load(); n != want {
			t.Errorf("hashed %d times, want %d", n, want)
		}
	}
}

// TestSameDateAfterRemoval checks that a client with the removed version of a file gets the new one although both have the
// same date, as files of reproducible builds do.
func TestSameDateAfterRemoval(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	w := open(t, dir, Options{}, nil)
	w.get("/a").want(t, 200, content)
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	w.get("/a").want(t, 404, "Not Found\n")
	put(t, dir, "a", "other")
	w.get("/a", "If-Modified-Since", longAgo.Format(http.TimeFormat)).want(t, 200, "other")
}

// A date is a validator if the file had only one version with it, and for ranges after its second is over.
func TestLastModifiedHolds(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	v := &version{info: statOf(t, filepath.Join(dir, "a"))}
	second := longAgo.Truncate(time.Second)
	for _, tt := range []struct {
		now           time.Time
		twice         bool
		known, ranged bool
	}{
		{longAgo.Add(-time.Hour), false, false, false},
		{longAgo, false, true, false},
		{second.Add(time.Second - 1), false, true, false},
		{second.Add(time.Second), false, true, true},
		{longAgo.Add(time.Hour), true, false, true},
	} {
		v.twice = tt.twice
		if got := v.lastModified(tt.now); got.IsZero() == tt.known {
			t.Errorf("at %v, twice %v: %v", tt.now, tt.twice, got)
		}
		r := mustRequest(t, "/a")
		r.Header.Set("If-Range", longAgo.Format(http.TimeFormat))
		if got := dateHolds(r, tt.now); got != tt.ranged {
			t.Errorf("at %v a date in If-Range holds: %v", tt.now, got)
		}
	}
	now := time.Now().Add(time.Hour).Truncate(time.Second) // a second that is not over, however slow this is
	if err := os.Chtimes(filepath.Join(dir, "a"), now, now); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, Options{}, nil)
	w.get("/a", "Range", "bytes=1-2", "If-Range", now.UTC().Format(http.TimeFormat)).want(t, 200, content)
	w.get("/a", "Range", "bytes=1-2", "If-Range", `W/"x"`).want(t, 200, content)
}

// A range for a date in If-Range is sent when the second of the date is over, and not before.
func TestIfRangeOfThisSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, now := t.TempDir(), time.Now().Add(1) // a file system with fine times
		put(t, dir, "a", content)
		if err := os.Chtimes(filepath.Join(dir, "a"), now, now); err != nil {
			t.Fatal(err)
		}
		s, err := New(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := mustRequest(t, "/a")
		r.Header.Set("Range", "bytes=1-2")
		r.Header.Set("If-Range", now.UTC().Format(http.TimeFormat))
		for _, want := range []string{content, content[1:3]} {
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Body.String() != want || w.Header().Get("Last-Modified") == "" {
				t.Errorf("at %v: %d, %v, %q", time.Now(), w.Code, w.Header(), w.Body)
			}
			time.Sleep(time.Second)
		}
	})
}

// Names that some file systems treat as beginning with a dot are not served, nor is a file under an alias.
func TestOtherNamesOfHidden_Rule10(t *testing.T) {
	w := start(t, map[string]string{"\u200c.git/config": "secret", "a\u200cb": "1", "x/REAL~1.TXT": "2",
		"notes~old~1": "3", ".git/config": "secret"}, Options{})
	w.get("/%E2%80%8C.git/config").want(t, 404, "Not Found\n")
	w.get("/a%E2%80%8Cb").want(t, 200, "1")
	w.get("/x/REAL~1.TXT").want(t, 200, "2")
	w.get("/notes~old~1").want(t, 200, "3")
	for name, want := range map[string]bool{"GIT~1/config": false, "x/REAL~1.TXT": true, "x/REAL~2.TXT": false,
		"git~1": false, "x/y~z": true, "a": true} {
		if got := spelled(w.s.root, name); got != want {
			t.Errorf("%s: spelled is %v", name, got)
		}
	}
}

// TestAliasCost_V9 checks that the server does not read a folder for a name that it lacks: any client can send one.
func TestAliasCost_V9(t *testing.T) {
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("%d.iso", i)] = ""
	}
	w := start(t, files, Options{})
	if n := testing.AllocsPerRun(5, func() { spelled(w.s.root, "GIT~1/config") }); n > 100 {
		t.Errorf("%v allocations", n)
	}
}
