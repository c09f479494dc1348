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

// A recheck finds the wrong bytes of a complete file whose digest does not hold, where no pieces locate them. What each source
// brought is fetched once more from others and compared, the most doubtful sources first. Where two differ, a third one decides.
// After that, one source after another is compared with all that is here.
//
// Nothing is thrown away: bytes that differ lie in an overlay, and are exchanged with those of the part file when that
// may repair it. Then a session hashes the whole again.
type recheck struct {
	board
	over   *overlay
	before *overlay      // what came, where it was replaced
	saved  byterange.Set // which it has
	mark   func() error  // notes, before the first replacement, that a digest alone ties what is here
	mixed  bool          // which was noted
	files  fsys.FS
	every  bool  // what each source brought was compared, as far as others could be asked
	tried  int   // single sources that were asked
	extra  int64 // bytes that they were asked for although all agreed
}

// newRecheck begins with which source brought what.
func newRecheck(s *session) *recheck {
	x := &recheck{board: board{
		part: s.part, size: s.part.Front(), bound: s.bound(), claims: s.claims,
		asked: s.req.Described == nil && !s.standIn(), limit: s.limiter(),
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

// rebind makes the sources of a later session those that are asked, and blamed.
func (x *recheck) rebind(all []*origin) {
	for _, p := range x.parties {
		for _, o := range all {
			if p.from != nil && o.url.String() == p.from.url.String() {
				p.from = o
			}
		}
	}
}

// open makes the overlay. There must be room for all that one source brought.
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

// round compares until something was exchanged that may repair the file; it reports false when nothing is left to compare.
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

// verifiers are the sources that are asked: the less doubtful half, one for each host (RFC 6249, section 7).
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

// usual is the doubt that half of the sources do not exceed.
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

// byTrust are the sources, the more trusted ones first.
func (x *recheck) byTrust() []*party {
	all := slices.DeleteFunc(slices.Clone(x.parties),
		func(p *party) bool { return p.from == nil || p.from.swarm || p.from.other })
	rank := func(p *party) int {
		switch {
		case x.own(p): // it would have to have been an accident
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

// own reports whether all that is here is known to be what a source has.
func (x *recheck) own(p *party) bool {
	same := x.same(p)
	return same.Contains(byterange.Range{End: x.size})
}

// same is where a source is known to have what is here, by itself or by another name of its host.
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

// next is the source to be asked alone for all that is not known to be the same there; nil if none is left. If all
// sources agree on the bytes the digest may be wrong, and little is spent on that: the server that gave it is asked for
// more, and others for as much as the file has, of which least is known first.
func (x *recheck) next() *party {
	all, agreed := x.byTrust(), x.unanimous()
	if agreed {
		given := map[bool]int{true: 1} // up: as it leads to another source, which was asked
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

// rests is what is asked of a source alone: what is not known to be the same there, or to differ. One that is known to
// have all that is here is asked for all of it: its bytes may have been damaged on the way.
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

// unknown is how many bytes that is.
func (x *recheck) unknown(p *party) int64 {
	rest := x.rests(p)
	return rest.Len()
}

// unanimous reports whether each byte was compared with another source's and none was different.
func (x *recheck) unanimous() bool {
	return x.compared > 0 && !slices.ContainsFunc(x.parties,
		func(p *party) bool { return p.todo.Count() > 0 || p.differs.Count() > 0 })
}

// exchange puts what may mend the file into its place, and what was there into the overlay.
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

// both is what two sets have in common.
func both(a, b byterange.Set) (out byterange.Set) {
	for r := range a.All() {
		for c := range b.Covered(r) {
			out.Add(c)
		}
	}
	return out
}

// move takes what is in part from one set to another.
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

// restore puts back what came, where bytes of a source were tried that did not lead to the right file. That ends the search.
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

// refuted reports whether all that a source has was compared, so that the digest shows that it has another file.
func (x *recheck) refuted(u *url.URL) bool {
	i := slices.IndexFunc(x.parties, func(p *party) bool { return p.from != nil && p.from.url.String() == u.String() })
	return i >= 0 && x.parties[i].adopted && x.parties[i].asked
}

// close gives back what the overlays take.
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
