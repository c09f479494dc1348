package search

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"braid/internal/lookup"
	"braid/internal/small"
	"braid/source"
	"braid/verify"
)

// putOffAfter limits the time for an index, and for a list beside others.
const putOffAfter = 20 * time.Second

// briefly is fetch with a limit of putOffAfter. The error is then errLate.
func (s *Search) briefly(ctx context.Context, u *url.URL, most int64) response {
	within, cancel := small.WithTimeout(ctx, putOffAfter)
	defer cancel()
	got := s.fetch(within, u, most)
	if got.err != nil && within.Err() != nil && ctx.Err() == nil {
		got.err = errLate
	}
	return got
}

// inOrder requests lists that the index has, one after the other, until mostFound lists have the file. A list that takes
// longer than putOffAfter is requested again at the end, if no other list has the file.
func (s *Search) inOrder(ctx context.Context, d *folder, folder *url.URL, file string, all []lookup.Candidate) error {
	var late []lookup.Candidate
	for i, c := range all {
		if i == mostLists || len(s.lists) == mostFound {
			break
		}
		fetch := s.briefly
		if len(all) == 1 {
			fetch = s.fetch
		}
		got := s.list(ctx, d, folder, c, fetch)
		if got.err == errLate {
			late, s.late = append(late, c), true
			continue
		}
		if err := s.take(ctx, d, c, file, folder, got); err != nil {
			return err
		}
	}
	for _, c := range late {
		if len(s.lists) > 0 {
			note(&s.Found, verify.Place{URL: source.Mask(lookup.In(folder, c.Name)), Err: errLate}, c.Field())
		} else if err := s.take(ctx, d, c, file, folder, s.list(ctx, d, folder, c, s.fetch)); err != nil {
			return err
		}
	}
	return nil
}

// together requests lists that may exist, concurrently.
func (s *Search) together(ctx context.Context, d *folder, folder *url.URL, file string, all []lookup.Candidate) error {
	if d.missed() {
		all = slices.DeleteFunc(all, func(c lookup.Candidate) bool {
			return c.Own && !s.AskOwn && !slices.Contains(s.Also, c.Name)
		})
	}
	type answer struct {
		i int
		response
	}
	answers, got := make(chan answer, len(all)), make([]*response, len(all))
	for i, c := range all {
		if cached, made := s.cached(d, c); made {
			got[i] = &cached
			continue
		}
		go func() { answers <- answer{i, s.list(ctx, d, folder, c, s.fetch)} }()
	}
	var wrong error
	for i, c := range all {
		for got[i] == nil {
			a := <-answers
			got[a.i] = &a.response
			if claims, err := claimsOf(all[a.i], file, a.response, s.over); err == nil && a.by == "" {
				s.Heard(claims)
			}
		}
		if c.Own && ctx.Err() == nil {
			d.note(got[i].err != nil)
		}
		if err := s.take(ctx, d, c, file, folder, *got[i]); wrong == nil {
			wrong = err
		}
	}
	return wrong
}

// inHand reads the cached lists and sends no request. If s has keys, it reads no list, because it cannot look for
// signatures.
func (s *Search) inHand(ctx context.Context, d *folder, folder *url.URL, file string) (err error) {
	all := lookup.Guesses(file)
	if x, made := d.index.peek(); made && x.err == nil && x.names.Has(file) {
		s.over, all = min(s.over, x.over), x.names.Candidates(file)
	}
	for _, c := range all {
		if got, made := s.cached(d, c); made && len(s.Keys) == 0 {
			err = cmp.Or(err, s.take(ctx, d, c, file, folder, got))
		}
	}
	return err
}

// cached returns a cached list. made is false if the list is not cached.
func (s *Search) cached(d *folder, c lookup.Candidate) (got response, made bool) {
	if c.Own {
		return got, false
	}
	return d.list(c.Name).peek()
}

// list gets a list by request, or returns a cached one. A list that is named after a file is not cached.
func (s *Search) list(ctx context.Context, d *folder, folder *url.URL, c lookup.Candidate,
	request func(context.Context, *url.URL, int64) response) response {
	fetch := func(ctx context.Context, most int64) response {
		got := request(ctx, lookup.In(folder, c.Name), most)
		if got.err == nil && got.page {
			got.data, got.err = nil, errPage
		}
		return got
	}
	if c.Own {
		return fetch(ctx, small.Free)
	}
	l := d.list(c.Name)
	return l.get(ctx, func() (response, bool) {
		ctx, release := small.WithSlot(ctx, folder)
		defer release()
		got := fetch(ctx, maxList)
		if got.err == nil {
			if got.list, got.err = c.Read(got.data); got.err != nil {
				got.data = nil
			}
		}
		return got, s.keeps(ctx, d, &l.failed, got)
	})
}

// keeps reports whether a response is cached for other files. A temporary failure is cached only if it is the
// mostFailed-th.
func (s *Search) keeps(ctx context.Context, d *folder, failed *int, got response) bool {
	switch {
	case ctx.Err() != nil, got.err == errLate, errors.Is(got.err, source.ErrNotAsked):
		return false
	case lasting(got.err):
		return s.folders.keep(d, got.size())
	}
	*failed++
	return *failed >= mostFailed
}
