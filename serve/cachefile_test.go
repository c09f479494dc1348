package serve

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/verify"
)

// serveOnce serves dir with a cache file, requests paths, closes the server, and returns the number of hashed files.
func serveOnce(t *testing.T, dir, cache string, log *book, paths ...string) int64 {
	t.Helper()
	var hashed atomic.Int64
	if log == nil {
		log = newBook()
	}
	t.Run("", func(t *testing.T) {
		w := open(t, dir, Options{CacheFile: cache, Log: slog.New(log)}, func(s *Server) {
			s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
				hashed.Add(1)
				return sum(ctx, r)
			}
		})
		for _, path := range paths {
			a := w.get(path)
			want, err := sum(t.Context(), strings.NewReader(a.body))
			if err != nil || a.err != nil || a.status != 200 || a.digest(t) != want {
				t.Errorf("%s: %d, digest %v, want %v", path, a.status, a.digest(t), want)
			}
		}
	})
	return hashed.Load()
}

// Digests survive a restart for files that have not changed.
func TestCacheFile(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	for _, name := range []string{"a", "d/b c", "gone", "grown", "touched"} {
		put(t, dir, name, "content of "+name)
	}
	if n := serveOnce(t, dir, cache, nil, "/a", "/d/b%20c", "/gone", "/grown", "/touched"); n != 5 {
		t.Errorf("hashed %d files, want 5", n)
	}
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "grown", "other content of grown")
	later := longAgo.Add(time.Nanosecond)
	if err := os.Chtimes(filepath.Join(dir, "touched"), later, later); err != nil {
		t.Fatal(err)
	}
	if n := serveOnce(t, dir, cache, nil, "/a", "/d/b%20c", "/grown", "/touched"); n != 2 {
		t.Errorf("hashed %d files, want 2", n)
	}
	if n := serveOnce(t, dir, cache, nil, "/a", "/d/b%20c", "/grown", "/touched"); n != 0 {
		t.Errorf("hashed %d files, want none", n)
	}
	data, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(cache); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode of the cache file is %v, %v", info.Mode(), err)
	}
	c, err := decodeCache(data)
	if err != nil || len(c.Files) != 4 {
		t.Errorf("cache is %+v, %v, want 4 files", c, err)
	}
}

// New digests reach the disk soon, not only when the server is closed.
func TestCacheFileWhileRunning(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	w := start(t, map[string]string{"a": content}, Options{CacheFile: cache})
	w.get("/a")
	deadline := time.Now().Add(time.Minute)
	for {
		data, err := os.ReadFile(cache)
		if err == nil {
			if c, err := decodeCache(data); err != nil || len(c.Files) != 1 || c.Files[0].Name != "a" {
				t.Errorf("cache is %+v, %v", c, err)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no cache file")
		}
		time.Sleep(time.Millisecond)
	}
}

// A damaged cache file does not prevent serving, and never leads to a wrong digest.
func TestCacheFileDamaged(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	put(t, dir, "a", content)
	serveOnce(t, dir, cache, nil, "/a")
	good, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	digest := bytes.Index(good, []byte(`"sha-256":"`)) + len(`"sha-256":"`)
	flipped := bytes.Clone(good)
	flipped[digest] ^= 1
	for name, bad := range map[string][]byte{
		"empty": {}, "garbage": []byte("\x00\xff\n{}"), "truncated": good[:len(good)-5], "flipped": flipped,
		"other version":    bytes.Replace(good, []byte("digests 1"), []byte("digests 2"), 1),
		"not JSON":         []byte(cacheHeaderOf([]byte("junk")) + "junk"),
		"other JSON":       []byte(cacheHeaderOf([]byte("[1]")) + "[1]"),
		"more at the end":  append(bytes.Clone(good), ' '),
		"header only":      bytes.SplitAfter(good, []byte("\n"))[0],
		"longer than sane": good,
	} {
		if err := os.WriteFile(cache, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "longer than sane" {
			if err := os.Truncate(cache, int64(len(good)+maxCache)); err != nil { // a hole is written instantly
				t.Fatal(err)
			}
		}
		log := newBook()
		if n := serveOnce(t, dir, cache, log, "/a"); n != 1 {
			t.Errorf("%s: hashed %d files, want 1", name, n)
		}
		if n := log.count("digests are not read from the cache file"); n != 1 {
			t.Errorf("%s: said %d times", name, n)
		}
		if n := serveOnce(t, dir, cache, nil, "/a"); n != 0 {
			t.Errorf("%s: not repaired: hashed %d files", name, n)
		}
	}
}

// Wrong names and digests in a well-formed cache file have no effect.
func TestCacheFileLies(t *testing.T) {
	parent := t.TempDir()
	put(t, parent, "outside", content)
	put(t, parent, "pub/a", content)
	dir := filepath.Join(parent, "pub")
	info, err := os.Stat(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Repeat("0", 64)
	c := cachedFolder{Folder: dir, Files: []cachedFile{
		{Name: "a", stamp: stampOf(info), SHA256: "short"}, {Name: "a", stamp: stamp{Size: 1, Sec: 2, Nsec: 3}, SHA256: wrong},
	}}
	for _, name := range []string{"../outside", "", "/a", ".", "none", "a\x00"} {
		c.Files = append(c.Files, cachedFile{Name: name, stamp: stampOf(info), SHA256: wrong})
	}
	data, err := encodeCache(c)
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(parent, "cache")
	if err := os.WriteFile(cache, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(dir, Options{CacheFile: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.digests.known.order.Len() != 0 {
		t.Errorf("believed %v", s.digests.known.at)
	}
}

// The cache of another folder is not used, even if names, sizes and times are the same.
func TestCacheFileOfAnotherFolder(t *testing.T) {
	one, two, cache := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "cache")
	put(t, one, "a", "abc")
	put(t, two, "a", "xyz")
	serveOnce(t, one, cache, nil, "/a")
	if n := serveOnce(t, two, cache, nil, "/a"); n != 1 {
		t.Errorf("hashed %d files, want 1", n)
	}
}

// A cache file that cannot be written is logged, and has no other effect.
func TestCacheFileNotWritable(t *testing.T) {
	dir, log := t.TempDir(), newBook()
	put(t, dir, "a", content)
	if n := serveOnce(t, dir, filepath.Join(t.TempDir(), "no", "such", "folder"), log, "/a"); n != 1 {
		t.Errorf("hashed %d files", n)
	}
	if n := log.count("cannot write the cache file"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// FuzzDecodeCache: only encoded caches are decoded.
func FuzzDecodeCache(f *testing.F) {
	good, err := encodeCache(cachedFolder{Folder: "/srv",
		Files: []cachedFile{{Name: "a", stamp: stamp{Size: 1, Sec: 2, Nsec: 3}, SHA256: strings.Repeat("0", 64)}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, 5, byte(1))
	f.Add([]byte("{}"), 0, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		if c, err := decodeCache([]byte(cacheHeaderOf(data) + string(data))); err == nil {
			again, err := encodeCache(c)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := decodeCache(again); err != nil || back.Folder != c.Folder || len(back.Files) != len(c.Files) {
				t.Errorf("%+v written again is %+v, %v", c, back, err)
			}
		}
		if at < 0 || at >= len(good) || flip == 0 {
			return
		}
		bad := bytes.Clone(good)
		bad[at] ^= flip
		if c, err := decodeCache(bad); err == nil {
			t.Errorf("byte %d changed by %#x: read as %+v", at, flip, c)
		}
	})
}
