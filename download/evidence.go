package download

import (
	"context"
	"errors"
	"time"

	"braid/metalink"
	"braid/source"
	"braid/verify"
	"braid/verify/signatures"
)

// An Evidence is the evidence for a file in addition to the header fields of its server.
type Evidence struct {
	Document   string        // the Metalink document or torrent that was read, masked; empty if no document was read
	Err        error         // why the document cannot be used
	File       metalink.File // the offer, completed by the document
	Signatures []Signed
}

// A Signed holds what a signature states about itself. That proves nothing without the file and a trusted key.
type Signed struct {
	From string   // masked URL of the signature, or name of the document that contains it
	By   []string // the signers that the signature states, one line each; not escaped
	Err  error    // why the signature could not be fetched or read
}

// gatherEvidence implements Client.Evidence.
func gatherEvidence(ctx context.Context, hc network, req *Request, o Offer) Evidence {
	claims := join(req.Trust.Claims, o.File.Claims)
	trusted := vouched(claims)
	e := Evidence{File: o.File}
	if doc, ok := new(carried).nextDocument(o.File); ok {
		t := describedBy(ctx, hc, req, doc, o.File, claims, trusted)
		if e.Document, e.Err = t.from, t.err; t.err == nil {
			e.File = t.file
		}
	}
	e.Signatures = signersIn(signaturesAt(ctx, hc, signaturesFor(req, e.File, o.Looked), req, trusted))
	return e
}

// signersIn returns the signers of the signatures in all. It omits unreadable signatures that nothing names.
func signersIn(all []found) (out []Signed) {
	for _, f := range all {
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

// signersOf returns the signers that the signatures in data state.
func signersOf(data []byte) (by []string, err error) {
	kind := signatures.Of(data)
	all, err := kind.Read(data, time.Now())
	for _, s := range all {
		by = append(by, s.Kind+" by "+kind.Describe(s))
	}
	return by, err
}

// userVouches reports whether the evidence is a strong digest from the user or from a signed list, or a signature by an
// exact key that the user named. Such evidence outweighs the statements of servers.
func (t *Trust) userVouches() bool {
	return backed(t.Claims, verify.Signed, verify.User) || t.Anchors.pinned()
}

// needsSignature reports whether the file itself must be signed: a signature is required, and no signed list has its
// digest.
func (t *Trust) needsSignature() bool {
	return t.Require == RequireSignature && !backed(t.Claims, verify.Signed, verify.Signed)
}

// byPieces returns the pieces that a torrent claims for the file; zero without a torrent, or if a strong digest is known.
func (r *Request) byPieces() verify.PieceClaim {
	d := r.Described
	if d == nil || !d.Torrent || verify.Strong(r.Trust.Claims) {
		return verify.PieceClaim{}
	}
	return verify.PieceClaim{Pieces: d.Pieces, Field: d.By, Channel: d.Over}
}

// provenByPieces reports whether the pieces of a torrent are the only evidence.
func (r *Request) provenByPieces() bool { return !r.byPieces().Pieces.IsZero() }

// keepsNewer reports whether an older file must not replace a newer file.
func (r *Request) keepsNewer() bool { return !r.IfExists.AllowOlder && !verify.Strong(r.Trust.Claims) }

// mostGuesses is the maximum number of signatures beside a file that are asked for although nothing names them, if the
// lookup may ask for others beside lists.
const mostGuesses = 3

// signaturesFor returns the signatures of signaturesOf. If a signature is demanded and nothing names a signature, it
// returns the signatures that exist beside the file according to looked or, if that is unknown, those that may exist
// beside the URL of req.
func signaturesFor(req *Request, f metalink.File, looked verify.Finding) []Signature {
	all := signaturesOf(req, f)
	if len(all) > 0 || !req.Trust.needsSignature() || req.described() || req.URL == nil || !isWeb(req.URL) {
		return all
	}
	if looked.Beside != nil {
		for _, u := range looked.Beside[:min(len(looked.Beside), mostGuesses)] {
			all = append(all, Signature{From: source.Mask(u), URL: u, maybe: true})
		}
		return all
	}
	endings := req.Trust.Anchors.guesses()
	if req.Trust.Lookup { // signatures of lists are asked for, too
		endings = endings[:min(len(endings), mostGuesses)]
	}
	for _, ending := range endings {
		sig := Beside(req.URL, ending)
		sig.maybe = true
		all = append(all, sig)
	}
	return all
}

// fetchSignatures fetches the signatures in all with fetch, one at a time. It stops after the first signature, good or
// bad, that nothing names and that a key in anchors may have made. Missing signatures that nothing names are omitted.
// A signature of something other than a file, which nothing names, is in out with a strayError.
func fetchSignatures(all []Signature, anchors Anchors, fetch func(Signature) found) (out []found) {
	for _, sig := range all {
		f := fetch(sig)
		if sig.maybe && f.nothing() {
			if stray := f.stray(); stray != nil {
				f.err = stray
				out = append(out, f)
			}
			continue
		}
		if out = append(out, f); sig.maybe && !anchors.ignore(f) {
			break
		}
	}
	return out
}

// ignore reports whether f is a signature by a key that is not among the anchors. It returns false without anchors.
func (a Anchors) ignore(f found) bool {
	if f.err != nil || !a.Any() {
		return false
	}
	trust, ok := a.of(signatures.Of(f.data))
	if !ok {
		return true
	}
	_, err := trust.Check(verify.Detached{Data: f.data, Text: f.text, Now: time.Now()})
	return kindOfSignature(err) == NoKey
}

// A strayError reports why data beside a file is no signature of that file, such as the signature of a commit. It does
// not count as an error of a signature, because nothing names the data.
type strayError struct{ why string }

func (e *strayError) Error() string { return e.why }

// stray returns a *strayError if f is a signature of something other than a file, and otherwise nil.
func (f found) stray() error {
	if f.err != nil {
		return nil
	}
	_, err := signersOf(f.data)
	if e, ok := errors.AsType[*verify.SignatureError](err); ok && e.Code == verify.SignatureNotOfFile {
		return &strayError{err.Error()}
	}
	return nil
}

// nothing reports whether no signature was found: the server has no such file, or sent something else, such as a web
// page.
func (f found) nothing() bool {
	if source.Refused(f.err) || kindOfSignature(f.err) == Limit {
		return true
	}
	_, err := signersOf(f.data)
	return f.err == nil && err != nil
}
