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
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A Plan is what a download would begin with.
type Plan struct {
	Request  Request        // as it would be carried out: with its name and the description of a document
	Path     string         // where the file would be; empty for a stream
	Hops     []metalink.Hop // the answers to the question what the file is; none if a document describes it
	File     metalink.File  // by servers and documents
	Claims   []verify.Claim // the digests that it would have to have
	Pieces   string         // the document whose pieces would be compared as they come, masked; empty if there is none
	Signed   []Signed       // the signatures that there are
	Places   []Place        // in the order in which they would be opened, as long as nothing is measured
	Left     *Left          // what an earlier run has left; nil if that is nothing
	Resumes  int64          // bytes of it that would be used, if they are as they were written
	Restarts string         // why they would not be
	// Done is what would be the result if the file is there already, or there is nothing newer; else nil.
	Done *Result
}

// A Role is how a place came to be one.
type Role uint8

// The roles.
const (
	TheURL  Role = iota // that was asked for
	Named               // by its server (RFC 6249), or by a document
	ByUser              // a mirror that the user named
	Reserve             // the same, but nothing ties it to the server's version: it may serve alone if the others fail
	Swarm               // peers
)

// A Place is where a file can be had.
type Place struct {
	URL  *url.URL
	Role Role
	// Mirror is how a place was described that was Named.
	Mirror metalink.Mirror
	Near   bool          // the user wants those of its country first
	Rate   float64       // bytes a second that its server once brought; 0: not known
	RTT    time.Duration // the same for the round trip
}

// makePlan plans what get would do.
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
	h.plan.Request, h.plan.Path = h.req, h.result.Path
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
	h.observe(Started{URL: source.Mask(h.req.URL), Path: h.result.Path})
	h.req.reportDescribed()
	if err := h.foreseeSpan(ctx); err != nil {
		return err
	}
	if h.req.hasName() {
		if done, err := h.onDisk(ctx); done || err != nil || h.document {
			return err
		}
	}
	x := newInspection(h.c, h.http, h.req)
	err := h.askFile(ctx, x)
	if h.document = x.document; err != nil || h.document {
		return err
	}
	if x.mirrorSize && h.plan.Resumes > 0 {
		x.file.Size = h.plan.Left.Size
	}
	x.readDescriptions(ctx)
	h.plan.Hops, h.plan.File, h.plan.Claims = x.answer.Hops, x.file, x.claims
	if !x.verdict.Pieces.IsZero() {
		h.plan.Pieces, h.plan.File.Pieces = x.verdict.PiecesFrom, []verify.Pieces{x.verdict.Pieces}
	}
	h.plan.Signed = h.req.readSignatures(ctx, h.http, signaturesFor(&h.req, x.file), verify.Strong(x.claims))
	h.findPlaces(ctx, x)
	readable := slices.ContainsFunc(h.plan.Signed, func(s Signed) bool { return s.Err == nil })
	if hint, lacks := foresee(&h.req, x.claims, x.answer, readable); lacks != nil {
		return h.fail(NoEvidence, lacks, hint)
	}
	return h.checkLimits()
}

// foreseeSpan is span for a plan, which fetches no pieces that a file shares with others: their bytes matter only where
// a file is there that may be the right one.
func (h *planner) foreseeSpan(ctx context.Context) error {
	if !h.req.spans() {
		return nil
	}
	x := h.req.Described.sharing
	if info, err := h.http.files.Stat(h.result.Path); err == nil && info.Size == x.file.Size {
		return h.span(ctx)
	}
	list, err := x.whole(func(i int) ([]byte, error) {
		parts, _, err := x.torrent.Piece(i)
		if err == nil {
			err = feasible(parts)
		}
		if err != nil {
			return nil, err
		}
		n := x.torrent.PieceLength
		return make([]byte, min(n, x.torrent.Size-int64(i)*n)), nil
	})
	if err != nil {
		return h.fail(NoEvidence, err, HintDigest)
	}
	d := *h.req.Described
	d.Pieces = list
	h.req.Described, h.carried.pieces, h.carried.piecesFrom = &d, list, d.By
	return nil
}

// askFile asks the server what the file is. An FTP server has its size only.
func (h *planner) askFile(ctx context.Context, x *inspection) error {
	if err := x.ask(ctx); err != nil || x.document {
		return err
	}
	if !address.SchemeOf(h.req.URL).NoDigests || h.req.described() {
		return nil
	}
	a, err := look(ctx, h.http, &h.req, condition{})
	x.answer, x.file.Size = a, a.Size
	return err
}

// onDisk looks at what is there: the file itself, and what an earlier run has left.
func (h *planner) onDisk(ctx context.Context) (done bool, err error) {
	if h.req.Store != nil {
		return h.alreadyThere(ctx)
	}
	if info, err := h.http.files.Stat(cmp.Or(h.req.Dir, ".")); err != nil || !info.Mode.IsDir() {
		if h.req.MakeDir && err != nil { // it would be made
			return false, nil
		}
		return false, cmp.Or(err, error(local(errNoFolder)))
	}
	if h.req.Described != nil && filepath.Dir(filepath.FromSlash(h.req.Name)) != "." { // so would those of a document's name
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

// alreadyThere looks at the file itself.
func (h *planner) alreadyThere(ctx context.Context) (done bool, err error) {
	if err := h.recallVersion(ctx); err != nil {
		return false, err
	}
	done, err = h.existing(ctx)
	if result := h.result; done && err == nil && !h.document {
		h.plan.Done = &result
	}
	return done, err
}

// A Left is what an earlier run has left of a file.
type Left struct {
	Path    string // of the part file
	Name    string // that the file will have
	URL     string // that it was fetched from, masked
	Size    int64  // of the whole file; -1: unknown
	Have    byterange.Set
	Changed time.Time
	Require string // what had to be proven
	Due     bool   // the file is in place, and something is still to be done with it (Request.Due)
}

var errNoFolder = errors.New("not a folder")

// leftover looks at what an earlier run has left.
func (h *planner) leftover(ctx context.Context) error {
	if h.req.Refresh {
		if err := lookForPart(h.getter); err != nil {
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
	switch prior := l.Identity; {
	case h.req.Refresh:
		r := refresh{getter: h.getter, prior: prior, sealed: l.SealedBy(h.http.key)}
		if _, err := r.decide(ctx); err != nil || h.document {
			return err
		}
		h.plan.Resumes = l.Have.Len()
	case !l.Known || l.Have.Len() == 0:
		return nil
	case !h.continuable(prior):
		h.plan.Restarts = "nothing would show that the rest belongs to it"
	default:
		_, err := h.continues(ctx, prior, l.SealedBy(h.http.key))
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

// followDocument is the download of the file that the document at the URL describes.
func (h *planner) followDocument(ctx context.Context) (*getter, error) {
	req, err := h.asked.describedInPlace(ctx, h.http, (*Document).Request)
	if err != nil {
		return h.getter, err
	}
	return newGetter(h.c, h.http, req, nil), nil
}

// findPlaces lists the places in the order in which the scheduler would open them: the first, then the fastest by
// remembered speed, then by preference (RFC 6249, section 3.1).
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
		h.req.sortByCountry(ctx, mirrors)
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

// placeOf is a place of a file that a document describes.
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

// addPlace adds a place, once.
func (h *planner) addPlace(p Place) {
	known := func(o Place) bool { return o.URL.String() == p.URL.String() }
	if !h.req.usable(p.URL) || slices.ContainsFunc(h.plan.Places, known) {
		return
	}
	p.Near = p.Mirror.Geo != "" && slices.Contains(h.req.Locations, p.Mirror.Geo)
	if p.Role != Swarm {
		speed := h.c.State.Speed(source.HostPort(p.URL))
		p.Rate, p.RTT = speed.Rate, speed.RTT
	}
	h.plan.Places = append(h.plan.Places, p)
}

// checkLimits is the error with which Get would end once it knew what is known now.
func (h *planner) checkLimits() error {
	size := h.plan.File.Size
	switch {
	case h.c.MaxSize > 0 && size > h.c.MaxSize:
		err := fmt.Errorf("the file has %d bytes, and no more than %d are allowed", size, h.c.MaxSize)
		return h.fail(Limit, err, HintLimit)
	case !h.req.onDisk() || size < 0:
		return nil
	}
	return h.checkSpace(size)
}

// checkSpace is an error if there is no room for the file. It asks the file system with a nameless file.
func (h *planner) checkSpace(size int64) error {
	f, err := h.http.files.OpenTemp(cmp.Or(h.req.Dir, "."))
	switch {
	case errors.Is(err, fs.ErrNotExist): // a folder that would be made
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
