package download

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"braid/address"
	"braid/internal/edges"
	"braid/internal/partfile"
	"braid/internal/small"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// A Described is the description of a file by a Metalink document or a torrent. The digests of the document are in
// Request.Trust.Claims, and count instead of digests of servers. All servers are mirrors of equal rank.
type Described struct {
	Name    string            // the file's name in the document
	By      string            // name of the document, printable and without secrets
	URL     *url.URL          // of the document; nil if it was a local file
	Over    verify.Channel    // the channel over which the document came
	Torrent bool              // the document is a torrent: its pieces are evidence without a strong digest
	Size    int64             // -1: unknown
	Pieces  verify.Pieces     // zero: none
	Mirrors []metalink.Mirror // what the document states about Request.URL and Request.Mirrors
	// Torrents are the torrents that the document names. A torrent may have peers, and pieces that the document lacks.
	Torrents []metalink.MetaURL
	Notes    []string // about unused parts of the document

	chosen    bool     // a server sent the document, which chose a name that its URL does not have
	sharing   *sharing // nil if no peers are known
	malformed error    // error of a malformed hash, if the document has no valid strong hash
	remote    bool     // Request.URL is the URL of a torrent, and the torrent's peers are the only place of the file
}

// A Document is a Metalink document, or a torrent read as one. Its files are in compact form until a request needs
// them.
type Document struct {
	Files    metalink.Files
	Refused  []metalink.Refused
	Warnings []string
	Origin   *url.URL // see metalink.Document
	Dynamic  bool
	Torrent  bool
	Name     string         // for messages: masked and printable
	URL      *url.URL       // nil if it was a local file
	Over     verify.Channel // the channel over which the document came
	// Notes are for users who ask for details.
	Notes []string

	by              address.Scope  // scope of the document's server
	redirectDigests []verify.Claim // digests in redirects that are not of the document, and so are about the file
	originDigests   []verify.Claim // the redirectDigests that the asked server gave
	torrent         *metainfo.Torrent
	peers           []string // given by a magnet link
	shared          *edges.Pieces
}

// ReadDocument reads a document that the user gave from r. The claims of the document count as the user's. The URLs in
// the document may lead to this machine or to public addresses, but not to private networks, because documents are
// often from strangers. The error is an *Error.
func ReadDocument(r io.Reader, name string) (*Document, error) {
	d, err := parseDocument(r, name, verify.User, address.Loopback)
	if err != nil {
		return nil, fail(kindOf(err), "read", source.Escape(name), err, "")
	}
	d.Name = source.Escape(path.Base(name))
	return d, nil
}

// describedInPlace fetches the document with which the server answers in place of the file. It returns the request for
// the file that the document describes. describe is Document.Request or Document.Describe.
func describedInPlace(ctx context.Context, hc network, r *Request,
	describe func(*Document, metalink.File, Request) (Request, error)) (Request, error) {
	d, err := documentOf(ctx, hc, r, func(hops []metalink.Hop) bool { return r.mayReplace(hops, asOrigin) })
	if err != nil {
		return *r, err
	}
	f, err := d.fileFor(*r)
	if err != nil {
		return *r, err
	}
	req, err := describe(d, f, *r)
	if err != nil {
		return *r, err
	}
	req.Described.Notes = slices.Concat(d.Warnings, d.Notes, req.Described.Notes)
	return req, nil
}

// documentOf fetches and renews the document at req.URL. It is an error if may refuses the answers that lead there.
func documentOf(ctx context.Context, hc network, req *Request, may func([]metalink.Hop) bool) (*Document, error) {
	o := req.ownOptions(false)
	d, hops, err := fetchDocument(ctx, hc, req.URL, o)
	if err == nil && !may(hops) {
		err = &source.Error{URL: source.Mask(req.URL), Host: source.HostPort(hops[len(hops)-1].URL),
			Fault: source.FaultMismatch, Err: errInPlace}
	}
	if err != nil {
		return nil, wrap(err, "read", req)
	}
	d.renew(ctx, hc, o)
	return d, nil
}

// fetchDocument fetches and reads the document at u. A digest in the last answer is about the document. A digest in a
// redirect is about the document if it matches the document, and otherwise about the file.
func fetchDocument(ctx context.Context, hc network, u *url.URL, o httpsource.Options) (*Document, []metalink.Hop, error) {
	data, a, err := hc.small(ctx, u, o, metalink.MaxSize)
	var long *small.LongError
	if errors.As(err, &long) {
		err = &metalink.Error{Kind: metalink.TooMuch, Why: long.Error()}
	}
	if err == nil && len(a.Hops) > 0 {
		_, err = otherDigests(a.Hops, len(a.Hops)-1, data)
	}
	if err != nil {
		return nil, nil, err
	}
	d, err := parseDocument(bytes.NewReader(data), u.Path, channelOf(a), fromOf(a))
	if err != nil {
		return nil, nil, err
	}
	own := ownAnswers(a.Hops, asOrigin, neverSpoke)
	for i := range a.Hops {
		claims, _ := otherDigests(a.Hops, i, data)
		if d.redirectDigests = append(d.redirectDigests, claims...); i < own {
			d.originDigests = append(d.originDigests, claims...)
		}
	}
	name := u.Scheme + "://" + u.Host
	if base, err := nameFrom(u); err == nil {
		name = base
	}
	d.Name, d.URL = source.Escape(name), u
	return d, a.Hops, nil
}

// Request returns base with the description of f, a file of the document. The error is that the document names no
// usable place of f, or that claims of base contradict the document. A name in base stays.
func (d *Document) Request(f metalink.File, base Request) (Request, error) {
	r, err := d.Describe(f, base)
	switch {
	case err != nil:
		return base, err
	case r.URL == nil:
		return base, d.fail(f, Network, d.noPlace(base.Peers), HintMirror)
	case r.Name == "" && r.hasName():
		r.Name, r.Described.chosen = f.Name, d.chooses(f.Name)
	}
	return r, nil
}

// chooses reports whether a server sent the document, and its URL does not have name, with or without the ending of a
// document.
func (d *Document) chooses(name string) bool {
	if d.URL == nil {
		return false
	}
	base, err := nameFrom(d.URL)
	if err == nil && IsDocument(base) && base != name {
		base = strings.TrimSuffix(base, path.Ext(base))
	}
	return err != nil || base != name
}

// Describe returns base with the document's description of f. If no place of f is known, URL is nil.
func (d *Document) Describe(f metalink.File, base Request) (Request, error) {
	base = base.own()
	claims := slices.Clone(f.Claims)
	for i := range claims {
		claims[i].Field, claims[i].Channel = d.Name, d.Over
	}
	if err := verify.Agree(slices.Concat(base.Trust.Claims, d.redirectDigests), claims); err != nil {
		return base, d.fail(f, Protocol, err, "")
	}
	r := base
	// Published is about the document, not about this file.
	r.Trust.Claims, r.Published = join(join(base.Trust.Claims, claims), d.originDigests), metalink.File{}
	r.Described = &Described{
		Name: f.Name, By: d.Name, URL: d.URL, Over: d.Over, Torrent: d.Torrent, Size: f.Size, Pieces: f.BestPieces(),
		Notes:   d.notesOf(f, base),
		sharing: d.sharingOf(f.Name), malformed: f.Malformed,
	}
	r.Trust.Signatures = slices.Clip(base.Trust.Signatures)
	for _, doc := range f.Documents {
		if isTorrent(doc) && isWeb(doc.URL) {
			r.Described.Torrents = append(r.Described.Torrents, doc)
		}
	}
	for _, sig := range f.Signatures {
		if isSignature(sig.Type) {
			r.Trust.Signatures = append(r.Trust.Signatures, Signature{From: d.Name, Data: []byte(sig.Text)})
		}
	}
	r.NoMetalink = true // RFC 6249, section 2: links of a mirror are discarded
	mirrors, _ := r.allowed(f.Mirrors)
	base.Near.sort(context.Background(), mirrors)
	var places []*url.URL
	for _, o := range mirrors {
		if containsURL(base.Mirrors, o.URL) {
			o.By = address.Anywhere
		}
		places = append(places, o.URL)
		r.Described.Mirrors = append(r.Described.Mirrors, o)
	}
	r.URL, r.Mirrors = nil, nil
	if places = append(places, base.Mirrors...); len(places) > 0 && !(r.shared() && r.Peers == PeersOnly) {
		r.URL, r.Mirrors = places[0], slices.Clip(places[1:])
	} else if r.shared() {
		r.URL = r.Described.sharing.url()
	} else if r.bySwarm() {
		r.URL, r.Described.remote = r.Described.Torrents[0].URL, true
	}
	return r, nil
}

// noPlace returns the error of a file for which the document names no usable place.
func (d *Document) noPlace(p Peers) error {
	switch {
	case d.Torrent:
		return fmt.Errorf("the torrent has no web seed for this file, and %s", p.why())
	case !p.asked():
		return fmt.Errorf("the document has no usable URL of this file, and %s", p.why())
	}
	return errors.New("the document has no usable URL of this file, and no torrent with usable peers")
}

// fail returns an error about the file f of the document.
func (d *Document) fail(f metalink.File, k Kind, err error, hint Hint) *Error {
	return fail(k, "document", d.Name+", file "+source.Escape(f.Name), err, hint)
}

// notesOf lists the parts of the description f that are not used.
func (d *Document) notesOf(f metalink.File, base Request) (notes []string) {
	for _, u := range f.Documents {
		if isTorrent(u) && isWeb(u.URL) {
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: documents of the type %s are not supported yet", source.Mask(u.URL), u.Type))
	}
	_, left := base.allowed(f.Mirrors)
	notes = append(notes, left...)
	for _, i := range f.Ignored {
		notes = append(notes, fmt.Sprintf("%s is ignored: %s", source.Escape(i.Target), i.Reason))
	}
	if more := f.IgnoredCount - len(f.Ignored); more > 0 {
		notes = append(notes, fmt.Sprintf("further ignored links: %d", more))
	}
	return notes
}

// described reports whether a document identifies the file, by a strong digest or by the pieces of a torrent. No server
// is then asked what the file is, and each server is a mirror. Any other document is only a list of places, of which
// the first is the origin.
func (r *Request) described() bool {
	return r.Described != nil && (verify.Strong(r.Trust.Claims) || r.provenByPieces())
}

// listed reports whether a document is only a list of places; see described.
func (r *Request) listed() bool { return r.Described != nil && !r.described() }

// readable returns an error if a digest of the document is malformed and no strong digest is known.
func (r *Request) readable() error {
	if r.Described == nil || r.Described.malformed == nil || verify.Strong(r.Trust.Claims) {
		return nil
	}
	return fail(Protocol, "document", r.Described.By, r.Described.malformed, "")
}

// reportDescribed reports to Observe what the document of r offers, and which parts of it are not used.
func reportDescribed(r *Request) {
	for _, n := range r.unreadable {
		r.note("%s", n)
	}
	d := r.Described
	if d == nil {
		return
	}
	f := metalink.File{Size: d.Size, Claims: r.Trust.Claims, Mirrors: d.Mirrors}
	if !d.Pieces.IsZero() {
		f.Pieces = []verify.Pieces{d.Pieces}
	}
	r.observe(Offered{File: f, By: d.By})
	for _, n := range d.Notes {
		r.note("%s: %s", d.By, n)
	}
}

// spans reports whether the file shares pieces of a torrent with other files, and no other evidence is known.
func (r *Request) spans() bool {
	d := r.Described
	return d != nil && d.Torrent && d.Pieces.IsZero() && d.sharing != nil && !d.sharing.file.Span.IsZero() &&
		!verify.Strong(r.Trust.Claims)
}

// bySwarm reports whether the peers of the document's torrents may be asked if the document names no other place.
func (r *Request) bySwarm() bool {
	d := r.Described
	return d != nil && d.sharing == nil && r.Peers.asked() && len(d.Torrents) > 0 && verify.Strong(r.Trust.Claims)
}

// shared reports whether peers may be asked for the file of a torrent.
func (r *Request) shared() bool {
	return r.Peers.asked() && r.Described != nil && r.Described.sharing != nil
}

// isSwarm reports whether u is a swarm that may be asked.
func (r *Request) isSwarm(u *url.URL) bool { return source.IsSwarm(u) && r.shared() }

// seeds reports whether the file is to be seeded once it is complete.
func (r *Request) seeds() bool { return r.Peers.asked() && (r.Seed.Ratio > 0 || r.Seed.Time > 0) }

// onDisk reports whether the file gets a name in a folder.
func (r *Request) onDisk() bool { return r.hasName() && r.Store == nil }

// inOrder reports whether bytes go to a stream or a store in order, and cannot be read again.
func (r *Request) inOrder() bool { return r.Stream != nil || r.Store != nil }

// renames reports whether the file gets another name if its name is taken.
func (r *Request) renames() bool {
	return r.IfExists.Rename && !r.IfExists.Overwrite && !r.IfExists.IfNewer && r.onDisk()
}

// choseName reports whether a server chose the name of the file, in a document. d may be nil.
func (d *Described) choseName() bool { return d != nil && d.chosen }

// errOtherPart is the error of a part file of another download.
var errOtherPart = errors.New("it is of another download, and a server chose this name")

// spareOther returns an error if a server chose the name in a document, and the bytes of the earlier run are not of
// that document's file. The server could choose the name of any download of the user.
func (r *resumption) spareOther() error {
	d := r.req.Described
	if !d.choseName() || r.prior.Document.URLSum == partfile.SumURL(d.URL) ||
		verify.Strong(common(r.prior.Claims, r.req.Trust.Claims)) {
		return nil
	}
	return sparedPart(r)
}

// spareNamed returns an error if a server chose the name (Request.RemoteName), and the bytes of the earlier run are of
// another URL, for the same reason as spareOther.
func spareNamed(r *resumption) error {
	if r.theirs && r.prior.URLSum != partfile.SumURL(r.req.URL) {
		return sparedPart(r)
	}
	return nil
}

// reset declares the bytes of the earlier run of r to be useless, unless spareNamed returns an error.
func reset(r *resumption, reason string) error {
	if err := spareNamed(r); err != nil {
		return err
	}
	return r.part.Reset(reason)
}

// sparedPart returns the error of a part file, or of uploaded parts, of another download, which r keeps.
func sparedPart(r *resumption) error {
	where := r.result.Path
	if r.kept = r.part.Inherited(); r.upload != nil {
		r.kept = r.upload.released()
	} else {
		where = r.part.Path()
	}
	return &Error{Kind: Local, What: "file", Where: source.Escape(where), Err: errOtherPart, Hint: HintNameIt}
}

// hasName reports whether the file gets a name in a folder or a store.
func (r *Request) hasName() bool { return r.Stream == nil && r.Target == nil }
