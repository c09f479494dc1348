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

// A baseFile is a wrong file that has some bytes of the right file. A repair begins with these bytes, as if an earlier
// run had left them, and puts the right file in its place.
type baseFile struct {
	path     string
	mode     fs.FileMode // for the new file
	begun    bool        // the base file is the beginning of the right file; only the whole file may replace it
	useful   byterange.Set
	identity partfile.Identity
	file     metalink.File // as the server described it
	pieces   verify.Pieces // digests to check the useful bytes; zero if unknown
	from     string        // the document that has the pieces, masked
	asked    []string      // documents that were read
}

// Repairable reports whether the damage, and a source of the right bytes, are known.
func (v *Verdict) Repairable() bool { return v.repair != nil }

// repairOf returns the request that puts the right file in place of a wrong file, or nil if no URL is known.
func (x *inspection) repairOf(mode fs.FileMode) *Request {
	if x.req.URL == nil {
		return nil
	}
	v, r := &x.verdict, x.req
	r.Stream, r.Target, r.Store = nil, nil, nil
	if r.IfExists.Overwrite = true; !x.req.provenByPieces() {
		r.Trust.Require = max(r.Trust.Require, RequireDigest)
	}
	r.Trust.Signatures = signaturesOf(&x.req, x.file) // with those of a document, because it is not read again
	if x.described != nil {                           // bytes of the files beside it are fetched, not read from disk
		r.Described = x.described
	}
	r.base = &baseFile{path: v.Path, mode: mode, pieces: v.Pieces, from: v.PiecesFrom, asked: x.carried.asked,
		identity: x.identity(), file: x.file}
	here := byterange.Range{End: min(v.Size, x.size)}
	switch {
	case !verify.Strong(x.claims) && !x.req.provenByPieces() || x.size < 0: // other bytes may be of another version
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

// identity returns the record about the file for the journal of the part file. It is mixed, because the bytes of the
// base file did not come with the tag. A digest that was looked up yields, because the server does not state it for the
// version that it sends.
func (x *inspection) identity() partfile.Identity {
	k := &known{claims: x.claims, recalled: x.verdict.Looked.Claims, size: x.size, sizeBy: byServer, file: x.file, mixed: true}
	k.tag = tagOf(x.file, x.answer)
	return identityOf(&x.req, k)
}

// identityOf returns the journal's record about the file, with the author of each fact. The date counts only with a
// tag.
func identityOf(r *Request, k *known) partfile.Identity {
	id := partfile.Identity{
		URL: source.Mask(r.URL), URLSum: partfile.SumURL(r.URL), Asked: r.Described == nil, Size: k.size,
		Claims: without(k.claims, k.nearby), Looked: without(k.nearby, without(k.nearby, k.claims)), Denied: k.denied,
		Yielding: withoutUser(join(k.recalled, without(k.claims, without(k.claims, r.Trust.Claims)))),
		ETag:     k.tag.etag, ETagHost: k.tag.host, StoodIn: k.stoodIn, Mixed: k.mixed, Require: r.Trust.Require.String(),
	}
	if d := r.Described; d != nil && d.URL != nil {
		id.Document = partfile.Document{URL: source.Mask(d.URL), URLSum: partfile.SumURL(d.URL), File: d.Name}
	}
	if k.sizeBy == byOther && k.size >= 0 {
		id.SizeBy = cmp.Or(k.sizeAt, "?")                              // sizeAt is unknown: one of several sources
		if u, err := url.Parse(k.sizeAt); err == nil && u.Host != "" { // otherwise sizeAt is a host
			id.SizeBy = source.HostPort(u)
		}
	}
	if r.Described == nil {
		id.Listed = withoutUser(k.given)
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

// journalURL returns the URL of a mirror for the journal. It is masked if it may have secrets.
func journalURL(u *url.URL) string {
	if u.User != nil || u.RawQuery != "" {
		return source.Mask(u)
	}
	return u.String()
}
