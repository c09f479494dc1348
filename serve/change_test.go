package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/verify"
)

// Each change of a file results in another digest: another size, another time, or another file in its place.
func TestChangedBetweenRequests(t *testing.T) {
	w := start(t, map[string]string{"a": "one"}, Options{})
	file := filepath.Join(w.dir, "a")
	check := func(want string) {
		t.Helper()
		a := w.get("/a")
		a.want(t, 200, want)
		c := verify.NewChecker(-1, []verify.Claim{{Digest: a.digest(t)}})
		io.WriteString(c, a.body)
		if _, err := c.Proof(); err != nil {
			t.Error(err)
		}
	}
	check("one")
	put(t, w.dir, "a", "longer") // the same time
	check("longer")
	if err := os.WriteFile(file, []byte("LONGER"), 0o644); err != nil { // the same size, in place
		t.Fatal(err)
	}
	check("LONGER")
	put(t, w.dir, "new", "zxywvu") // the same size and time, but another file
	put(t, w.dir, "a", "abcdef")
	check("abcdef")
	if err := os.Rename(filepath.Join(w.dir, "new"), file); err != nil {
		t.Fatal(err)
	}
	check("zxywvu")
}

// changes are the possible changes of the file a during hashing. All but the second keep its size.
var changes = map[string]func(file string) error{
	"rewritten": func(file string) error { return os.WriteFile(file, []byte(strings.ToUpper(content)), 0o644) },
	"longer":    func(file string) error { return os.WriteFile(file, []byte(content+"!"), 0o644) },
	"replaced": func(file string) error { // by another file with its size and time
		if err := os.WriteFile(file+".new", []byte(strings.ToUpper(content)), 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(file+".new", longAgo, longAgo); err != nil {
			return err
		}
		return os.Rename(file+".new", file)
	},
}

// A file that changes before or after it is read does not get its old digest.
func TestChangedWhileHashing(t *testing.T) {
	for name, change := range changes {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprint(name, before), func(t *testing.T) { testChange(t, name, change, before) })
		}
	}
}

func testChange(t *testing.T, name string, change func(file string) error, before bool) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	file := filepath.Join(dir, "a")
	once := sync.OnceFunc(func() {
		if err := change(file); err != nil {
			t.Error(err)
		}
	})
	w := open(t, dir, Options{}, func(s *Server) {
		s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
			if before {
				once()
			}
			defer once()
			return sum(ctx, r)
		}
	})
	a := w.ask(http.MethodHead, "/a")
	text, err := os.ReadFile(file)
	if err != nil || string(text) == content {
		t.Fatalf("file is %q, %v", text, err)
	}
	want, old := digestOf(t, string(text)), digestOf(t, content)
	// A replaced file may still be sent as the old version, from a descriptor of it.
	if got := a.digest(t); got != want && !(name == "replaced" && got == old) {
		t.Errorf("digest %v, want %v (it was %v)", got, want, old)
	}
	w.get("/a").want(t, 200, string(text))
}

func digestOf(t *testing.T, s string) verify.Digest {
	t.Helper()
	d, err := sum(t.Context(), strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The descriptor of a replaced file does not get the digest of the new file, and a version that is gone is not hashed.
func TestReplacedBeforeHashing(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		hashed     int64 // at most
	}{
		{"same size and time", strings.ToUpper(content), 1}, // the file ID tells, at the latest after hashing
		{"other size", "other", 0},
	} {
		dir := t.TempDir()
		put(t, dir, "a", content)
		info, err := os.Stat(filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, "new", tt.text)
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
		g := &gate{begun: make(chan struct{}, 100), open: make(chan struct{})}
		close(g.open)
		w := open(t, dir, Options{}, func(s *Server) { s.digests.sum = g.sum })
		if d, err := w.s.digests.of(t.Context(), "a", info, wants{}); !errors.Is(err, errChanged) || g.count.Load() > tt.hashed {
			t.Errorf("%s: digest %v, %v, hashed %d times", tt.name, d, err, g.count.Load())
		}
		w.get("/a").want(t, 200, tt.text)
	}
}

// A file that changes all the time is not served, and the client is asked to retry.
func TestBeingWritten(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	n := 0
	w := open(t, dir, Options{}, func(s *Server) {
		s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
			n++
			when := longAgo.Add(time.Duration(n) * time.Second)
			if err := os.Chtimes(filepath.Join(dir, "a"), when, when); err != nil {
				t.Error(err)
			}
			return sum(ctx, r)
		}
	})
	a := w.get("/a")
	a.want(t, 503, "Service Unavailable\n")
	if a.header.Get("Retry-After") == "" || a.header.Get("Digest") != "" || n != openTries {
		t.Errorf("%d tries, %v", n, a.header)
	}
}

// The answer is cut off when the file changes while it is sent, so that the client notices.
func TestChangedWhileSent(t *testing.T) {
	dir := t.TempDir()
	const size = 64 << 20 // more than the socket's buffers
	put(t, dir, "a", "")
	file := filepath.Join(dir, "a")
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, Options{}, nil)
	for _, rang := range []string{"", "bytes=10-", "bytes=0-30000000,31000000-"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Range", rang)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, resp.Body, 1<<20); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil || len(rest) > size/2 {
			t.Errorf("range %q: %d bytes more and error %v", rang, len(rest), err)
		}
		w.log.next(t, "the file changed while it was sent")
	}
}

// No byte that was read after a change is sent.
func TestVersionRead(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{})
	v, err := w.s.open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer v.file.Close()
	buf := make([]byte, 5)
	if n, err := v.Read(buf); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "a"), []byte(strings.ToUpper(content)), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := v.Read(buf); n != 0 || !errors.Is(err, errChanged) || !v.changed.Load() {
		t.Errorf("read %d bytes, %v", n, err)
	}
}
