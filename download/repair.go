package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"braid/byterange"
	"braid/download/state"
	"braid/internal/recheck"
	"braid/source"
	"braid/verify"
)

// maxRepairs limits how often pieces are used to locate the damage of a complete file.
const maxRepairs = 3

// A damage finds and replaces the wrong bytes in a complete file. It locates them with the pieces of a document, or
// else by comparing sources. If the replaced bytes do not lead to the right file, it restores the earlier bytes.
type damage struct {
	repairs int         // how often pieces located wrong bytes
	recheck *comparison // the search without pieces; nil: none
}

// repair prepares a session after s, which left a complete file with a wrong digest. Pieces show which bytes that session
// must fetch again. Without pieces, the file is compared with other sources. repair reports false if nothing was found.
func (d *damage) repair(ctx context.Context, s *session) (bool, error) {
	wrong := wrongOf(s.end.err)
	if s.end.how == otherFile && len(s.req.Published.Claims) == 0 { // nothing shows which mirrors have the file
		return false, nil
	}
	if s.proving.hashing.byPieces() { // all pieces match
		s.carried.piecesRejected = true
		s.req.note("the pieces of %s contradict the digest of the whole file: no longer used", s.proving.hashing.pieces.from)
	}
	found, err := true, error(nil)
	if d.repairs < maxRepairs && nextPieces(ctx, s) {
		d.repairs++
		d.forget()
		s.req.note("%v; the pieces in %s show where it is damaged", wrong, s.carried.piecesFrom)
	} else {
		found, err = d.compare(ctx, s, wrong)
	}
	switch {
	case found:
		goOn(s)
	case err == nil && s.end.how == otherFile: // the bytes stay, for a later run without this digest
		err = cmp.Or(d.restore(s.carried.known), s.part.Begin(s.facts.identity()))
	}
	return found, err
}

// compare compares the file with other sources until it has exchanged bytes that may be wrong. found reports whether it has.
func (d *damage) compare(ctx context.Context, s *session, wrong *verify.MismatchError) (found bool, err error) {
	k := s.facts.known
	x := d.recheck
	if x == nil {
		if other, err := askPlaces(ctx, s); other || err != nil || k.stated >= 0 { // another size is tried first
			return other, err
		}
		s.req.note("some bytes are wrong: comparing sources to find them")
		if x, err = newComparison(s); err != nil {
			return false, err
		}
		d.recheck = x
	}
	x.Rebind(x.places(s.sources.all))
	tell := func() { s.req.observe(Comparing{Done: x.Done(), Size: x.Size()}) }
	tell()
	found, err = x.Round(ctx, tell)
	err = onDisk(err)
	s.result.Compared = x.Done()
	if found && k.size < 0 { // the sources were compared as if this were the size
		k.learnSize(x.Size(), byOther, nil)
	}
	known := k.digests.counting()
	if fresh := without(x.heard, known); len(fresh) > 0 && verify.Agree(known, fresh) == nil {
		k.addDigests(fresh)
		err = cmp.Or(err, s.part.Begin(s.facts.identity()))
	}
	return found, cmp.Or(err, context.Cause(ctx))
}

// askPlaces asks the server for mirrors to compare with, if the server was not asked in this run because the whole file
// was there, or if its answer to HEAD may name mirrors. It reports true if the server now contradicts a yielding digest
// of an earlier run: then nothing is compared. If the server states another size for the same digest, askPlaces sets
// known.stated.
func askPlaces(ctx context.Context, s *session) (other bool, err error) {
	k := s.facts.known
	o := s.sources.first()
	asked := o != nil && s.roleOf(o) == asOrigin
	var x inquiry
	switch {
	case asked && !s.facts.originAnswered:
		x, err = inquire(ctx, s.http, s.req, glance, condition{}, s.carried.spoken())
		if err == nil && !verify.Strong(x.file.Claims) && differs(x.answer.Size, k.size) { // the answer to HEAD may have a digest
			y, failed := inquire(ctx, s.http, s.req, look, condition{}, s.carried.spoken())
			if failed == nil && verify.Strong(y.file.Claims) {
				x = y
			}
		}
		if err == nil && x.mirror == x.answers && s.result.LastModified.IsZero() {
			s.result.LastModified, s.result.Host = x.answer.LastModified, x.answer.Host
		}
		if err != nil {
			x, err = onTheWay(s.req, x, err)
		}
	case s.choice.due: // the server was asked for a signature or a digest
		s.choice.addMirrors()
		return false, nil
	case asked && k.file.NoDigest && !s.req.NoMetalink: // mirrors without a digest do not count (RFC 6249, section 6)
		x, err = inquire(ctx, s.http, s.req, look, condition{}, s.carried.spoken())
		if err != nil || !verify.Strong(x.file.Claims) {
			return false, nil
		}
	default:
		return false, nil
	}
	switch claims := x.file.Claims; {
	case err != nil || x.nature != theFile:
	case verify.Agree(s.req.Trust.Claims, claims) != nil: // the existing bytes are not given up for the server's file
		return false, s.answers.compareWithUser(o, claims)
	case verify.Agree(k.digests.used(yields), claims) != nil && verify.Agree(k.digests.firm(), claims) == nil:
		k.hear(x.statement())
		return true, nil
	case verify.Agree(k.digests.firm(), claims) == nil:
		st, same := x.statement(), verify.Strong(common(k.digests.firm(), claims))
		if len(x.file.Mirrors)+len(x.file.Claims) > 0 { // otherwise another answer may have named mirrors
			k.file = x.file
		}
		s.choice.addMirrors()
		k.hear(st)
		if same && s.carried.fetches == 0 && st.sizeBy == byServer && differs(st.size, k.size) &&
			!slices.Contains(k.tried, st.size) && s.facts.mayAnnounce(x.answer.Hops, claims) {
			k.stated = st.size // an earlier run may have left only a part of the file, or too many bytes at the end
		}
		return false, s.part.Begin(s.facts.identity())
	case s.facts.mayAnnounce(x.answer.Hops, claims):
		return false, &otherNowError{errOtherNow, claims, x.answer.Host}
	}
	return false, nil
}

// restore restores the bytes that the comparison has replaced, because the new bytes did not lead to the right file.
func (d *damage) restore(k *known) error {
	x := d.recheck
	if x == nil || !x.Replaced() {
		return nil
	}
	if x.mixed && k.tag == x.tag { // the restored bytes did not come with a later tag
		k.mixed = false
	}
	return onDisk(x.Restore())
}

// blame bans the sources of s that sent wrong bytes, after the proof has shown which bytes are right.
func (d *damage) blame(s *session) {
	x := d.recheck
	if x == nil {
		return
	}
	for p, r := range x.Wrong() {
		if p == nil {
			s.req.note("wrong bytes from %d to %d, received in an earlier run", r.Start, r.End-1)
			continue
		}
		ban(s, p, r)
	}
	d.forget()
}

// ban excludes a source that has wrong bytes at r.
func ban(s *session, p *recheck.Place, r byterange.Range) {
	err := &source.Error{URL: p.Masked, Host: p.Host, Fault: source.FaultMismatch,
		Err: fmt.Errorf("wrong bytes from %d to %d", r.Start, r.End-1)}
	s.c.State.Learn(p.Host, state.Speed{}) // its speed is not recommended to later downloads
	s.req.observe(SourceDown{ID: p.ID, URL: p.Masked, Host: p.Host, Err: err, Banned: true})
	for _, o := range s.sources.all {
		if o.url.String() == p.URL.String() {
			o.banned, o.err = true, err
		}
	}
}

// wrongOf returns the mismatch in err, or nil.
func wrongOf(err error) *verify.MismatchError {
	wrong, _ := errors.AsType[*verify.MismatchError](err)
	return wrong
}

// goOn makes the session after s resume from the existing bytes.
func goOn(s *session) {
	s.carried.goesOn = true
	if s.result.Host != "" {
		s.carried.answeredBy, s.carried.answered = s.result.Host, s.result.LastModified
	}
	if s.carried.past == nil {
		s.carried.past = map[string]*past{}
	}
	maps.Copy(s.carried.past, s.sources.past())
}

// nextPieces fetches documents that the server names and that were not fetched yet, until one has pieces for a file of
// this size. It reports whether a document has them.
func nextPieces(ctx context.Context, s *session) bool {
	k := s.facts.known
	for !s.carried.piecesRejected {
		t, ok := s.carried.readNext(ctx, s.http, s.req, k.file, k.digests.counting(), s.facts.trusted())
		if !ok {
			return false
		}
		k.file = t.file
		if p := t.file.BestPieces(); !p.IsZero() && p.Size() == k.size {
			s.carried.pieces, s.carried.piecesFrom = p, t.from
			return true
		}
	}
	return false
}

// rejectPieces makes the session after s ignore the digests of pieces, if sources were banned because of them: the
// pieces may be wrong, and the digest of the whole file decides. Without a strong digest, the pieces are the only
// evidence and are not ignored. rejectPieces reports whether the pieces are ignored.
func rejectPieces(s *session) bool {
	if s.proving.hashing.pieces.banned == 0 || s.carried.piecesRejected || s.req.inOrder() || !s.facts.known.strong() {
		return false
	}
	s.carried.piecesRejected = true
	s.req.note("no source has bytes that match the pieces in %s: those pieces are no longer used", s.proving.hashing.pieces.from)
	for _, o := range s.sources.all {
		o.banned, o.err = false, nil
	}
	goOn(s)
	return true
}

// doubtful returns three results. The first is the bytes of sources that may have sent wrong bytes. parties is the
// number of sources that sent bytes. before reports whether some bytes are from an earlier run.
func (d *damage) doubtful(s *session) (doubtful byterange.Set, parties int, before bool) {
	earlier := s.part.Have()
	for _, o := range s.sources.all {
		if o.brought.Len() == 0 {
			continue
		}
		parties++
		liar := !o.first
		if x := d.recheck; x != nil {
			liar = x.Refuted(o.url)
		}
		for r := range o.brought.All() {
			earlier.Remove(r)
			if liar {
				doubtful.Add(r)
			}
		}
	}
	return doubtful, parties, earlier.Len() > 0
}

// forget ends the comparison, because the bytes have changed.
func (d *damage) forget() {
	d.recheck.close()
	d.recheck = nil
}
