package download

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
)

// The loop is not woken for every write. It gets the last ones before a silence within reportTime, each byte
// once and in order, and no message after the end.
func TestLoopIsTold(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		part, err := partfile.OpenTemp(fsys.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer part.Close()
		out := make(chan message, 100)
		k := &sink{ctx: t.Context(), id: 7, part: part, out: out, most: byterange.Unbounded}
		k.limit.Store(byterange.Unbounded)
		k.size.Store(-1)
		at, heard := int64(0), int64(0)
		write := func(n int64) {
			t.Helper()
			if _, err := k.WriteAt(make([]byte, n), at); err != nil {
				t.Fatal(err)
			}
			at += n
		}
		hears := func(want int64) {
			t.Helper()
			synctest.Wait()
			for len(out) > 0 {
				m := <-out
				if m.id != 7 || m.wrote.Start != heard || int64(m.fresh) != m.wrote.Len() {
					t.Fatalf("told of %v with %d fresh, after %d", m.wrote, m.fresh, heard)
				}
				heard = m.wrote.End
			}
			if heard != want {
				t.Fatalf("heard of %d bytes, want %d of %d", heard, want, at)
			}
		}
		for range 3 {
			write(1000)
			hears(at) // the last time was long ago
			told := at
			write(1000)
			write(1000)
			hears(told)
			time.Sleep(reportTime)
			hears(at) // a silence
			write(reportBytes)
			hears(at) // much
			time.Sleep(time.Second)
		}
		write(1000)
		hears(at)
		write(1000)
		if left := k.end(); left.id != 7 || left.wrote != (byterange.Range{Start: at - 1000, End: at}) {
			t.Errorf("left at the end: %v", left.wrote)
		}
		told := at - 1000
		time.Sleep(time.Second)
		hears(told)
	})
}

// A fetch that is given up while its answer waits for the loop ends with the answers so far, whose digests count.
func TestUnheardAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, waiting := range []int{0, 1} { // messages that fit
		k := &sink{ctx: ctx, out: make(chan message, waiting)}
		err := k.Answer(source.Answer{URL: &url.URL{}, Hops: make([]metalink.Hop, 2)})
		if e, ok := errors.AsType[*source.Error](err); !ok || len(e.Hops) != 2 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d: %v", waiting, err)
		}
	}
	s, _ := sessionOf(t, 0, known{})
	r := s.reply(message{answer: &source.Answer{Hops: make([]metalink.Hop, 2)}}, &flight{sink: &sink{}}) // cancelled by the loop
	if e, ok := errors.AsType[*source.Error](r.err); !ok || len(e.Hops) != 2 || !errors.Is(r.err, errRefused) {
		t.Errorf("cancelled by the loop: %v", r.err)
	}
}

// The digest of an answer that is given up counts, unless the answer is a document: its digest is not that of the file.
func TestUnheardDigest(t *testing.T) {
	for kind, want := range map[string]outcome{"application/octet-stream": failed, "application/metalink4+xml": ongoing} {
		k := known{digests: withDigest(t), size: 100}
		s, _ := sessionOf(t, 100, k)
		s.facts.begun, s.req.Trust.Claims = true, k.digests.counting()
		h := http.Header{"Content-Type": {kind}, "Digest": {"sha-256=" + base64.StdEncoding.EncodeToString(make([]byte, 32))}}
		s.applyRefusal(&origin{first: true}, &source.Error{Hops: []metalink.Hop{{URL: s.req.URL, Status: 200, Header: h}}})
		if s.end.how != want {
			t.Errorf("%s: %v, %v", kind, s.end.how, s.end.err)
		}
	}
}
