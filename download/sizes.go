package download

import (
	"errors"
	"slices"

	"braid/byterange"
	"braid/internal/partfile"
)

// dropSize lets the next session try the size that another source gives, or do without one. What is here stays as far
// as it may be of the file. It reports false if no source could say otherwise.
func (g *getter) dropSize(s *session) (bool, error) {
	k, inPlace, noRoom := g.carried.known, errors.Is(s.err, errInPlace), is[*partfile.SpaceError](s.err)
	before, held := k.size, s.cut.held > 0
	if before < 0 && (held || s.how == wrongDigest) { // the body of a source without a length ended there
		before = g.part.Front()
	}
	bound := s.how == noSource && !k.guessed() // places of another size were refused, or lacked bytes
	if before < 0 && !bound || k.sizeBy == byUser || g.req.inOrder() && g.part.Front() > 0 {
		return false, nil
	}
	if noRoom {
		g.carried.noRoom = s.err
	}
	possible := func(size int64) bool {
		return size != before && !slices.Contains(k.tried, size) && !(bound && g.reaches(size))
	}
	next := k.stated
	if k.stated = -1; next < 0 || !possible(next) {
		next = s.sources.contender(possible)
	}
	if next < 0 && (bound || !inPlace && !(noRoom && g.places(s) > 1)) {
		return false, nil
	}
	// The server gave this size for the existing bytes, which are not known to be wrong.
	if s.how != wrongDigest && !held && k.sizeBy == byServer && k.agreed() && next >= 0 && g.reaches(next) {
		return false, nil
	}
	if before >= 0 {
		k.giveUp(before, bound || s.how == sizeDisowned && !noRoom)
		g.note("%v: %d bytes are no longer assumed to be the size of the file", s.err, before)
	}
	if err := g.restore(); err != nil {
		return false, err
	}
	g.forgetRecheck()
	g.carried.drops++
	k.size, k.sizeBy, k.sizeAt = next, byOther, ""
	if err := g.cutOff(&s.sources, next); err != nil {
		return false, err
	}
	g.goOn(s)
	for _, p := range g.carried.past {
		if p.claimed >= 0 {
			p.other, p.banned, p.claimed = false, nil, -1
		}
	}
	g.carried.goesOn = next >= 0 || k.strong() || g.part.Front() > 0
	return true, nil
}

// giveUp records that a size did not lead to the file. A size that was only contradicted may be tried again,
// once.
func (k *known) giveUp(size int64, contradicted bool) {
	if contradicted && !slices.Contains(k.disowned, size) {
		k.disowned = append(k.disowned, size)
		return
	}
	k.tried = append(k.tried, size)
}

// reaches reports whether bytes beyond end exist.
func (g *getter) reaches(end int64) bool {
	for range g.part.Have().Covered(byterange.Range{Start: end, End: byterange.Unbounded}) {
		return true
	}
	return false
}

// places returns how many places of the file are known.
func (g *getter) places(s *session) int {
	n := len(s.sources.all)
	for _, m := range s.file.Mirrors {
		if !s.sources.has(m.URL) {
			n++
		}
	}
	for _, u := range g.req.Mirrors {
		if !s.sources.has(u) {
			n++
		}
	}
	return n
}

// cutOff gives up the bytes beyond the end of the file. If end is -1, it gives up all bytes, because nothing
// identifies them.
func (g *getter) cutOff(all *sources, end int64) error {
	for r := range g.part.Have().All() {
		if r.Start = max(r.Start, end); r.Start < r.End {
			g.part.Revoke(r)
			all.void(r)
			g.observe(Voided{r})
		}
	}
	if err := g.part.Void(); err != nil {
		return local(err)
	}
	return nil
}

// trySingle prepares a session with one source, after the bytes were wrong and could not be repaired, or
// after another such session. It reports whether a source is left.
func (g *getter) trySingle(s *session) bool {
	p := &g.carried
	if !p.single {
		unsized := g.req.unsized() || p.guessed() && p.sizeBy < byServer // the digest's authority gave no size
		p.single, p.candidates, p.wrong = true, s.sources.candidates(s.size, unsized, s.req.described()), s.err
		p.past = nil // each source gets another chance
	}
	if len(p.candidates) == 0 {
		return false
	}
	if p.guessed() { // each may have a file of another size
		p.size, p.sizeBy = -1, unstated
	}
	p.origin, p.candidateScope = p.candidates[0].url, p.candidates[0].named
	p.candidates = p.candidates[1:]
	return true
}
