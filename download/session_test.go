package download

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/small"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// sessionOf returns a session with a part file of size bytes and the facts k, and the events for its scheduler.
func sessionOf(t *testing.T, size int, k known) (*session, *[]scheduler.Event) {
	t.Helper()
	_, s := partOf(t, size)
	s.c, s.facts.known, s.carried.known = &Client{}, &k, &k
	s.req.URL = &url.URL{Scheme: "https", Host: "asked"}
	s.carried.origin = s.req.URL
	var events []scheduler.Event
	s.step = func(ev scheduler.Event) { events = append(events, ev) }
	return s, &events
}

// withDigest returns a table with one SHA-256, which counts.
func withDigest(t *testing.T) digests {
	return counted([]verify.Claim{{Digest: digestFilled(t, verify.SHA256, 1), Channel: verify.HTTPS}})
}

// The first part that ends a session decides how it ends, and each caller gets its own error.
func TestEndingFirst(t *testing.T) {
	var e ending
	first, second := changed("first"), errors.New("second")
	if e.early(fileChanged, first) != first || e.stop(second) != second {
		t.Error("an error is not returned")
	}
	if e.how != fileChanged || e.err != first {
		t.Errorf("%v: %v", e.how, e.err)
	}
}

// A body may end within the file where a second body ends, too, or where a source states that the file ends.
func TestCutoffEndsHere(t *testing.T) {
	unsatisfied := &source.Error{Status: http.StatusRequestedRangeNotSatisfiable,
		Hops: []metalink.Hop{{Header: http.Header{"Content-Range": {"bytes */60"}}}}}
	const broke = scheduler.FaultTransient
	for name, tt := range map[string]struct {
		size  int64
		gap   bool
		fault scheduler.Fault
		err   error
		want  [2]bool // after one body, and after two
		ends  int64
	}{
		"no size, and the server is gone":          {-1, false, broke, small.ErrSilent, [2]bool{false, true}, 100},
		"a body that ends before the size":         {200, false, broke, io.ErrUnexpectedEOF, [2]bool{false, true}, 100},
		"a size, and the server is gone":           {200, false, broke, small.ErrSilent, [2]bool{}, 0},
		"a gap in the bytes":                       {-1, true, broke, io.ErrUnexpectedEOF, [2]bool{}, 0},
		"a body that is complete":                  {-1, false, scheduler.FaultNone, nil, [2]bool{}, 0},
		"416 with the size of the file":            {-1, false, scheduler.FaultWrong, unsatisfied, [2]bool{true, true}, 60},
		"416 with another size than the known one": {200, true, scheduler.FaultWrong, unsatisfied, [2]bool{true, true}, 60},
	} {
		s, _ := sessionOf(t, 100, known{size: tt.size})
		if tt.gap {
			s.part.Revoke(byterange.Range{Start: 10, End: 20})
		}
		for i, want := range tt.want {
			if end, ok := s.cut.endsHere(tt.err, tt.fault); ok != want || ok && end != tt.ends {
				t.Errorf("%s, body %d: %d, %v", name, i+1, end, ok)
			}
		}
	}
}

// The first bytes may be the whole file only if a digest decides, and the user did not state another size.
func TestFactsMayEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		known known
		size  int64
		want  bool
	}{
		"a digest and no size":     {known{digests: withDigest(t), size: -1}, 60, true},
		"the server's size":        {known{digests: withDigest(t), size: 200, sizeBy: byServer}, 60, true},
		"the user's size":          {known{digests: withDigest(t), size: 200, sizeBy: byUser}, 60, false},
		"no digest":                {known{size: -1}, 60, false},
		"more bytes than are here": {known{digests: withDigest(t), size: -1}, 101, false},
		"no bytes":                 {known{digests: withDigest(t), size: -1}, 0, false},
	} {
		if s, _ := sessionOf(t, 100, tt.known); s.facts.mayEnd(tt.size) != tt.want {
			t.Errorf("%s: not %v", name, tt.want)
		}
	}
}

// A new tag of the server makes existing bytes, and those that are being received, bytes of several versions.
func TestFactsRetag(t *testing.T) {
	for name, tt := range map[string]struct {
		size   int
		coming bool
		tag    tag
		mixed  bool
	}{
		"bytes are here":  {100, false, tag{`"b"`, "h:443"}, true},
		"bytes are sent":  {0, true, tag{`"b"`, "h:443"}, true},
		"no bytes":        {0, false, tag{`"b"`, "h:443"}, false},
		"the same tag":    {100, true, tag{`"a"`, "h:443"}, false},
		"no tag any more": {100, true, tag{}, false},
	} {
		s, _ := sessionOf(t, tt.size, known{size: -1, tag: tag{`"a"`, "h:443"}})
		s.facts.retag(statement{tag: tt.tag, host: tt.tag.host}, tt.coming)
		s.workers.Wait()
		if want := s.facts.known.tag; s.facts.known.mixed != tt.mixed || tt.tag.etag != "" && want != tt.tag {
			t.Errorf("%s: %v, mixed %v", name, want, s.facts.known.mixed)
		}
	}
}

// The bytes of two answers go into one pipe only if a digest, a shared tag, or date and size show one version.
func TestAnswersMayFeed(t *testing.T) {
	date, other := time.Unix(1000, 0), time.Unix(2000, 0)
	for name, tt := range map[string]struct {
		o    origin
		a    source.Answer
		want bool
	}{
		"the same date and size":        {origin{}, source.Answer{Size: 100, LastModified: date}, true},
		"another date":                  {origin{}, source.Answer{Size: 100, LastModified: other}, false},
		"the same date and no size":     {origin{}, source.Answer{Size: -1, LastModified: date}, false},
		"the tag of the same host":      {origin{}, source.Answer{Size: 100, ETag: `"a"`, Host: "h:443"}, true},
		"the tag of another host":       {origin{}, source.Answer{Size: 100, ETag: `"a"`, Host: "m:443"}, false},
		"the shared tag of a mirror":    {origin{pref: true}, source.Answer{Size: 100, ETag: `"a"`, Host: "m:443"}, true},
		"the digest":                    {origin{}, source.Answer{Size: -1, Claims: withDigest(t).counting()}, true},
		"a swarm, which proves a piece": {origin{swarm: true}, source.Answer{Size: -1}, true},
	} {
		s, _ := sessionOf(t, 0, known{digests: withDigest(t), size: 100, tag: tag{`"a"`, "h:443"}})
		if !s.answers.mayFeed(&tt.o, tt.a) {
			t.Errorf("%s: the first answer may not feed", name)
		}
		s.answers.lead, s.answers.leader = &source.Answer{LastModified: date}, &origin{}
		if s.answers.mayFeed(&tt.o, tt.a) != tt.want {
			t.Errorf("%s: not %v", name, tt.want)
		}
	}
}

// Without evidence that mirrors have the server's file, they are fallbacks. With it, they are sources, each once, and a
// banned source is asked no more.
func TestChoiceOfMirrors(t *testing.T) {
	at := func(host string) *url.URL { return &url.URL{Scheme: "https", Host: host, Path: "/f"} }
	for name, tt := range map[string]struct {
		digests   digests
		lanes     int
		fallbacks int
	}{
		"a digest":  {withDigest(t), 1, 0},
		"no digest": {nil, 0, 2},
	} {
		mirrors := []metalink.Mirror{{URL: at("m")}, {URL: at("wrong")}}
		k := known{size: 100, digests: tt.digests, file: metalink.File{Mirrors: mirrors}}
		s, events := sessionOf(t, 0, k)
		s.facts.begun, s.choice.due = true, true
		hc, done := s.c.network(t.Context())
		defer done()
		s.http = hc
		s.carried.past = map[string]*past{at("wrong").String(): {banned: errUntied}}
		s.choice.addMirrors()
		s.choice.addMirrors()
		lanes, fallbacks := len(s.sources.lanes), len(s.carried.fallbacks)
		if lanes != tt.lanes || len(*events) != tt.lanes || fallbacks != tt.fallbacks || s.choice.due {
			t.Errorf("%s: %d lanes, %d events, %d fallbacks", name, lanes, len(*events), fallbacks)
		}
	}
}

// A stream waits for signatures and, if evidence is demanded, for the lookup. An upload waits for documents, too.
func TestProvingWaits(t *testing.T) {
	signatures := func(p *proving) { p.aside.fetchingSignatures = true }
	lookup := func(p *proving) { p.carried.looking.begun = true }
	for name, tt := range map[string]struct {
		stream  io.Writer
		require Require
		set     func(*proving)
		want    bool
	}{
		"a stream, signatures":             {io.Discard, RequireNothing, signatures, true},
		"a stream, a document":             {io.Discard, RequireNothing, func(p *proving) { p.aside.asking = true }, false},
		"a stream, a lookup":               {io.Discard, RequireNothing, lookup, false},
		"a stream, a lookup that must end": {io.Discard, RequireDigest, lookup, true},
		"a file, signatures":               {nil, RequireDigest, signatures, false},
	} {
		s, _ := sessionOf(t, 0, known{size: 100})
		s.req.Stream, s.req.Target, s.req.Trust.Require = tt.stream, nil, tt.require
		if tt.set(&s.proving); s.proving.streamWaits() != tt.want {
			t.Errorf("%s: not %v", name, tt.want)
		}
	}
}
