package download

import (
	"context"

	"braid/download/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// committed opens what a run left that put the file in place and was stopped before it could tell, or whose hook is due. A journal
// that another process has is that one's.
func (g *getter) committed() *partfile.Committed {
	c, err := partfile.OpenCommitted(g.c.files(), g.req.Dir, g.req.Name)
	if err != nil {
		return nil
	}
	return c
}

// asBefore reports whether the file is what an earlier run of the same request has put in place, by the journal and the bytes of
// the file. No server is asked: nothing but this was left to do. It counts if the journal is this user's (rule 8), and only where
// nothing more is demanded now.
func (g *getter) asBefore(ctx context.Context, c *partfile.Committed) bool {
	r := &g.req
	id, ok := c.Identity()
	if !ok || !g.same(id) || r.Overwrite || r.Anchors.Any() || r.Require == RequireSignature || !c.Sealed(g.c.JournalKey) {
		return false
	}
	proof, err := checkFile(ctx, g.c.files(), g.result.Path, join(r.Claims, id.Claims), r.byPieces())
	if err != nil || !c.Is(proof) || r.Require == RequireDigest && !proof.Verified() {
		return false
	}
	g.complete(proof, source.Answer{ETag: id.ETag, LastModified: id.Date, Host: id.Host})
	return true
}

// confirmed reports whether the file may be taken for the one that was committed although no digest says what it is: if the journal
// is this user's, or what the server says now ties the two together. It proves nothing about the bytes.
func (g *getter) confirmed(c *partfile.Committed, a source.Answer, file metalink.File) bool {
	id, ok := c.Identity()
	if !ok || !g.same(id) || g.req.Overwrite || g.req.IfNewer {
		return false
	}
	if c.Sealed(g.c.JournalKey) {
		return true
	}
	t := tagOf(file, a)
	now := partfile.Identity{URLSum: id.URLSum, Size: file.Size, ETag: t.etag, ETagHost: t.host, LastModified: dateOf(file, a)}
	return tagged(now) && now.Continues(id) == nil
}

// same reports whether that was asked for by the same URL.
func (g *getter) same(id partfile.Identity) bool { return id.URLSum == partfile.SumURL(g.req.URL) }

// settle ends what is left of an earlier run where the file stays as it is: its journal goes, unless something is due.
func (g *getter) settle(c *partfile.Committed) {
	switch {
	case c.Due() && (g.result.AlreadyComplete || c.Unchanged()):
		g.result.Due = true
	case !g.dry:
		c.Clear() // else it speaks of no bytes
	}
}

// accepts reports whether a file whose proof is p is what is demanded.
func (r *Request) accepts(p verify.Proof) bool {
	switch r.Require {
	case RequireDigest:
		return p.Verified()
	case RequireSignature:
		return p.Signed()
	}
	return true
}
