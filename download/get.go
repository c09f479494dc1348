package download

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"braid/byterange"
	"braid/internal/edges"
	"braid/internal/partfile"
	"braid/metalink/metainfo"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

var whole = byterange.Range{Start: 0, End: byterange.Unbounded}

// get downloads a file. shared is nil except in a batch.
func get(ctx context.Context, c *Client, hc network, req Request, shared *mirrorTrees) (Result, error) {
	req.Peers = c.peersFor(req.Peers, req.URL)
	g, err := newGetter(c, hc, req, shared).getNamed(ctx)
	if g.document && err == nil {
		g, err = g.follow(ctx)
	}
	g.result.Elapsed = time.Since(g.began)
	lost := cmp.Or(g.partial.delivery.discard(), g.upload.end(false, nil))
	if err == nil && lost == nil {
		return *g.result, nil
	}
	e := g.explain(ctx, cmp.Or(err, lost))
	if err != nil && lost != nil {
		e.Err = errors.Join(e.Err, lost)
	}
	return *g.result, e
}

// mostNumbers limits how many names are tried for a file.
const mostNumbers = 10_000

// getNamed is like get, but uses the next free name if the request wants that; see named.
func (g *getter) getNamed(ctx context.Context) (*getter, error) {
	return g.named(func(g *getter) error { return g.get(ctx) })
}

// named calls do with g. If the name is taken and the request allows another name (IfExists.Rename), it calls do with a
// getter for the next name, and so on. It returns the last getter.
func (g *getter) named(do func(*getter) error) (*getter, error) {
	err := do(g)
	for n, name := 1, g.req.Name; n < mostNumbers && g.req.renames() && taken(err); n++ {
		if why, ok := errors.AsType[existsError](err); ok && g.req.IfExists.Continue {
			g.req.observe(Note{Text: why.Error() + "; the existing file is kept, and the new one gets another name", Plain: true})
		}
		req, began := g.asked, g.began
		req.Name, req.IfExists.Continue = numbered(name, n), false
		g = newGetter(g.c, g.http, req, g.trees)
		g.began = began
		err = do(g)
	}
	return g, err
}

// taken reports whether err means that the name exists or that another download uses it.
func taken(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, partfile.ErrTaken) || is[*partfile.InUseError](err)
}

// A call holds what the parts of one call of Get share: the request, the known facts about the file, and the result. Each
// part adds the state that only it changes.
type call struct {
	c        *Client
	http     network
	req      *Request // completed by the name and the description that were found
	carried  *carried
	result   *Result
	trees    *mirrorTrees // nil except in a batch
	recorded recorded     // of the existing file
	upload   *uploading   // nil without a Store
	planOnly bool         // nothing is created, written or stored
	document bool         // the URL leads to a document that describes the file
	theirs   bool         // a server gave the file a name other than that in the URL (Request.RemoteName)
}

// inTheWay returns the error of an existing file that is not replaced. why is the reason.
func (c *call) inTheWay(why string) error {
	hint := HintExists
	if c.req.IfExists.Overwrite {
		hint = HintNameIt
	}
	if c.req.Described.choseName() {
		why, hint = cmp.Or(why, "a document that a server sent chose this name"), HintNameIt
	}
	return &Error{Kind: Local, What: "file", Where: source.Escape(c.result.Path), Err: existsError{why}, Hint: hint}
}

// A getter is one call of Get: one session, or several if a session fails and another may succeed.
type getter struct {
	*call
	asked    Request // as the caller made it, without a name that was found
	began    time.Time
	existing existingFile
	partial  partial
	attempts attempts
}

func newGetter(c *Client, hc network, req Request, shared *mirrorTrees) *getter {
	req = req.own()
	if most := req.Limits.MaxSize; most > 0 && (c.MaxSize == 0 || most < c.MaxSize) {
		own := *c
		own.MaxSize = most
		c = &own
	}
	call := &call{c: c, http: hc, req: &req, carried: &carried{revision: newRevision(&req)}, result: &Result{}, trees: shared}
	call.carried.digests.add(aList, noted, hc.state.Opposed(req.URL))
	g := &getter{call: call, asked: req, began: time.Now(), existing: existingFile{call: call},
		partial: partial{call: call, delivery: delivery{to: req.Target}}}
	g.attempts = attempts{call: call, partial: &g.partial}
	return g
}

func (g *getter) get(ctx context.Context) error {
	if err := g.check(ctx); err != nil {
		return err
	}
	if g.req.follows() && IsDocument(g.req.URL.Path) {
		g.document = true
		return nil
	}
	g.req.observe(Started{URL: source.Mask(g.req.URL), Path: g.result.Path})
	reportDescribed(g.req)
	if err := g.span(ctx); err != nil {
		return err
	}
	if g.req.hasName() {
		if done, err := g.existing.done(ctx); done || err != nil {
			if g.result.AlreadyComplete && err == nil {
				seedFile(ctx, g.http, g.req, g.carried.sharing, g.result.Path)
			}
			return err
		}
	}
	if err := g.enterSwarm(ctx); err != nil {
		return err
	}
	if err := g.partial.open(ctx); err != nil || g.document {
		return err
	}
	if err := g.partial.beginFromBase(ctx); err != nil {
		return err
	}
	proof, err := g.sessions(ctx)
	g.partial.kept = 0
	if err != nil || g.result.NotModified || g.document {
		return errors.Join(err, g.partial.leave(err))
	}
	if standsIn := g.carried.origin != g.req.URL; (g.carried.copied || standsIn) && g.req.Described == nil { // those of a copy
		g.result.ETag, g.result.LastModified = "", time.Time{}
		if here := g.recorded.here; !standsIn && here != nil && g.req.keepsNewer() { // the server's file is not older
			g.result.LastModified = here.LastModified
		}
	}
	g.keepPin(proof)
	g.existing.keep(proof, g.result.Host)
	seedFile(ctx, g.http, g.req, g.carried.sharing, g.result.Path)
	return nil
}

// span fetches the bytes of other files in the pieces at both ends of the file, so that all pieces can be checked.
// Without these bytes, the download fails.
func (g *getter) span(ctx context.Context) error {
	if !g.req.spans() {
		return nil
	}
	x := g.req.Described.sharing
	shared := x.edges(g.http, g.req)
	list, err := edges.Whole(x.torrent, x.file, func(i int) ([]byte, error) { return shared.Piece(ctx, i) })
	if err == nil {
		d := *g.req.Described
		d.Pieces = list
		g.req.Described, g.carried.pieces, g.carried.piecesFrom = &d, list, d.By
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	kind := kindOf(err)
	if errors.Is(err, metainfo.ErrUnnamed) || errors.Is(err, edges.ErrLarge) {
		kind = NoEvidence
	}
	return g.req.fail(kind, err, HintDigest)
}

// check validates the request, finds the name and makes the folders.
func (g *getter) check(ctx context.Context) error {
	if err := cmp.Or(g.c.checkNumbers(g.req, "download"), g.req.checkURL(), g.req.readable()); err != nil {
		return err
	}
	if g.req.Trust.Require == RequireSignature && !g.req.Trust.Anchors.Any() {
		return g.req.fail(NoEvidence, errNoAnchor, HintSigners)
	}
	g.carried.origin = g.req.URL
	if err := g.findName(ctx); err != nil {
		return err
	}
	path, err := g.req.Path()
	if err != nil {
		kind := Usage
		if ownName(err) {
			kind = Local
		}
		return g.req.fail(kind, err, HintName)
	}
	if err := partfile.CheckName(filepath.Base(path)); err != nil && path != "" {
		return &Error{Kind: Local, What: "name", Where: source.Escape(path), Err: err, Hint: HintShorterName}
	}
	if g.req.CheckPath != nil && path != "" {
		if err := g.req.CheckPath(path); err != nil {
			return err
		}
	}
	if g.result.Path = path; g.req.Name == "" && path != "" {
		g.req.Name = filepath.Base(path)
	}
	if g.req.Store != nil {
		g.upload = &uploading{to: g.req.Store.Upload(g.req.Name), size: -1, moved: make(chan struct{})}
	}
	if (g.req.provenByPieces() || g.req.spans()) && g.req.Trust.Require == RequireDigest {
		return g.req.fail(NoEvidence, errOnlyPieces, HintTorrentDigest)
	}
	if g.req.described() && g.req.Trust.needsSignature() && len(g.req.Trust.Signatures) == 0 {
		return g.req.fail(NoEvidence, errNoSignature, HintSignature)
	}
	return g.makeFolders()
}

// sessions runs sessions until a session succeeds and its file is in place, or nothing is left to try.
func (g *getter) sessions(ctx context.Context) (verify.Proof, error) {
	defer g.carried.damage.forget()
	for {
		s := g.session(ctx)
		proof, err := s.run()
		if err == nil {
			g.carried.damage.blame(s)
		}
		g.collectResult(s)
		if err == nil && !g.result.NotModified {
			g.result.Proof = proof
			if date := s.sources.oldest(); g.req.described() && !date.IsZero() {
				g.result.LastModified = date
			}
			if err = g.commit(ctx, proof); err != nil {
				s.stop(err)
			}
		}
		g.document = s.end.how == gotDocument || s.end.how == fileChanged && g.attempts.replaced(ctx, s)
		if g.document || s.end.how == ongoing {
			return proof, nil
		}
		if err := g.attempts.again(ctx, s); err != nil {
			if lost := g.carried.damage.restore(g.carried.known); lost != nil {
				err = errors.Join(err, lost)
			}
			return proof, err
		}
	}
}

// collectResult adds a session's counts to the result, and records whether its part file can be resumed.
func (g *getter) collectResult(s *session) {
	g.result.Sources = s.sources.report()
	g.result.Fetched += s.fetches.stats.arrived
	g.result.Duplicate += s.fetches.stats.twice()
	g.result.Size = max(s.part.Front(), s.facts.known.size)
	g.result.Looked = g.carried.looking.finding()
	g.partial.judge(s)
}

// session returns the next session.
func (g *getter) session(ctx context.Context) *session {
	s := newSession(ctx, g.call, g.partial.part)
	// If a previous session ended before the signatures were fetched, they are fetched again.
	g.carried.signed.asked = g.carried.signed.all != nil || len(g.carried.signed.done) > 0
	g.carried.looking.resume()
	if s.facts.begun = g.carried.goesOn; s.facts.begun {
		s.here = s.part.Have()
	}
	if s.req.described() && s.facts.known.size >= 0 {
		s.facts.begun = true
	}
	s.sched = scheduler.New(g.c.config(s))
	return s
}

// commit puts the file in place under its final name, if the proof is sufficient.
func (g *getter) commit(ctx context.Context, proof verify.Proof) error {
	g.result.Size = proof.Size()
	switch r := g.req.Trust.Require; {
	case r.met(proof):
	case r == RequireSignature:
		return noSignature(g.req, source.Mask(g.req.URL), g.carried.signed.all, g.carried.looking.finding())
	default:
		return g.req.fail(NoEvidence, g.carried.looking.lacks(errNoDigest), HintGiveDigest)
	}
	// If another program has changed the existing file, edited discards its recorded version. Ask stepsDown again.
	if g.recorded.stepsDown(g.req, proof) && (!g.existing.edited(ctx) || g.recorded.stepsDown(g.req, proof)) {
		return g.req.fail(NoEvidence, errLessProven, HintLessProof)
	}
	if err := g.checkPinned(proof); err != nil {
		return err
	}
	return g.partial.commit(ctx, proof)
}

// explain returns err as the error for the caller, with the kept bytes and the next step.
func (g *getter) explain(ctx context.Context, err error) *Error {
	e := *wrap(err, "download", g.req)
	none, _ := errors.AsType[*NoSourceError](err)
	ended := ctx.Err() != nil
	switch {
	case ended && errors.Is(err, context.Cause(ctx)):
		e.Kind = Interrupted
	case ended && (errors.Is(err, ctx.Err()) || none != nil && len(none.Errs) == 0): // canceled, or no source was asked
		e.Kind, e.Err = Interrupted, context.Cause(ctx)
	}
	if e.Hint == HintNoLookup && len(g.req.Published.Claims) > 0 {
		e.Hint = hintOtherFile
	}
	e.Hint = cmp.Or(e.Hint, looseHint(g.result.Sources), g.partial.heardHint(err))
	if g.partial.explain(&e, err); e.Kept == 0 {
		e.There = g.existing.path
	}
	var conflict *verify.ConflictError
	if none != nil && g.req.Described != nil && errors.As(err, &conflict) {
		e.Kind, e.Hint = Protocol, Hint("the servers have a different file from the one that "+g.req.Described.By+" describes")
	}
	return &e
}

// follow downloads the file that the document at the URL of the request describes, with another getter. What the user
// demands, and the name, apply to that file.
func (g *getter) follow(ctx context.Context) (*getter, error) {
	req, err := describedInPlace(ctx, g.http, &g.asked, (*Document).Request)
	if err != nil {
		return g, err
	}
	if err := g.checkInPlace(&req); err != nil {
		return g, err
	}
	next := newGetter(g.c, g.http, req, g.trees)
	next.began = g.began
	if req.Name == g.req.Name {
		next.recorded.before = cmp.Or(g.recorded.here, g.recorded.before)
	}
	next.carried.fetches, next.result.Fetched, next.result.Duplicate = g.carried.fetches, g.result.Fetched, g.result.Duplicate
	return next.getNamed(ctx)
}
