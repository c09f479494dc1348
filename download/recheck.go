package download

import (
	"cmp"
	"errors"
	"time"

	"braid/internal/recheck"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A comparison is a search for wrong bytes by comparing sources, without pieces. It also reads the claims of the sources.
type comparison struct {
	*recheck.Search
	mixed bool // mixes has changed known.mixed,
	tag   tag  // and this was the known tag

	bound  bool           // see known.bound: another size means another file
	claims []verify.Claim // claims about the file
	stated []verify.Claim // the claims that the server stated
	heard  []verify.Claim // the claims that the server states during the comparison
	asked  bool           // the first source is the asked server, not a stand-in
	spoken spoke          // see footing
}

// newComparison returns a comparison of the sources of s.
func newComparison(s *session) (x *comparison, err error) {
	k := s.facts.known
	x = &comparison{bound: k.bound(), claims: k.digests.counting(), stated: k.digests.ofServer(),
		asked: s.req.Described == nil && !s.standIn(), spoken: s.carried.spoken()}
	x.Search, err = recheck.New(recheck.Config{
		Files: s.http.files, Part: s.part, Limit: s.c.limitOf(s.req), Mark: func() error { return x.mixes(s) },
		Silence: cmp.Or(s.c.Timeout, 30*time.Second), Pause: cmp.Or(s.c.RetryWait, time.Second),
	}, x.places(s.sources.all))
	return x, onDisk(err)
}

// mixes records in the journal that only a digest shows that all existing bytes are of one version.
func (x *comparison) mixes(s *session) error {
	if s.carried.mixed || s.carried.tag.etag == "" || !s.req.onDisk() {
		return nil
	}
	s.carried.mixed, x.mixed, x.tag = true, true, s.carried.tag
	return s.part.Begin(s.facts.identity())
}

// close ends the search. x may be nil.
func (x *comparison) close() {
	if x != nil {
		x.Close()
	}
}

// onDisk returns err, the error of a search, with an error of the disk converted to a local fault.
func onDisk(err error) error {
	if e, ok := errors.AsType[*recheck.DiskError](err); ok {
		return local(e.Err)
	}
	return err
}

// places converts all, the sources of a session, to the places of a search.
func (x *comparison) places(all []*origin) (places []*recheck.Place) {
	for _, o := range all {
		p := &recheck.Place{
			ID: o.id, URL: o.url, Masked: o.masked, Host: o.host, Source: o.src, Shown: o.showing, Sent: &o.brought,
			Err: o.err, Out: o.banned || o.swarm, Never: o.swarm || o.other,
			Check:  func(a source.Answer) error { return x.check(o, a) },
			Failed: func(err error) error { return x.failed(o, err) },
		}
		if o.busy > 0 {
			p.Rate = float64(o.bytes) / o.busy.Seconds()
		}
		places = append(places, p)
	}
	return places
}

// own returns the number of answers at the beginning of hops that are from the asked server.
func (x *comparison) own(hops []metalink.Hop) int { return ownAnswers(hops, asOrigin, x.spoken) }

// check returns an error if the answer a of o is about another file.
func (x *comparison) check(o *origin, a source.Answer) error {
	if o.first {
		resized := x.own(a.Hops) == len(a.Hops) && x.bound && differs(a.Size, x.Size())
		if err := x.announced(a.Hops, resized); err != nil {
			return err
		}
	}
	err := sameFile(o, a, x.Size(), x.claims)
	if err != nil && differs(a.Size, x.Size()) {
		o.claimed = a.Size
	}
	return err
}

// failed uses what err, a failed answer of o, states about the file.
func (x *comparison) failed(o *origin, err error) error {
	if e, ok := errors.AsType[*source.Error](err); ok && o.first {
		if err := x.announced(e.Hops, false); err != nil {
			return err
		}
	}
	if size, ok := unsatisfied(err); ok && size != x.Size() {
		o.claimed = size
	}
	return nil
}

// announced returns an error if the asked server now states another digest, also in a redirect to a server that failed.
// It also returns an error if resized is set, because the size differs. Digests that agree are added to heard.
func (x *comparison) announced(hops []metalink.Hop, resized bool) error {
	file, err := metalink.FromHops(hops[:x.own(hops)], true) // without the answers of mirrors, which are no evidence
	other := resized && err == nil || x.asked && verify.Agree(x.claims, file.Claims) != nil
	switch {
	case other && mayAnnounce(x.stated, hops, file.Claims):
		return &recheck.EndError{Err: &otherNowError{errOtherNow, file.Claims, source.HostPort(hops[x.own(hops)-1].URL)}}
	case !other && x.asked:
		x.heard = join(x.heard, file.Claims)
	}
	return nil
}

// errOtherNow is the error of a comparison if the server has another file now.
var errOtherNow = changed("the server's version changed during the comparison")

// An otherNowError is errOtherNow with the digests that the server states now, and the host that states them.
type otherNowError struct {
	error
	claims []verify.Claim
	host   string
}

func (e *otherNowError) Unwrap() error { return e.error }
