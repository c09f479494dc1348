package download

import (
	"cmp"
	"io/fs"
	"net/url"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A baseFile is an existing file that is wrong or incomplete, and has some bytes of the right file. A download begins
// with these bytes, as if an earlier run had left them, and replaces the base file with the right file.
type baseFile struct {
	path     string
	mode     fs.FileMode // for the new file
	begun    bool        // the base file is the first part of the right file; only the complete file may replace it
	useful   byterange.Set
	identity partfile.Identity
	file     metalink.File // description by the server
	pieces   verify.Pieces // digests to check the useful bytes; zero if unknown
	from     string        // the document that has the pieces, masked
	asked    []string      // URLs of the documents that were read
}

// Repairable reports whether the damage, and a source of the right bytes, are known.
func (v *Verdict) Repairable() bool { return v.repair != nil }

// repairOf returns the request that replaces the wrong file with the right file, or nil if x.req has no URL.
func (x *inspection) repairOf(mode fs.FileMode) *Request {
	if x.req.URL == nil {
		return nil
	}
	v, r := &x.verdict, x.req
	r.Stream, r.Target, r.Store = nil, nil, nil
	if r.IfExists.Overwrite = true; !x.req.provenByPieces() {
		r.Trust.Require = max(r.Trust.Require, RequireDigest)
	}
	r.Trust.Signatures = signaturesOf(&x.req, x.file) // also signatures in a document, because the document is not read again
	if x.described != nil {                           // a repair fetches the other files' bytes of shared pieces
		r.Described = x.described
	}
	r.base = &baseFile{path: v.Path, mode: mode, pieces: v.Pieces, from: v.PiecesFrom, asked: x.carried.asked,
		identity: x.identity(), file: x.file}
	here := byterange.Range{End: min(v.Size, x.size)}
	switch {
	case !verify.Strong(x.claims) && !x.req.provenByPieces() || x.size < 0: // the bytes on disk may be of another version
	case !v.Pieces.IsZero():
		r.base.useful.Add(here)
		for d := range v.Damaged.All() {
			r.base.useful.Remove(d)
		}
	case v.Size != x.size:
		r.base.useful.Add(here)
	}
	return &r
}

// identity returns the record about the file for the journal of the part file. Mixed is set, because the bytes of the
// base file did not come with the recorded tag. A digest that was looked up is recorded as yielding (see use),
// because the server does not state it for the version that it sends, and as looked up, because the lookup may fail the
// second time.
func (x *inspection) identity() partfile.Identity {
	looked := x.verdict.Looked.Claims
	told := without(x.claims, join(looked, x.verdict.Looked.Weak))
	k := &known{digests: counted(told), size: x.size, sizeBy: byServer, file: x.file, mixed: true}
	k.digests.add(aList, yields, looked)
	k.tag = tagOf(x.file, x.answer)
	id := identityOf(&x.req, k)
	id.Looked = looked
	return id
}

// identityOf returns the journal's record about the file: the facts of k, each with the party that stated it. A date is
// recorded only with a tag.
func identityOf(r *Request, k *known) partfile.Identity {
	id := partfile.Identity{
		URL: source.Mask(r.URL), URLSum: partfile.SumURL(r.URL), Asked: r.Described == nil, Size: k.size,
		Claims: k.digests.counting(), Denied: k.digests.used(denied),
		Yielding: withoutUser(join(k.digests.used(yields), r.Trust.Claims)),
		ETag:     k.tag.etag, ETagHost: k.tag.host, StoodIn: k.stoodIn, Mixed: k.mixed, Require: r.Trust.Require.String(),
	}
	if d := r.Described; d != nil && d.URL != nil {
		id.Document = partfile.Document{URL: source.Mask(d.URL), URLSum: partfile.SumURL(d.URL), File: d.Name}
	}
	if k.sizeBy == byOther && k.size >= 0 {
		id.SizeBy = cmp.Or(k.sizeAt, "?")                              // "?": one of several sources gave the size
		if u, err := url.Parse(k.sizeAt); err == nil && u.Host != "" { // otherwise sizeAt is a host
			id.SizeBy = source.HostPort(u)
		}
	}
	if r.Described == nil {
		id.Listed = withoutUser(k.digests.by(theUser))
	}
	if k.tag.etag != "" {
		id.LastModified = k.date
	}
	if r.provenByPieces() {
		id.PieceSum = partfile.SumPieces(r.Described.Pieces)
	}
	for _, m := range k.file.Mirrors {
		id.Mirrors = append(id.Mirrors, partfile.Mirror{URL: journalURL(m.URL), Pri: m.Pri, Pref: m.Pref, Geo: m.Geo, By: m.By})
	}
	return id
}

// journalURL returns u as it is recorded in the journal: masked if u may have secrets.
func journalURL(u *url.URL) string {
	if u.User != nil || u.RawQuery != "" {
		return source.Mask(u)
	}
	return u.String()
}
