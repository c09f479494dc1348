package search

import (
	"context"
	"crypto/sha256"
	"net/url"
	"path"
	"slices"

	"braid/verify"
)

// A signedList identifies a list whose signature was looked for, and the slice of keys that were trusted. The address
// of the first key identifies the slice, because a cached folder keeps it from being freed.
type signedList struct {
	url    string
	digest [sha256.Size]byte
	first  *verify.Trust
	keys   int
}

// An endorsement is the good signature of a list.
type endorsement struct {
	by   verify.SignatureResult
	good bool
}

// endorsed returns what is known about the signature of a list. Files share the result, unless the folder already
// shares mostShared results.
func (d *folder) endorsed(of signedList) *once[endorsement] {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.signed[of]
	if e == nil {
		fresh := newOnce[endorsement]()
		if e = &fresh; len(d.signed) < mostShared {
			if d.signed == nil {
				d.signed = map[signedList]*once[endorsement]{}
			}
			d.signed[of] = e
		}
	}
	return e
}

// sign calls Web.Sign, or attributes the claims to the signer that Web.Sign found for another file of the same list.
// Only a good signature is shared: without one, Web.Sign is called for each file.
func (s *Search) sign(ctx context.Context, d *folder, at *url.URL, claims []verify.Claim,
	data []byte) (unsigned, err error) {
	if len(s.Keys) == 0 {
		return s.web.Sign(ctx, at, claims, data, nil)
	}
	called, endings := false, s.besides(path.Base(at.Path))
	of := signedList{at.String(), sha256.Sum256(data), &s.Keys[0], len(s.Keys)}
	known := d.endorsed(of).get(ctx, func() (endorsement, bool) {
		called = true
		if unsigned, err = s.web.Sign(ctx, at, claims, data, endings); err == nil && claims[0].Channel == verify.Signed {
			return endorsement{claims[0].By, true}, true
		}
		return endorsement{}, ctx.Err() == nil
	})
	switch {
	case called:
		return unsigned, err
	case !known.good:
		return s.web.Sign(ctx, at, claims, data, endings)
	}
	for i := range claims {
		claims[i].Channel, claims[i].By = verify.Signed, known.by
	}
	return nil, nil
}

// besides returns the endings of the signatures to ask for beside a list: of those that exist or, if that is unknown, of
// the most likely ones.
func (s *Search) besides(list string) []string {
	if s.names != nil {
		return slices.DeleteFunc(slices.Clone(s.Endings), func(ending string) bool { return !s.names.Has(list + ending) })
	}
	n := min(len(s.Endings), s.guesses)
	s.guesses -= n
	return s.Endings[:n]
}
