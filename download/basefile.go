package download

import (
	"io/fs"
	"net/url"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A baseFile is a file that is not the right one and has some of its bytes. A download begins with these, as if an earlier run
// had left them, and puts the right file in its place.
type baseFile struct {
	path     string
	mode     fs.FileMode // for the new file
	useful   byterange.Set
	identity partfile.Identity
	file     metalink.File // what the server said of it
	pieces   verify.Pieces // to check what is useful by; zero if nobody has them
	from     string        // the document that has them, masked
	asked    []string      // documents that were read
}

// Repairable says that Repair knows what is wrong, and whom to ask for the right bytes.
func (v *Verdict) Repairable() bool { return v.repair != nil }

// repairOf is the download that puts the right file in place of a wrong one, whatever is useful of that.
func (x *inspection) repairOf(mode fs.FileMode) *Request {
	if x.req.URL == nil {
		return nil
	}
	v, r := &x.verdict, x.req
	r.Stream, r.Target = nil, nil
	if r.Overwrite = true; !x.req.provenByPieces() {
		r.Require = max(r.Require, RequireDigest)
	}
	r.Signatures = signaturesOf(&x.req, x.file) // those in a document, too, which is not read again
	if x.described != nil {                     // the neighbours' bytes are fetched, and proven
		r.Described = x.described
	}
	r.base = &baseFile{path: v.Path, mode: mode, pieces: v.Pieces, from: v.PiecesFrom, asked: x.carried.asked, identity: x.identity(), file: x.file}
	here := byterange.Range{End: min(v.Size, x.size)}
	switch {
	case !verify.Strong(x.claims) && !x.req.provenByPieces() || x.size < 0: // nothing would tell that the rest belongs to it
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

// identity is what the journal says that the part file is a part of.
func (x *inspection) identity() partfile.Identity {
	return identityOf(&x.req, x.file, x.size, x.claims, tagOf(x.file, x.answer))
}

func identityOf(r *Request, file metalink.File, size int64, claims []verify.Claim, t tag) partfile.Identity {
	id := partfile.Identity{URL: source.Mask(r.URL), URLSum: partfile.SumURL(r.URL), Size: size, Claims: claims, ETag: t.etag, ETagHost: t.host, Require: r.Require.String()}
	if r.provenByPieces() {
		id.PieceSum = partfile.SumPieces(r.Described.Pieces)
	}
	for _, m := range file.Mirrors {
		id.Mirrors = append(id.Mirrors, partfile.Mirror{URL: journalURL(m.URL), Pri: m.Pri, Pref: m.Pref, Geo: m.Geo, By: m.By})
	}
	return id
}

// journalURL is the URL of a mirror for the journal: as it is, if it has no secrets (rule 62).
func journalURL(u *url.URL) string {
	if u.User != nil || u.RawQuery != "" {
		return source.Mask(u)
	}
	return u.String()
}
