package download

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
)

// A recheck finds the wrong bytes of a complete file with a wrong digest, if no pieces locate them. The bytes
// of each source are fetched again from others and compared, those of the most doubtful sources first. If two
// differ, a third source decides. After that, one source after another is compared with the whole file.
//
// Nothing is discarded: bytes that differ are kept in an overlay, and are exchanged with those of the part
// file if that may repair it. A session then hashes the whole file again.
type recheck struct {
	board
	over   *overlay
	before *overlay      // the bytes that came, where they were replaced
	saved  byterange.Set // ranges that before has
	mark   func() error  // records, before the first replacement, that only a digest ties the bytes
	mixed  bool          // mark has recorded it
	files  fsys.FS
	every  bool  // what each source sent was compared, as far as others could be asked
	tried  int   // single sources that were asked
	extra  int64 // bytes requested from them although all sources agreed
}

// newRecheck returns a recheck that knows which source sent what.
func newRecheck(s *session) *recheck {
	x := &recheck{board: board{
		part: s.part, size: s.part.Front(), bound: s.bound(), claims: s.claims, stated: s.ofServer(),
		asked: s.req.Described == nil && !s.standIn(), limit: s.c.limitOf(s.req),
		silence: cmp.Or(s.c.Timeout, 30*time.Second), pause: cmp.Or(s.c.RetryWait, time.Second), wake: make(chan struct{}, 1),
	}}
	x.changed.L = &x.mu
	earlier := s.part.Have()
	var shown []showing
	for _, o := range s.sources.all {
		for r := range o.brought.All() {
			earlier.Remove(r)
		}
		p := &party{from: o, host: o.host, brought: o.brought.Clone(), todo: o.brought.Clone(),
			agrees: o.brought.Clone(), err: o.err, out: o.banned || o.swarm}
		if o.busy > 0 {
			p.rate = float64(o.bytes) / o.busy.Seconds()
		}
		x.parties, shown = append(x.parties, p), append(shown, o.showing)
	}
	for i, d := range doubts(shown) {
		x.parties[i].doubt = d
	}
	if earlier.Len() > 0 {
		x.parties = append(x.parties, &party{todo: earlier.Clone(), agrees: earlier, out: true, doubt: x.usual()})
	}
	return x
}

// rebind replaces the sources by those of a later session, which are asked and blamed from then on.
func (x *recheck) rebind(all []*origin) {
	for _, p := range x.parties {
		for _, o := range all {
			if p.from != nil && o.url.String() == p.from.url.String() {
				p.from = o
			}
		}
	}
}

// open makes the overlay. There must be room for everything that one source sent.
func (x *recheck) open(files fsys.FS) (err error) {
	var most int64
	for _, p := range x.parties {
		most = max(most, p.todo.Len())
	}
	if err := x.part.CheckRoom(most); err != nil {
		return err
	}
	x.files = files
	x.over, err = newOverlay(files, x.part)
	x.other = x.over
	return err
}

// round compares until bytes that may repair the file were exchanged. It reports false if nothing is left to
// compare.
func (x *recheck) round(ctx context.Context, tell func()) (bool, error) {
	for !x.every {
		if err := x.run(ctx, x.verifiers(), tell); err != nil {
			return false, err
		}
		if x.good.Count() > 0 {
			return true, x.exchange()
		}
		x.every = true
	}
	for p := x.next(); p != nil; p = x.next() {
		before, agreed := x.done(), x.unanimous()
		if err := x.run(ctx, []*party{p}, tell); err != nil {
			return false, err
		}
		if agreed && p.doubt != doubtAsked {
			x.extra += x.done() - before
		}
		if x.rest = nil; !p.asked {
			continue
		}
		for r := range p.differs.All() {
			x.good.Add(r)
		}
		if x.good.Count() > 0 {
			return true, x.exchange()
		}
	}
	return false, nil
}

// verifiers returns the sources to ask: the less doubtful half, one for each host (RFC 6249, section 7).
func (x *recheck) verifiers() (out []*party) {
	most := x.usual()
	for _, p := range x.byTrust() {
		known := func(o *party) bool { return o.host == p.host }
		if !p.out && !p.accused && p.doubt <= most && !slices.ContainsFunc(out, known) {
			out = append(out, p)
		}
	}
	return out
}

// usual returns the median of the sources' doubts.
func (x *recheck) usual() float64 {
	var all []float64
	for _, p := range x.parties {
		if p.from != nil && !p.out {
			all = append(all, p.doubt)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// byTrust returns the sources, the most trusted first.
func (x *recheck) byTrust() []*party {
	all := slices.DeleteFunc(slices.Clone(x.parties),
		func(p *party) bool { return p.from == nil || p.from.swarm || p.from.other })
	rank := func(p *party) int {
		switch {
		case x.own(p): // wrong bytes of it would be an accident
			return 3
		case p.accused:
			return 2
		case p.err != nil:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b *party) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.doubt, b.doubt)) })
	return all
}

// own reports whether a source is known to have exactly the bytes of the part file.
func (x *recheck) own(p *party) bool {
	same := x.same(p)
	return same.Contains(byterange.Range{End: x.size})
}

// same returns where a source is known to have the bytes of the part file, itself or under another name of
// its host.
func (x *recheck) same(p *party) byterange.Set {
	same := p.agrees.Clone()
	for _, o := range x.parties {
		if p.from != nil && o.from != nil && o.host == p.host {
			for r := range o.agrees.All() {
				same.Add(r)
			}
		}
	}
	return same
}

// next returns the source to be asked alone for everything that is not known to be the same there, or nil if
// none is left. If all sources agree on the bytes, the digest may be wrong, and little is spent: the server
// that gave the digest is asked for more, and the others together for as many bytes as the file has, those
// with the most unknown bytes first.
func (x *recheck) next() *party {
	all, agreed := x.byTrust(), x.unanimous()
	if agreed {
		given := map[bool]int{true: 1} // last: it leads to a source that was asked
		slices.SortStableFunc(all, func(a, b *party) int {
			doubt, unknown := cmp.Compare(min(a.doubt, 0), min(b.doubt, 0)), cmp.Compare(x.unknown(b), x.unknown(a))
			return cmp.Or(doubt, given[a.out]-given[b.out], unknown)
		})
	}
	for _, p := range all {
		more := x.unknown(p)
		if p.adopted || x.tried >= mostSingle || agreed && (x.own(p) || p.doubt != doubtAsked && x.extra+more > x.size) {
			continue
		}
		x.tried++
		p.adopted, p.out, p.asked, p.fails = true, false, more == 0, 0
		x.rest = &party{todo: x.rests(p)}
		return p
	}
	return nil
}

// rests returns what is requested from a source alone: everything that is not known to be the same there, or
// to differ. A source that is known to have all bytes of the part file is asked for the whole file: its bytes
// may have been damaged in transit.
func (x *recheck) rests(p *party) byterange.Set {
	rest := byterange.NewSet(byterange.Range{End: x.size})
	if x.own(p) {
		return rest
	}
	for _, known := range []byterange.Set{x.same(p), p.differs} {
		for r := range known.All() {
			rest.Remove(r)
		}
	}
	return rest
}

// unknown returns the number of bytes of rests.
func (x *recheck) unknown(p *party) int64 {
	rest := x.rests(p)
	return rest.Len()
}

// unanimous reports whether each byte was compared with another source's and none differed.
func (x *recheck) unanimous() bool {
	return x.compared > 0 && !slices.ContainsFunc(x.parties,
		func(p *party) bool { return p.todo.Count() > 0 || p.differs.Count() > 0 })
}

// exchange puts the bytes that may repair the file into place, and the replaced ones into the overlay.
func (x *recheck) exchange() error {
	set := x.good
	x.good = byterange.Set{}
	for _, hull := range hulls(set, mostSwaps) {
		for gap := range set.Gaps(hull) {
			for _, p := range x.parties {
				p.differs.Remove(gap)
			}
		}
	}
	if err := x.save(set); err != nil {
		return local(err)
	}
	if err := x.over.swap(set); err != nil {
		return local(err)
	}
	for _, p := range x.parties {
		had, has := both(p.agrees, set), both(p.differs, set)
		move(&p.agrees, &p.differs, had)
		move(&p.differs, &p.agrees, has)
		if p.from != nil {
			for r := range had.All() {
				p.from.brought.Remove(r)
			}
		}
	}
	return nil
}

// both returns the intersection of two sets.
func both(a, b byterange.Set) (out byterange.Set) {
	for r := range a.All() {
		for c := range b.Covered(r) {
			out.Add(c)
		}
	}
	return out
}

// move moves the ranges of part from one set to another.
func move(from, to *byterange.Set, part byterange.Set) {
	for r := range part.All() {
		from.Remove(r)
		to.Add(r)
	}
}

// save copies bytes of the part file that are about to be replaced for the first time.
func (x *recheck) save(set byterange.Set) (err error) {
	fresh := set.Clone()
	for r := range x.saved.All() {
		fresh.Remove(r)
	}
	if x.before == nil {
		if err := x.mark(); err != nil {
			return err
		}
		if x.before, err = newOverlay(x.files, x.part); err != nil {
			return err
		}
	}
	if err := x.part.CheckRoom(fresh.Len()); err != nil {
		return err
	}
	for r := range fresh.All() {
		if err := x.before.keep(r); err != nil {
			return err
		}
		x.saved.Add(r)
	}
	return nil
}

// restore puts back the replaced bytes if their replacements did not lead to the right file. That ends the
// search.
func (x *recheck) restore() error {
	for _, p := range x.parties {
		if p.from != nil {
			p.from.brought = p.brought.Clone()
		}
	}
	set := x.saved
	x.saved = byterange.Set{}
	if err := x.before.swap(set); err != nil {
		return local(err)
	}
	return nil
}

// refuted reports whether everything that a source has was compared, so that the digest shows that it has
// another file.
func (x *recheck) refuted(u *url.URL) bool {
	i := slices.IndexFunc(x.parties, func(p *party) bool { return p.from != nil && p.from.url.String() == u.String() })
	return i >= 0 && x.parties[i].adopted && x.parties[i].asked
}

// close frees the overlays.
func (x *recheck) close() {
	if x == nil {
		return
	}
	for _, v := range []*overlay{x.over, x.before} {
		if v != nil {
			v.file.Close() // it has no name
		}
	}
}
