package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/internal/edges"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A Plan describes what a download would begin with.
type Plan struct {
	Request  Request        // the request with the name and the description of the file that would be used
	Path     string         // of the file; empty for a stream
	Hops     []metalink.Hop // the answers that identify the file; none if a document describes it
	File     metalink.File  // the description by servers and documents
	Claims   []verify.Claim // the digests that the file must have
	Pieces   string         // the document with the pieces that would be checked, masked; empty if none
	Signed   []Signed       // the signatures that were found
	Places   []Place        // in the order in which they would be used if nothing is measured
	Left     *Left          // the part file of an earlier run; nil if none
	Resumes  int64          // existing bytes that would be used, if they are unchanged
	Restarts string         // why the existing bytes would not be used
	Refused  error          // why the file would not be accepted, whatever its bytes are; nil if no reason is known
	// Done is the result if the file already exists or the server has nothing newer, and otherwise nil.
	Done *Result
}

// A Role is how a place became known.
type Role uint8

const (
	TheURL  Role = iota // the requested URL
	Named               // named by the server of the URL (RFC 6249) or by a document
	ByUser              // a mirror that the user named
	Reserve             // like ByUser, but may have another version: asked alone if the others fail
	Swarm               // peers
)

// A Place is a place from which the file may be fetched.
type Place struct {
	URL  *url.URL
	Role Role
	// Mirror is the description of a place that was Named.
	Mirror metalink.Mirror
	Near   bool          // in a country that the user prefers
	Rate   float64       // remembered speed of its server in bytes a second; 0: unknown
	RTT    time.Duration // remembered round trip time; 0: unknown
}

// makePlan implements Client.Plan.
func makePlan(ctx context.Context, c *Client, hc network, req Request) (Plan, error) {
	req.Peers = c.peersFor(req.Peers, req.URL)
	h := &planner{getter: newGetter(c, hc, req, nil)}
	run := func(g *getter) error {
		h.getter, g.planOnly = g, true
		return h.run(ctx)
	}
	_, err := h.named(run)
	if h.document && err == nil {
		if h.getter, err = h.followDocument(ctx); err == nil {
			_, err = h.named(run)
		}
	}
	h.plan.Request, h.plan.Path = *h.req, h.result.Path
	if err != nil {
		return h.plan, h.explain(ctx, err)
	}
	return h.plan, nil
}

// A planner is one call of Client.Plan.
type planner struct {
	*getter
	plan Plan
}

func (h *planner) run(ctx context.Context) error {
	if err := h.check(ctx); err != nil {
		return err
	}
	if h.req.follows() && IsDocument(h.req.URL.Path) {
		h.document = true
		return nil
	}
	h.req.observe(Started{URL: source.Mask(h.req.URL), Path: h.result.Path})
	reportDescribed(h.req)
	if err := h.foreseeSpan(ctx); err != nil {
		return err
	}
	if h.req.hasName() {
		if done, err := h.onDisk(ctx); done || err != nil || h.document {
			return err
		}
	}
	x := newInspection(h.c, h.http, *h.req)
	err := h.askFile(ctx, x)
	if h.document = x.document; err != nil || h.document {
		return err
	}
	if x.mirrorSize && h.plan.Resumes > 0 {
		x.file.Size = h.plan.Left.Size
	}
	x.readDescriptions(ctx)
	if err := x.lookUp(ctx, x.file); err != nil {
		return err
	}
	x.found = signaturesAt(ctx, h.http, signaturesFor(h.req, x.file, x.verdict.Looked), h.req, verify.Strong(x.claims))
	if err := x.lookInstead(ctx); err != nil {
		return err
	}
	h.plan.Hops, h.plan.File, h.plan.Claims = x.answer.Hops, x.file, x.claims
	if !x.verdict.Pieces.IsZero() {
		h.plan.Pieces, h.plan.File.Pieces = x.verdict.PiecesFrom, []verify.Pieces{x.verdict.Pieces}
	}
	h.plan.Signed = signersIn(x.found)
	h.findPlaces(ctx, x)
	if h.plan.Refused = x.foreseeProof(); h.plan.Refused != nil {
		return h.plan.Refused
	}
	return h.checkLimits()
}

// foreseeProof returns an error if the file would not be accepted, whatever its bytes are.
func (x *inspection) foreseeProof() error {
	if hint, lacks := foresee(&x.req, x.claims, x.answer, true); lacks != nil {
		return x.req.fail(NoEvidence, lacks, hint)
	}
	if !x.req.Trust.Anchors.Any() {
		return nil
	}
	_, err := x.signatureSet(source.Mask(x.req.URL))
	return err
}

// foreseeSpan is span for a plan. It fetches the pieces that the file shares with other files only if a file of the
// right size exists, because that file may be compared with the pieces.
func (h *planner) foreseeSpan(ctx context.Context) error {
	if !h.req.spans() {
		return nil
	}
	x := h.req.Described.sharing
	if info, err := h.http.files.Stat(h.result.Path); err == nil && info.Size == x.file.Size {
		return h.span(ctx)
	}
	list, err := edges.Whole(x.torrent, x.file, func(i int) ([]byte, error) {
		parts, _, err := x.torrent.Piece(i)
		if err == nil {
			err = edges.Feasible(parts)
		}
		if err != nil {
			return nil, err
		}
		n := x.torrent.PieceLength
		return make([]byte, min(n, x.torrent.Size-int64(i)*n)), nil
	})
	if err != nil {
		return h.req.fail(NoEvidence, err, HintDigest)
	}
	d := *h.req.Described
	d.Pieces = list
	h.req.Described, h.carried.pieces, h.carried.piecesFrom = &d, list, d.By
	return nil
}

// askFile asks the server what the file is. An FTP server states only its size.
func (h *planner) askFile(ctx context.Context, x *inspection) error {
	if err := x.ask(ctx); err != nil || x.document {
		return err
	}
	if !address.SchemeOf(h.req.URL).NoDigests || h.req.described() {
		return nil
	}
	a, err := look(ctx, h.http, h.req, condition{})
	x.answer, x.file.Size = a, a.Size
	return err
}

// onDisk examines what exists: the file itself, and what an earlier run left.
func (h *planner) onDisk(ctx context.Context) (done bool, err error) {
	if h.req.Store != nil {
		return h.alreadyThere(ctx)
	}
	if info, err := h.http.files.Stat(cmp.Or(h.req.Dir, ".")); err != nil || !info.Mode.IsDir() {
		if h.req.MakeDir && err != nil { // the folder would be made
			return false, nil
		}
		return false, cmp.Or(err, error(local(errNoFolder)))
	}
	// The folders of a document's name would be made, too.
	if h.req.Described != nil && filepath.Dir(filepath.FromSlash(h.req.Name)) != "." {
		if _, err := h.http.files.Stat(filepath.Dir(h.result.Path)); err != nil {
			return false, nil
		}
	}
	if done, err := h.alreadyThere(ctx); done || err != nil {
		return done, err
	}
	if h.req.base != nil {
		h.plan.Resumes = h.req.base.useful.Len()
	}
	return false, h.leftover(ctx)
}

// alreadyThere examines the existing file.
func (h *planner) alreadyThere(ctx context.Context) (done bool, err error) {
	done, err = h.existing.done(ctx)
	if result := *h.result; done && err == nil && !h.document {
		h.plan.Done = &result
	}
	return done, err
}

// A Left describes the part file of an earlier run.
type Left struct {
	Path    string // of the part file
	Name    string // of the complete file
	URL     string // from which the bytes were fetched, masked
	Size    int64  // of the complete file; -1: unknown
	Have    byterange.Set
	Changed time.Time
	Require string // the proof that the earlier run demanded
	Due     bool   // the file is in place, and work on it remains (Request.Due)
}

var errNoFolder = errors.New("not a folder")

// leftover examines the part file of an earlier run.
func (h *planner) leftover(ctx context.Context) error {
	if h.req.IfExists.Refresh {
		if err := lookForPart(h.call); err != nil {
			return err
		}
	}
	l, ok, err := partfile.Look(h.http.files, h.req.Dir, h.req.Name)
	switch {
	case err != nil || !ok:
		return err
	case l.InUse:
		return &partfile.InUseError{Path: l.Path, PID: l.PID}
	}
	h.plan.Left = &Left{Path: l.Path, Name: l.Name, URL: l.Identity.URL, Size: -1, Have: l.Have, Changed: l.Changed,
		Require: l.Identity.Require, Due: l.Due}
	if l.Known {
		h.plan.Left.Size = l.Identity.Size
	}
	switch r := (&resumption{&h.partial, l.Identity, l.SealedBy(h.http.key)}); {
	case h.req.IfExists.Refresh:
		if _, err := (&refresh{resumption: r}).decide(ctx); err != nil || h.document {
			return err
		}
		h.plan.Resumes = l.Have.Len()
	case !l.Known || l.Have.Len() == 0:
		return nil
	case !continuable(h.req, r.prior):
		h.plan.Restarts = "nothing would show that the rest is from the same file as the received part"
	default:
		_, err := r.continues(ctx)
		switch {
		case h.document || undecided(ctx, err):
			return err
		case err != nil:
			h.plan.Restarts = err.Error()
		default:
			h.plan.Resumes = l.Have.Len()
		}
	}
	return nil
}

// followDocument returns the getter of the file that the document at the URL describes.
func (h *planner) followDocument(ctx context.Context) (*getter, error) {
	req, err := describedInPlace(ctx, h.http, &h.asked, (*Document).Request)
	if err != nil {
		return h.getter, err
	}
	return newGetter(h.c, h.http, req, nil), nil
}

// findPlaces lists the places in the order in which the scheduler would use them: the URL of the request, then the
// other places by remembered speed, and places of equal speed by preference (RFC 6249, section 3.1).
func (h *planner) findPlaces(ctx context.Context, x *inspection) {
	first := Place{URL: h.req.URL}
	if d := h.req.Described; d != nil {
		first = h.placeOf(d, h.req.URL)
	}
	h.addPlace(first)
	strong := verify.Strong(x.claims)
	if h.req.Described == nil && !h.req.NoMetalink && !x.file.NoDigest {
		mirrors, notes := h.req.allowed(x.file.Mirrors)
		for _, n := range notes {
			h.req.note("%s", n)
		}
		h.req.Near.sort(ctx, mirrors)
		for _, m := range mirrors {
			h.addPlace(Place{URL: m.URL, Role: Named, Mirror: m})
		}
	}
	for _, u := range h.req.Mirrors {
		p := Place{URL: u, Role: ByUser}
		if d := h.req.Described; d != nil {
			p = h.placeOf(d, u)
		} else if !strong {
			p.Role = Reserve
		}
		h.addPlace(p)
	}
	if h.req.shared() && !source.IsSwarm(h.req.URL) {
		h.addPlace(Place{URL: h.req.Described.sharing.url(), Role: Swarm})
	}
	slices.SortStableFunc(h.plan.Places[1:], func(a, b Place) int {
		if last := func(p Place) bool { return p.Role >= Reserve }; last(a) != last(b) {
			return cmp.Compare(a.Role, b.Role)
		}
		return cmp.Compare(b.Rate, a.Rate)
	})
}

// placeOf returns the place u of a file that d describes.
func (h *planner) placeOf(d *Described, u *url.URL) Place {
	for _, m := range d.Mirrors {
		if m.URL.String() == u.String() {
			return Place{URL: u, Role: Named, Mirror: m}
		}
	}
	if source.IsSwarm(u) {
		return Place{URL: u, Role: Swarm}
	}
	return Place{URL: u, Role: ByUser}
}

// addPlace adds p, unless the plan has p already or the request may not use p.
func (h *planner) addPlace(p Place) {
	known := func(o Place) bool { return o.URL.String() == p.URL.String() }
	if !h.req.usable(p.URL) || slices.ContainsFunc(h.plan.Places, known) {
		return
	}
	p.Near = p.Mirror.Geo != "" && slices.Contains(h.req.Near.Locations, p.Mirror.Geo)
	if p.Role != Swarm {
		speed := h.c.State.Speed(source.HostPort(p.URL))
		p.Rate, p.RTT = speed.Rate, speed.RTT
	}
	h.plan.Places = append(h.plan.Places, p)
}

// checkLimits returns an error if the file exceeds the limits of size or space.
func (h *planner) checkLimits() error {
	size := h.plan.File.Size
	switch {
	case h.c.MaxSize > 0 && size > h.c.MaxSize:
		err := fmt.Errorf("the file has %d bytes, and no more than %d are allowed", size, h.c.MaxSize)
		return h.req.fail(Limit, err, HintLimit)
	case !h.req.onDisk() || size < 0:
		return nil
	}
	return h.checkSpace(size)
}

// checkSpace returns an error if size bytes do not fit on the disk. It opens a nameless file to get the free space.
func (h *planner) checkSpace(size int64) error {
	f, err := h.http.files.OpenTemp(cmp.Or(h.req.Dir, "."))
	switch {
	case errors.Is(err, fs.ErrNotExist): // the folder would be made
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	free, err := f.Free()
	if need := size - h.plan.Resumes; err == nil && free >= 0 && need > free {
		return local(&partfile.SpaceError{Path: h.result.Path, Need: need, Free: free})
	}
	return nil
}
