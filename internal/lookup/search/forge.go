package search

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"braid/internal/lookup"
	"braid/internal/small"
	"braid/source"
	"braid/verify"
)

var errUnproven = errors.New("nothing proves that it is this server")

// askForge asks the forge of the file, if the table has the forge. It reports whether the search is done, because the
// forge gave the digest, or the names of the files beside the file.
func (s *Search) askForge(ctx context.Context, d *folder, folder *url.URL, file string) (done bool, err error) {
	q := s.asks
	if q == nil {
		return false, nil
	}
	a, p := s.forgeAnswer(ctx, d, q)
	s.Found.Weak = slices.DeleteFunc(slices.Clone(a.Claims), func(c verify.Claim) bool { return c.Digest.Algorithm().Strong() })
	switch strong := strongOf(a.Claims); {
	case isConflict(p.Err):
		return true, p.Err
	case len(strong) > 0:
		s.lists = append(s.lists, strong)
		if len(a.Names) > 1 { // an answer with the file alone says nothing about signatures
			s.know(folder, file, lookup.NewIndex(a.Names))
		}
		return true, nil
	case slices.Contains(a.Names, file):
		s.know(folder, file, lookup.NewIndex(a.Names))
		return true, s.inOrder(ctx, d, folder, file, s.names.Candidates(file))
	}
	return false, nil
}

// forgeAnswer returns the answer of the forge about the file, and records the place.
func (s *Search) forgeAnswer(ctx context.Context, d *folder, q *lookup.Question) (a lookup.Answer, p verify.Place) {
	ctx, release := small.WithSlot(ctx, q.URL)
	defer release()
	l := d.list(q.URL.String())
	got := l.get(ctx, func() (response, bool) {
		got := s.ask(ctx, q)
		return got, s.keeps(ctx, d, &l.failed, got)
	})
	p = verify.Place{URL: source.Mask(q.URL), By: got.by, Err: got.err}
	if got.refused {
		note(&s.Found, verify.Place{URL: p.URL, Err: errToken}, "")
	}
	switch {
	case p.Err != nil:
	case got.by != "":
		p.Err = fmt.Errorf("%s answered", got.by)
	case got.over != verify.HTTPS:
		p.Err = errUnproven
	default:
		p.Err = small.TakeSlot(ctx, len(got.data))
	}
	if p.Err == nil {
		a, p.Err = q.Read(got.data, s.over)
		p.Claims = a.Claims
	}
	field := q.URL.Host
	if got.refused { // without the token, the forge may hide the file
		field = ""
	}
	note(&s.Found, p, field)
	return a, p
}

// strongOf returns the claims of strong digests.
func strongOf(claims []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims),
		func(c verify.Claim) bool { return !c.Digest.Algorithm().Strong() })
}
