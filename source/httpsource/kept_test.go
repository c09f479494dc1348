package httpsource

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/metalink"
	"braid/source"
)

// size returns the number of bytes in the header fields of hops.
func size(hops []metalink.Hop) (n int) {
	for _, h := range hops {
		for name, values := range h.Header {
			n += len(name) + len(strings.Join(values, ""))
		}
	}
	return n
}

// TestFieldsKept_Rule20 checks that only fields that are read later are kept and, from a mirror, no more than a usual
// server sends. A download keeps the errors of 200 mirrors, each with up to 10 redirects and 256 KiB of fields (rule
// 20).
func TestFieldsKept_Rule20(t *testing.T) {
	s := mirrortest.New(t, file)
	long := strings.Repeat("x", 100<<10)
	link := fmt.Sprintf("<http://m.example/%s>; rel=duplicate", long)
	redirects := []mirrortest.Option{mirrortest.Digest(), mirrortest.HugeHeader(100 << 10), mirrortest.Link(link)}
	s.Reset(append(redirects, mirrortest.Choose(func(r *http.Request) []mirrortest.Option {
		var n int
		if fmt.Sscanf(r.URL.RawQuery, "%d", &n); n < 10 {
			return []mirrortest.Option{mirrortest.Redirect(fmt.Sprintf("%s?%d", s.URL, n+1))}
		}
		return []mirrortest.Option{mirrortest.Status(404)}
	}))...)
	for _, mirror := range []bool{false, true} {
		_, err := fetch(t, newClient(t), s.URL, Options{Mirror: mirror}, whole)
		e := sourcetest.Fault(t, err, source.FaultRefused, false)
		if len(e.Hops) != 11 {
			t.Fatalf("%d answers, want 11", len(e.Hops))
		}
		for _, h := range e.Hops[:10] {
			if len(h.Header["Digest"]) != 1 || !mirror && h.Header["Link"][0] != link {
				t.Errorf("mirror %v: not all that is read was kept: %d bytes", mirror, size(e.Hops))
			}
		}
		if n, most := size(e.Hops), 11*(mostKept+1000); mirror && n > most {
			t.Errorf("%d bytes of a mirror's fields are kept, at most %d", n, most)
		}
		if n, most := size(e.Hops), 11*(len(link)+1000); n > most {
			t.Errorf("%d bytes are kept, at most %d", n, most)
		}
	}
}
