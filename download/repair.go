package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"braid/byterange"
	"braid/download/state"
	"braid/internal/recheck"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// maxRepairs limits how often pieces are used to locate the damage of a complete file.
const maxRepairs = 3

// repair prepares another session for a complete file with a wrong digest. That session keeps the right
// bytes. Pieces show which ones are wrong. Without pieces, the file is compared with other sources.
func (g *getter) repair(ctx context.Context, s *session) (bool, error) {
	wrong := wrongOf(s.err)
	if s.how == otherFile && len(g.req.Published.Claims) == 0 { // it ties no mirror
		return false, nil
	}
	if s.hashing.byPieces() { // all of them match
		g.carried.piecesRejected = true
		g.note("the pieces of %s contradict the digest of the whole file: no longer used", s.hashing.pieces.from)
	}
	found, err := true, error(nil)
	if g.carried.repairs < maxRepairs && g.pieces(ctx, s) {
		g.carried.repairs++
		g.forgetRecheck()
		g.note("%v; the pieces in %s show where it is damaged", wrong, g.carried.piecesFrom)
	} else {
		found, err = g.recheck(ctx, s, wrong)
	}
	if found {
		g.goOn(s)
	}
	return found, err
}

// recheck compares the file with other sources until bytes that may be wrong were exchanged.
func (g *getter) recheck(ctx context.Context, s *session, wrong *verify.MismatchError) (found bool, err error) {
	x := g.carried.recheck
	if x == nil {
		if other, err := g.askPlaces(ctx, s); other || err != nil || s.stated >= 0 { // another size is tried first
			return other, err
		}
		g.note("some bytes are wrong: comparing sources to find them")
		if x, err = newComparison(g, s); err != nil {
			return false, err
		}
		g.carried.recheck = x
	}
	x.Rebind(x.places(s.sources.all))
	tell := func() { g.observe(Comparing{Done: x.Done(), Size: x.Size()}) }
	tell()
	found, err = x.Round(ctx, tell)
	err = onDisk(err)
	g.result.Compared = x.Done()
	if fresh := without(x.heard, s.claims); len(fresh) > 0 && verify.Agree(s.claims, fresh) == nil {
		s.digests(fresh)
		err = cmp.Or(err, g.part.Begin(s.identity()))
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return found, err
}

// askPlaces asks the server for places to compare with, if it was not asked in this run because the whole file was
// here. It reports true if the server stated another digest, to which that of an earlier run yields: then nothing is
// compared. If the server gives another size for the same digest, askPlaces sets known.stated.
func (g *getter) askPlaces(ctx context.Context, s *session) (other bool, err error) {
	o := s.sources.first()
	if s.originAnswered || o == nil || s.roleOf(o) != asOrigin {
		if s.newMirrors || namesByHead(ctx, g, s) { // it was asked for a signature or before a lookup
			s.addMirrors()
		}
		return false, nil
	}
	x, err := g.req.inquire(ctx, g.http, glance, condition{})
	if err == nil && !verify.Strong(x.file.Claims) && differs(x.answer.Size, s.size) { // HEAD may have its digest
		if y, failed := g.req.inquire(ctx, g.http, look, condition{}); failed == nil && verify.Strong(y.file.Claims) {
			x = y
		}
	}
	if err != nil {
		x, err = g.req.onTheWay(x, err)
	}
	switch claims := x.file.Claims; {
	case err != nil || x.nature != theFile:
	case verify.Agree(s.req.Trust.Claims, claims) != nil: // the bytes here are not given up for that file
		return false, s.compareWithUser(o, claims)
	case verify.Agree(s.recalled, claims) != nil && verify.Agree(s.firm(), claims) == nil:
		s.hear(x.statement())
		return true, nil
	case verify.Agree(s.firm(), claims) == nil:
		st, same := x.statement(), verify.Strong(common(s.firm(), claims))
		s.file = x.file
		s.addMirrors()
		s.hear(st)
		if same && s.carried.fetches == 0 && st.sizeBy == byServer && differs(st.size, s.size) &&
			!slices.Contains(s.tried, st.size) && s.mayAnnounce(x.answer.Hops, claims) {
			s.stated = st.size // what an earlier run left may be the beginning, or have too much at its end
		}
		return false, g.part.Begin(s.identity())
	case s.mayAnnounce(x.answer.Hops, claims):
		return false, &otherNowError{errOtherNow, claims}
	}
	return false, nil
}

// namesByHead reports whether the answer to HEAD names mirrors beside a known digest, if those to GET name some without
// one, which do not count (RFC 6249, section 6).
func namesByHead(ctx context.Context, g *getter, s *session) bool {
	o := s.sources.first()
	if !s.file.NoDigest || g.req.NoMetalink || o == nil || s.roleOf(o) != asOrigin {
		return false
	}
	x, err := g.req.inquire(ctx, g.http, look, condition{})
	if err != nil || x.nature != theFile || !verify.Strong(common(s.firm(), x.file.Claims)) {
		return false
	}
	s.file.Mirrors = x.file.Mirrors
	return len(x.file.Mirrors) > 0
}

// mixes records in the journal that only a digest ties the bytes together.
func (g *getter) mixes(s *session) error {
	if g.carried.mixed || g.carried.tag.etag == "" || !g.req.onDisk() {
		return nil
	}
	g.carried.mixed, g.carried.recheck.mixed = true, true
	return g.part.Begin(s.identity())
}

// restore puts back the replaced bytes if their replacements did not lead to the right file.
func (g *getter) restore() error {
	x := g.carried.recheck
	if x == nil || !x.Replaced() {
		return nil
	}
	if x.mixed {
		g.carried.mixed = false
	}
	return onDisk(x.Restore())
}

// blame bans the sources that sent wrong bytes, now that it is proven which bytes are right.
func (g *getter) blame(s *session) {
	x := g.carried.recheck
	if x == nil {
		return
	}
	for p, r := range x.Wrong() {
		if p == nil {
			g.note("wrong bytes: those from %d to %d, of an earlier run", r.Start, r.End-1)
			continue
		}
		g.ban(s, p, r)
	}
	g.forgetRecheck()
}

// forgetRecheck drops the comparison, because the bytes have changed.
func (g *getter) forgetRecheck() {
	g.carried.recheck.close()
	g.carried.recheck = nil
}

// ban excludes a source that has wrong bytes at r.
func (g *getter) ban(s *session, p *recheck.Place, r byterange.Range) {
	err := &source.Error{URL: p.Masked, Host: p.Host, Fault: source.FaultMismatch,
		Err: fmt.Errorf("wrong bytes: those from %d to %d are not those of the file", r.Start, r.End-1)}
	g.c.State.Learn(p.Host, state.Speed{}) // not remembered as fast
	g.observe(SourceDown{ID: p.ID, URL: p.Masked, Host: p.Host, Err: err, Banned: true})
	for _, o := range s.sources.all {
		if o.url.String() == p.URL.String() {
			o.banned, o.err = true, err
		}
	}
}

// wrongOf returns the mismatch in the error of a session, or nil if the error is another one.
func wrongOf(err error) *verify.MismatchError {
	wrong, _ := errors.AsType[*verify.MismatchError](err)
	return wrong
}

// goOn lets the next session resume from the existing bytes.
func (g *getter) goOn(s *session) {
	g.carried.goesOn = true
	if s.result.Host != "" {
		g.carried.answeredBy, g.carried.answered = s.result.Host, s.result.LastModified
	}
	if g.carried.past == nil {
		g.carried.past = map[string]*past{}
	}
	maps.Copy(g.carried.past, s.sources.past())
}

// pieces fetches the described documents that were not fetched yet, until one has pieces. It reports whether
// one has.
func (g *getter) pieces(ctx context.Context, s *session) bool {
	for !g.carried.piecesRejected {
		t, ok := g.carried.readNext(ctx, g.http, &g.req, s.file, s.claims, s.trusted())
		if !ok {
			return false
		}
		s.file = t.file
		if p := t.file.BestPieces(); !p.IsZero() && p.Size() == s.size {
			g.carried.pieces, g.carried.piecesFrom = p, t.from
			return true
		}
	}
	return false
}

// rejectPieces lets the next session do without pieces. If every source failed a piece, the pieces are wrong,
// and the digest of the whole file decides. Without a strong digest the pieces are the only evidence, which
// is never dropped.
func (g *getter) rejectPieces(s *session) bool {
	if s.hashing.pieces.banned == 0 || g.carried.piecesRejected || s.req.inOrder() || !verify.Strong(s.claims) {
		return false
	}
	g.carried.piecesRejected = true
	g.note("no source has bytes that match the pieces in %s: those pieces are no longer used", s.hashing.pieces.from)
	s.sources.pardon()
	g.goOn(s)
	return true
}

func (g *getter) note(format string, args ...any) { g.req.note(format, args...) }

// enterSwarm makes a swarm the origin, if the request has no place except a torrent that a document names.
func (g *getter) enterSwarm(ctx context.Context) error {
	d := g.req.Described
	if d == nil || !d.remote {
		return nil
	}
	if !g.req.Peers.asked() {
		return g.fail(Network, errors.New(g.req.Peers.why()), "")
	}
	var last error
	for _, doc := range d.Torrents {
		x, err := g.fetchSwarm(ctx, doc, d.Size)
		if err == nil {
			g.share(x, doc)
			g.req.URL, g.carried.origin, g.req.Described.remote = x.url(), x.url(), false
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last = fail(kindOf(err), "read", source.Mask(doc.URL), err, "")
	}
	return last
}

// fetchSwarm fetches a torrent, to ask its peers for the file.
func (g *getter) fetchSwarm(ctx context.Context, doc metalink.MetaURL, size int64) (*sharing, error) {
	o := g.req.optionsFor(doc.URL, g.req.namedBy(doc.URL, doc.By), true)
	return fetchSharing(ctx, g.http, doc, o, size)
}

// share lets the next sessions use a swarm.
func (g *getter) share(x *sharing, doc metalink.MetaURL) {
	g.carried.sharing = x
	if g.carried.pieces.IsZero() && !g.carried.piecesRejected {
		g.carried.pieces, g.carried.piecesFrom = x.file.BestPieces(), source.Mask(doc.URL)
	}
	if d := g.req.Described; d != nil {
		own := *d
		own.sharing, own.Size = x, x.file.Size
		g.req.Described = &own
	}
}

// rescue lets the next session use peers, if no server is left and a torrent of the file is known that was
// not fetched yet.
func (g *getter) rescue(ctx context.Context, s *session) bool {
	if g.carried.sharing != nil || !g.req.Peers.asked() || g.carried.single || !verify.Strong(s.claims) || ctx.Err() != nil ||
		!s.begun && !g.req.described() || g.req.Stream != nil && (s.streamed() || !g.req.described()) {
		return false
	}
	for _, doc := range s.file.Documents {
		if !isTorrent(doc) || !isWeb(doc.URL) {
			continue
		}
		g.carried.torrentAsked = true
		x, err := g.fetchSwarm(ctx, doc, s.size)
		if err != nil {
			g.note("%s is not used for peers: %v", source.Mask(doc.URL), err)
			continue
		}
		g.note("no server is left: asking the peers of %s", source.Mask(doc.URL))
		g.share(x, doc)
		if s.begun && g.req.Stream == nil {
			g.goOn(s)
		}
		return true
	}
	return false
}

// beginFromBase begins the part file with the useful bytes of the base file. Bytes of an earlier run stay.
func (g *getter) beginFromBase(ctx context.Context) error {
	s := g.req.base
	if s == nil || s.useful.Count() == 0 {
		return nil
	}
	id := s.identity
	if prior, ok := g.part.Prior(); ok && g.carried.goesOn {
		id = prior
	}
	err := g.part.Begin(id)
	if err == nil {
		err = g.part.CheckSpace(id.Size)
	}
	if err == nil {
		err = g.copyBase(ctx, s)
	}
	have := g.part.Have()
	if err != nil {
		g.kept = have.Len()
		return errors.Join(local(err), g.part.Close())
	}
	if !g.carried.goesOn {
		g.recall(id)
	}
	g.carried.known.file, g.result.Resumed = s.file, have.Len()
	if g.carried.asked = s.asked; !g.req.provenByPieces() { // else they are the document's
		g.carried.pieces, g.carried.piecesFrom = s.pieces, s.from
	}
	g.observe(Resumed{Bytes: have.Len(), Have: have})
	return nil
}

// copyBase copies the useful bytes that are not yet in the part file. They are verified like all others,
// because the base file may have changed.
func (g *getter) copyBase(ctx context.Context, s *baseFile) error {
	f, err := openRegular(g.http.files, s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	have := g.part.Have()
	r := newReading(g.observe, s.identity.Size, have.Len())
	for useful := range s.useful.All() {
		for gap := range have.Gaps(useful) {
			err := r.copy(ctx, io.NewOffsetWriter(g.part, gap.Start), io.NewSectionReader(f, gap.Start, gap.Len()))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
