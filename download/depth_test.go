package download_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/download"
)

// mirrorTree returns a slow origin and a mirror that also has the folder of the first file.
func mirrorTree(t *testing.T) (origin, mirror *site, urls []string) {
	origin, mirror = newSite(t), newSite(t)
	origin.pace = 20 * time.Millisecond // 3 MiB/s
	for i, name := range []string{"a", "b"} {
		v := file(4*mib, uint64(20+i))
		origin.files.Store("/pub/x/"+name, v)
		mirror.files.Store("/x/"+name, version{body: v.body})
		urls = append(urls, origin.URL+"/pub/x/"+name)
	}
	origin.header = func(p string, h http.Header) {
		if p == "/pub/x/a" {
			h.Set("Link", fmt.Sprintf("<%s/x/a>; rel=duplicate; depth=1", mirror.URL))
		}
	}
	return origin, mirror, urls
}

// TestBatchDepth: a mirror with more than one file is also used for the next one of that folder, whose digest
// its own server states (RFC 6249, section 3.4).
func TestBatchDepth(t *testing.T) {
	t.Parallel()
	origin, mirror, urls := mirrorTree(t)
	origin.slow = func(p string) bool { return mirror.sent("/x/"+path.Base(p)) < 4*mib/16 }
	b := batch(t.Context(), t, download.Batch{AtOnce: 1}, nil, urls...)
	for i, name := range []string{"a", "b"} {
		b.right(i, name, made(4*mib, uint64(20+i)))
		if got := bytesFrom(b.results[i], mirror); got == 0 {
			t.Errorf("the mirror brought nothing of %s: %+v", name, b.results[i].Sources)
		}
	}
}

func bytesFrom(r download.Result, s *site) (n int64) {
	for _, src := range r.Sources {
		if strings.HasPrefix(src.URL, s.URL) {
			n += src.Bytes
		}
	}
	return n
}

// TestBatchDepthIsNoEvidence: the mirror's file is compared with the digest and size of the wanted file (C5,
// C8), and without a digest the mirror is not asked (C4).
func TestBatchDepthIsNoEvidence_C4_C5_C8(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		wrong version
		bare  bool // the other file's server gives no digest
		asked bool
	}{
		{name: "another digest", wrong: file(4*mib, 99), asked: true},
		{name: "another size", wrong: version{body: made(5*mib, 21)}, asked: true},
		{name: "not there", asked: true},
		{name: "no digest", wrong: version{body: made(4*mib, 99)}, bare: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			origin, mirror, urls := mirrorTree(t)
			mirror.files.Delete("/x/b")
			origin.slow = func(p string) bool { return tt.asked && p == "/pub/x/b" && mirror.requests("/x/b") == 0 }
			if tt.wrong.body != nil {
				mirror.files.Store("/x/b", tt.wrong)
			}
			if tt.bare {
				origin.files.Store("/pub/x/b", version{body: made(4*mib, 21)})
			}
			b := batch(t.Context(), t, download.Batch{AtOnce: 1}, nil, urls...)
			got, err := os.ReadFile(filepath.Join(b.dir, "b"))
			if err != nil || !bytes.Equal(got, made(4*mib, 21)) || b.errs[1] != nil {
				t.Errorf("another file: %v, %v", err, b.errs)
			}
			if n := mirror.requests("/x/b"); n > 0 != tt.asked || bytesFrom(b.results[1], mirror) > 0 {
				t.Errorf("the mirror was asked %d times and brought %d bytes", n, bytesFrom(b.results[1], mirror))
			}
		})
	}
}

// TestBatchDepthGivesUp: a mirror that lacks one file after another is no longer asked.
func TestBatchDepthGivesUp(t *testing.T) {
	t.Parallel()
	origin, mirror, urls := mirrorTree(t)
	origin.pace = 8 * time.Millisecond
	asked := func() (n int) {
		for i := range 6 {
			n += min(1, mirror.requests(fmt.Sprintf("/x/%d", i)))
		}
		return n
	}
	origin.slow = func(string) bool { return asked() == 0 } // else it may send everything before
	for i := range 6 {
		p := fmt.Sprintf("/pub/x/%d", i)
		origin.files.Store(p, file(4*mib, 20))
		urls = append(urls, origin.URL+p)
	}
	b := batch(t.Context(), t, download.Batch{AtOnce: 1}, nil, urls...)
	if len(b.errs) > 0 {
		t.Fatal(b.errs)
	}
	if n := asked(); n == 0 || n > 3 {
		t.Errorf("asked for %d files that are not there", n)
	}
}
