package download

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"braid/byterange"
	"braid/download/partfile"
	"braid/source"
)

// When only the digest of the whole says that something is wrong, samples of what each source brought are fetched from
// another source and compared (rule 40). Where two differ a third one is asked; without a third the word of the one that
// is named first counts more: the server that the user asked, or the better mirror of a document.

const (
	sampleShare = 10       // one part in so many of the file is compared, at most
	sampleSize  = 1 << 20  // of one sample, at most
	disputed    = 64 << 10 // bytes around a difference that a third source is asked for
)

// A claimant is somebody who brought a part of the file; with a nil origin an earlier run did.
type claimant struct {
	from    *origin
	brought *byterange.Set
}

// A verdict says who brought wrong bytes.
type verdict struct {
	found   bool
	liar    *origin // nil: an earlier run
	at      byterange.Range
	witness string // whose bytes are others
}

// A search is one comparison of samples.
type search struct {
	part      *partfile.File
	claimants []claimant
	witnesses []*origin               // who can be asked, the better ones first
	asking    map[*origin]*sync.Mutex // one request at a time (C7)
}

// newSearch finds who brought something and who can be asked.
func newSearch(s *session) *search {
	x := &search{part: s.part, asking: map[*origin]*sync.Mutex{}}
	s.unknown = s.part.Have()
	for _, o := range s.origins {
		for r := range o.brought.All() {
			s.unknown.Remove(r)
		}
		if o.banned {
			continue
		}
		if o.up {
			x.witnesses, x.asking[o] = append(x.witnesses, o), &sync.Mutex{}
		}
		if o.brought.Len() > 0 {
			x.claimants = append(x.claimants, claimant{o, &o.brought})
		}
	}
	if s.unknown.Len() > 0 {
		x.claimants = append(x.claimants, claimant{nil, &s.unknown})
	}
	slices.SortStableFunc(x.witnesses, func(a, b *origin) int { return cmp.Compare(failed(a), failed(b)) })
	return x
}

func failed(o *origin) int {
	if o.err != nil {
		return 1
	}
	return 0
}

// run compares samples of what each brought, at most budget bytes in all, with what another source has.
func (x *search) run(ctx context.Context, budget int64) []verdict {
	out := make([]verdict, len(x.claimants))
	var all sync.WaitGroup
	for i, c := range x.claimants {
		others := slices.DeleteFunc(slices.Clone(x.witnesses), func(o *origin) bool { return o == c.from })
		if len(others) > 0 {
			all.Go(func() { out[i] = x.compare(ctx, c, others[i%len(others)], budget/int64(len(x.claimants))) })
		}
	}
	all.Wait()
	return out
}

// compare fetches samples of what c brought from w, until one is not the same.
func (x *search) compare(ctx context.Context, c claimant, w *origin, budget int64) verdict {
	for _, r := range samples(c.brought, budget) {
		at, err := x.differs(ctx, w, r)
		if err != nil {
			return verdict{}
		}
		if !at.Empty() {
			return x.decide(ctx, c, w, at)
		}
	}
	return verdict{}
}

// decide says who is wrong where c and w differ: a third one tells.
func (x *search) decide(ctx context.Context, c claimant, w *origin, at byterange.Range) verdict {
	claim := verdict{found: true, liar: c.from, at: at, witness: w.host}
	reverse := verdict{found: true, liar: w, at: at, witness: "an earlier run"}
	if c.from != nil {
		reverse.witness = c.from.host
	}
	for _, o := range x.witnesses {
		if o == c.from || o == w {
			continue
		}
		if other, err := x.differs(ctx, o, at); err == nil {
			if other.Empty() {
				return reverse
			}
			return claim
		}
	}
	if c.from != nil && c.from.id < w.id {
		return reverse
	}
	return claim
}

// differs fetches r from o and says where it is not what is here; that is empty if it is all the same.
func (x *search) differs(ctx context.Context, o *origin, r byterange.Range) (byterange.Range, error) {
	x.asking[o].Lock()
	defer x.asking[o].Unlock()
	k := &comparison{part: x.part.ReadAt, within: r}
	if err := o.src.Fetch(ctx, r, k); err != nil && k.at.Empty() {
		return k.at, err
	}
	return k.at, nil
}

// samples spreads ranges of at most budget bytes in all over a set.
func samples(set *byterange.Set, budget int64) (out []byterange.Range) {
	n := max(1, min(budget, set.Len())/sampleSize)
	size := min(sampleSize, max(budget, 1)/n)
	step := set.Len() / n
	next, seen := int64(0), int64(0) // counted in bytes of the set
	for r := range set.All() {
		for next < seen+r.Len() && int64(len(out)) < n {
			start := r.Start + next - seen
			out = append(out, byterange.Range{Start: start, End: min(start+size, r.End)})
			next += step
		}
		seen += r.Len()
	}
	return out
}

// A comparison is a sink that compares what comes with what is here.
type comparison struct {
	part   func([]byte, int64) (int, error)
	within byterange.Range
	at     byterange.Range // around the first difference
	buf    []byte
}

func (k *comparison) Answer(a source.Answer) error {
	if !a.Ranged && k.within.Start > 0 {
		return errRefused
	}
	return nil
}

func (k *comparison) WriteAt(p []byte, off int64) (int, error) {
	k.buf = slices.Grow(k.buf[:0], len(p))[:len(p)]
	n, err := k.part(k.buf, off)
	if n < len(p) {
		return 0, &localError{err}
	}
	if i := firstDifference(p, k.buf); i >= 0 {
		from := (off + int64(i)) / disputed * disputed
		k.at = byterange.Range{Start: from, End: from + disputed}.Intersect(k.within)
		return 0, source.ErrEnough
	}
	return len(p), nil
}

// firstDifference is the index of the first byte that is not the same, or -1.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
