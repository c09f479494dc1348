package download

import (
	"context"
	"time"

	"braid/metalink"
	"braid/verify"
	"braid/verify/signatures"
)

// An Evidence is what there is to verify a file with beside the header fields of its server.
type Evidence struct {
	Document   string        // the Metalink document or torrent that was read, masked; empty if none is offered
	Err        error         // why the document cannot be used
	File       metalink.File // the offer, with what the document adds
	Signatures []Signed
}

// Signed is what a signature says of itself. It proves nothing without the file and a trusted key.
type Signed struct {
	From string   // where it lies, masked, or in what
	By   []string // its signers by its own account, one line each; not escaped
	Err  error    // why it could not be had or read
}

// gatherEvidence fetches what an offer names.
func gatherEvidence(ctx context.Context, hc network, req *Request, o Offer) Evidence {
	claims := join(req.Claims, o.File.Claims)
	trusted := vouched(claims)
	e := Evidence{File: o.File}
	if doc, ok := new(carried).nextDocument(o.File); ok {
		t := describedBy(ctx, hc, req, doc, o.File, claims, trusted)
		if e.Document, e.Err = t.from, t.err; t.err == nil {
			e.File = t.file
		}
	}
	e.Signatures = req.readSignatures(ctx, hc, signaturesOf(req, e.File), trusted)
	return e
}

// readSignatures fetches signatures and reads which keys made them. One that nothing names counts only if it could be read.
func (r *Request) readSignatures(ctx context.Context, hc network, all []Signature, trusted bool) (out []Signed) {
	for _, f := range signaturesAt(ctx, hc, all, r, trusted) {
		s := Signed{From: f.from, Err: f.err}
		if s.Err == nil {
			s.By, s.Err = signersOf(f.data)
		}
		if s.Err == nil && len(s.By) == 0 {
			s.Err = errNoSignature
		}
		if s.Err == nil || !f.maybe {
			out = append(out, s)
		}
	}
	return out
}

// signersOf reads which keys made signatures. It trusts no key, so that it refuses none.
func signersOf(data []byte) (by []string, err error) {
	kind := signatures.Of(data)
	all, err := kind.Read(data, time.Now())
	for _, s := range all {
		by = append(by, s.Kind+" by "+kind.Describe(s))
	}
	return by, err
}

// userVouches reports whether the user's own claim, or a signer whom the user trusts, is the evidence: that outweighs what any
// server says.
func (r *Request) userVouches() bool {
	return backed(r.Claims, verify.Signed, verify.User) || r.Anchors.pinned()
}

// needsSignature reports whether the file itself has to be signed: a signature is required, and no signed list has its digest.
func (r *Request) needsSignature() bool {
	return r.Require == RequireSignature && !backed(r.Claims, verify.Signed, verify.Signed)
}

// byPieces is what a torrent claims of the file, if there is no strong digest; zero if nothing.
func (r *Request) byPieces() verify.PieceClaim {
	d := r.Described
	if d == nil || !d.Torrent || verify.Strong(r.Claims) {
		return verify.PieceClaim{}
	}
	return verify.PieceClaim{Pieces: d.Pieces, Field: d.By, Channel: d.Over}
}

// provenByPieces reports whether the pieces of a torrent are the only evidence.
func (r *Request) provenByPieces() bool { return !r.byPieces().Pieces.IsZero() }

// keepsNewer reports whether an older file must not replace a newer one.
func (r *Request) keepsNewer() bool { return !r.AllowOlder && !verify.Strong(r.Claims) }

// signaturesFor are those of signaturesOf or, where a signature is demanded and nothing names one, those that may lie
// beside the URL.
func signaturesFor(req *Request, f metalink.File) []Signature {
	all := signaturesOf(req, f)
	if len(all) > 0 || !req.needsSignature() || req.described() || req.URL == nil || !isWeb(req.URL) {
		return all
	}
	for _, ending := range req.Anchors.Besides() {
		sig := Beside(req.URL, ending)
		sig.maybe = true
		all = append(all, sig)
	}
	return all
}

// fetchSignatures brings signatures, one at a time. Of those that nothing names it is the first one that is a signature, whatever
// comes of it.
func fetchSignatures(all []Signature, fetch func(Signature) found) (out []found) {
	for _, sig := range all {
		f := fetch(sig)
		if sig.maybe && f.nothing() {
			continue
		}
		if out = append(out, f); sig.maybe {
			break
		}
	}
	return out
}

// nothing reports whether no signature was found: the server has no such file, or answers every path with a page.
func (f found) nothing() bool {
	if absent(f.err) || kindOfSignature(f.err) == Limit {
		return true
	}
	_, err := signersOf(f.data)
	return f.err == nil && err != nil
}
