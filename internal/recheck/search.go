// Package recheck finds the wrong bytes of a complete file with a wrong digest, if no digests of pieces locate these
// bytes. It compares the bytes of the sources.
//
// The bytes that a source sent are fetched again from other sources and compared, the bytes of the most doubtful
// sources first. If two sources differ, a third source decides. After that, one source after another is asked for all
// bytes. The result is no proof: the caller must hash the whole file again.
package recheck

import (
	"cmp"
	"context"
	"iter"
	"net/url"
	"slices"
	"time"

	"braid/byterange"
	"braid/download/limit"
	"braid/internal/fsys"
	"braid/internal/partfile"
)

// MostSingle limits how many sources are asked for the whole file, one after another, because each of them sends as
// many bytes as the file has.
const MostSingle = 4

// A Config configures a search.
type Config struct {
	Files   fsys.FS
	Part    *partfile.File
	Limit   *limit.Limiter // limit of the download's speed; may be nil
	Silence time.Duration  // how long a source may be silent if no other source can replace it
	Pause   time.Duration  // after a failure
	// Mark is called before bytes are replaced for the first time. It must record that from then on only a digest can
	// verify the file.
	Mark func() error
}

// A Search compares the sources of a file. Nothing is discarded: bytes that differ are kept in an overlay, and are
// exchanged with those of the part file if that may repair the file.
type Search struct {
	board  board
	over   *overlay
	before *overlay      // the received bytes that were replaced in the part file; nil until bytes are replaced
	saved  byterange.Set // ranges in before
	mark   func() error
	files  fsys.FS
	every  bool  // all bytes that another source could compare were compared
	tried  int   // single sources that were asked
	extra  int64 // bytes requested from single sources although all sources agreed
}

// New returns a search. Bytes of the part file that none of places sent are treated as bytes of an earlier run. The
// disk must have space for the bytes of any one source. The error is a *DiskError or a *partfile.SpaceError. The caller
// must call Close.
func New(c Config, places []*Place) (*Search, error) {
	x := &Search{files: c.Files, mark: c.Mark, board: board{part: c.Part, size: c.Part.Front(), limit: c.Limit,
		silence: c.Silence, pause: c.Pause}}
	x.board.changed.L = &x.board.mu
	earlier := c.Part.Have()
	var shown []Showing
	for _, o := range places {
		for r := range o.Sent.All() {
			earlier.Remove(r)
		}
		x.board.parties = append(x.board.parties, &party{from: o, host: o.Host, brought: o.Sent.Clone(), todo: o.Sent.Clone(),
			agrees: o.Sent.Clone(), rate: o.Rate, err: o.Err, out: o.Out})
		shown = append(shown, o.Shown)
	}
	for i, d := range doubts(shown) {
		x.board.parties[i].doubt = d
	}
	if earlier.Len() > 0 {
		x.board.parties = append(x.board.parties, &party{todo: earlier.Clone(), agrees: earlier, out: true, doubt: x.usual()})
	}
	return x, x.open()
}

// Rebind replaces the sources by the places of a later session that have the same URLs.
func (x *Search) Rebind(places []*Place) {
	for _, p := range x.board.parties {
		for _, o := range places {
			if p.from != nil && o.URL.String() == p.from.URL.String() {
				p.from = o
			}
		}
	}
}

func (x *Search) open() (err error) {
	var most int64
	for _, p := range x.board.parties {
		most = max(most, p.todo.Len())
	}
	if err := x.board.part.CheckRoom(most); err != nil {
		return local(err)
	}
	if x.over, err = newOverlay(x.files, x.board.part); err != nil {
		return local(err)
	}
	x.board.other = x.over
	return nil
}

// Size returns the size of the file. Done returns the number of compared bytes.
func (x *Search) Size() int64 { return x.board.size }
func (x *Search) Done() int64 { return x.board.done() }

// Round compares sources until it has written bytes into the part file that may repair the file. It reports false if
// nothing is left to compare. It calls tell at intervals. The error is a *DiskError, the error in an *EndError of a
// place, or context.Cause(ctx).
func (x *Search) Round(ctx context.Context, tell func()) (bool, error) {
	for !x.every {
		if err := x.board.run(ctx, x.verifiers(), tell); err != nil {
			return false, err
		}
		if x.board.good.Count() > 0 {
			return true, x.exchange()
		}
		x.every = true
	}
	for p := x.next(); p != nil; p = x.next() {
		before, agreed := x.Done(), x.unanimous()
		if err := x.board.run(ctx, []*party{p}, tell); err != nil {
			return false, err
		}
		if agreed && p.doubt != doubtAsked {
			x.extra += x.Done() - before
		}
		if x.board.rest = nil; !p.asked {
			continue
		}
		for r := range p.differs.All() {
			x.board.good.Add(r)
		}
		if x.board.good.Count() > 0 {
			return true, x.exchange()
		}
	}
	return false, nil
}

// verifiers returns the sources that compare the bytes of others: the less doubtful half, one for each host (RFC 6249,
// section 7).
func (x *Search) verifiers() (out []*party) {
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
func (x *Search) usual() float64 {
	var all []float64
	for _, p := range x.board.parties {
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
func (x *Search) byTrust() []*party {
	all := slices.DeleteFunc(slices.Clone(x.board.parties),
		func(p *party) bool { return p.from == nil || p.from.Never })
	rank := func(p *party) int {
		switch {
		case x.own(p): // p has the bytes of the part file, and would help only if bytes were damaged in transit
			return 3
		case p.accused:
			return 2
		case p.err != nil:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b *party) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.doubt, b.doubt))
	})
	return all
}

// own reports whether a source is known to have exactly the bytes of the part file.
func (x *Search) own(p *party) bool {
	same := x.same(p)
	return same.Contains(byterange.Range{End: x.board.size})
}

// same returns the ranges where a source is known to have the bytes of the part file. It includes the ranges of other
// sources that were always at the same host.
func (x *Search) same(p *party) byterange.Set {
	same := p.agrees.Clone()
	for _, o := range x.board.parties {
		if p.from != nil && o.from != nil && o.host == p.host && !o.moved {
			for r := range o.agrees.All() {
				same.Add(r)
			}
		}
	}
	return same
}

// next returns the next source to be asked alone, for the ranges of rests, or nil if no source is left. If all sources
// agree, the digest may be wrong, so few bytes are requested. The asked server comes first. The sources with the most
// unknown bytes follow, until they have sent as many bytes as the file has.
func (x *Search) next() *party {
	all, agreed := x.byTrust(), x.unanimous()
	if agreed {
		given := map[bool]int{true: 1} // sources with out set come last, because their server was already asked
		slices.SortStableFunc(all, func(a, b *party) int {
			doubt, unknown := cmp.Compare(min(a.doubt, 0), min(b.doubt, 0)), cmp.Compare(x.unknown(b), x.unknown(a))
			return cmp.Or(doubt, given[a.out]-given[b.out], unknown)
		})
	}
	for _, p := range all {
		more := x.unknown(p)
		if p.adopted || x.tried >= MostSingle || agreed && (x.own(p) || p.doubt != doubtAsked && x.extra+more > x.board.size) {
			continue
		}
		x.tried++
		p.adopted, p.out, p.asked, p.fails = true, false, more == 0, 0
		x.board.rest = &party{todo: x.rests(p)}
		return p
	}
	return nil
}

// rests returns the ranges that are requested from p if p is asked alone: where it is not known whether p has the bytes
// of the part file. If p is known to have all of them, rests returns the whole file, because bytes may have been
// damaged in transit.
func (x *Search) rests(p *party) byterange.Set {
	rest := byterange.NewSet(byterange.Range{End: x.board.size})
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

func (x *Search) unknown(p *party) int64 {
	rest := x.rests(p)
	return rest.Len()
}

// unanimous reports whether each byte was compared with the byte of another source and no byte differed.
func (x *Search) unanimous() bool {
	return x.board.compared > 0 && !slices.ContainsFunc(x.board.parties,
		func(p *party) bool { return p.todo.Count() > 0 || p.differs.Count() > 0 })
}

// exchange writes the bytes that may repair the file into the part file, and the replaced bytes into the overlay.
func (x *Search) exchange() error {
	set := x.board.good
	x.board.good = byterange.Set{}
	for _, hull := range hulls(set, mostSwaps) {
		for gap := range set.Gaps(hull) {
			for _, p := range x.board.parties {
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
	for _, p := range x.board.parties {
		had, has := both(p.agrees, set), both(p.differs, set)
		move(&p.agrees, &p.differs, had)
		move(&p.differs, &p.agrees, has)
		if p.from != nil {
			for r := range had.All() {
				p.from.Sent.Remove(r)
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

// save copies the bytes of the part file that are replaced for the first time to the overlay x.before.
func (x *Search) save(set byterange.Set) (err error) {
	fresh := set.Clone()
	for r := range x.saved.All() {
		fresh.Remove(r)
	}
	if x.before == nil {
		if err := x.mark(); err != nil {
			return err
		}
		if x.before, err = newOverlay(x.files, x.board.part); err != nil {
			return err
		}
	}
	if err := x.board.part.CheckRoom(fresh.Len()); err != nil {
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

// Replaced reports whether bytes of the part file are replaced.
func (x *Search) Replaced() bool { return x.saved.Count() > 0 }

// Restore writes the replaced bytes back into the part file, if the search did not find the right file. It ends the
// search.
func (x *Search) Restore() error {
	for _, p := range x.board.parties {
		if p.from != nil {
			*p.from.Sent = p.brought.Clone()
		}
	}
	set := x.saved
	x.saved = byterange.Set{}
	if err := x.before.swap(set); err != nil {
		return local(err)
	}
	return nil
}

// Refuted reports whether all bytes of the source at u were compared. If the digest is still wrong, that source has
// another file.
func (x *Search) Refuted(u *url.URL) bool {
	i := slices.IndexFunc(x.board.parties, func(p *party) bool { return p.from != nil && p.from.URL.String() == u.String() })
	return i >= 0 && x.board.parties[i].adopted && x.board.parties[i].asked
}

// Wrong returns each source that has other bytes than the part file, with the first range where they differ. The place
// is nil for bytes of an earlier run.
func (x *Search) Wrong() iter.Seq2[*Place, byterange.Range] {
	return func(yield func(*Place, byterange.Range) bool) {
		for _, p := range x.board.parties {
			for r := range p.differs.All() {
				if !yield(p.from, r) {
					return
				}
				break
			}
		}
	}
}

// Close frees the overlays.
func (x *Search) Close() {
	for _, v := range []*overlay{x.over, x.before} {
		if v != nil {
			v.file.Close() // a file without a name is removed
		}
	}
}
