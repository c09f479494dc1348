package download

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
	"braid/verify/openpgp"
	"braid/verify/smime"
)

// Anchors are what the user trusts to sign files. Signatures that a server describes, that a document has or that the user
// names are then fetched and checked, and a bad one is an error (rules 47 to 51, C10, C11). Without anchors none is.
type Anchors struct {
	Keys  openpgp.Keyring       // who may sign; without Pins each of them
	Pins  []openpgp.Fingerprint // the keys that count
	Roots []*x509.Certificate   // of S/MIME signers
	// AllowExpiredKey takes signatures by keys that have expired since, for archives.
	AllowExpiredKey bool
}

func (a *Anchors) pgp() bool { return a.Keys.Len() > 0 || len(a.Pins) > 0 }

// Any says that there is somebody to trust.
func (a *Anchors) Any() bool { return a.pgp() || len(a.Roots) > 0 }

// A Signature is one that the user names: its bytes, or where they are.
type Signature struct {
	From string // for people: a path, a masked URL
	Data []byte
	URL  *url.URL // if Data is nil

	named address.Scope // by a server; see httpsource.Options.Named
	maybe bool          // nothing names it: the first of these that is there counts
}

// A found signature is at hand, or could not be had.
type found struct {
	from string
	data []byte
	text bool // it is a cleartext signature
	err  error
}

// signed is what a session knows of signatures. They are gathered once, by a goroutine.
type signed struct {
	asked bool
	all   []found
	done  chan []found // takes one
}

const mostSignatures = 16 // of one file

// isSignature tells the media types of detached signatures (RFC 3156, section 5; RFC 8551, section 3.2).
func isSignature(kind string) bool {
	switch kind {
	case "application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature", "application/pkcs7-mime", "application/x-pkcs7-mime":
		return true
	}
	return false
}

// signaturesOf lists what the user and the file's description offer.
func signaturesOf(req *Request, f metalink.File) (out []Signature) {
	out = append(out, req.Signatures...)
	for _, sig := range f.Signatures {
		out = append(out, Signature{From: "the Metalink document", Data: []byte(sig.Text)})
	}
	for _, d := range f.Documents {
		known := func(s Signature) bool { return s.URL != nil && s.URL.String() == d.URL.String() }
		if isSignature(d.Type) && isWeb(d.URL) && !slices.ContainsFunc(out, known) {
			out = append(out, Signature{From: source.Mask(d.URL), URL: d.URL, named: req.namedBy(d.URL, d.By)})
		}
	}
	return out[:min(len(out), mostSignatures)]
}

// inOneTime ends when the signatures of a file must be there: all together have the time of one document that is slow (rule 21).
func (n network) inOneTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, longest*n.patience(), errSlow)
}

// signaturesAt brings the signatures of a file.
func signaturesAt(ctx context.Context, hc network, all []Signature, req *Request, trusted bool) []found {
	ctx, cancel := hc.inOneTime(ctx)
	defer cancel()
	return fetchSignatures(all, func(sig Signature) found {
		return sig.fetch(ctx, hc, func(sig Signature) httpsource.Options {
			return req.optionsFor(sig.URL, req.namedSignature(sig), trusted)
		})
	})
}

// A jury checks all signatures of a file at once.
type jury struct {
	from      []string
	checkers  []checker
	anchors   *Anchors
	hopeless  error // why one of them does not count, whatever the file is
	forgotten int   // signatures of a kind that there is no anchor for
}

// A checker is the part that the checkers of both kinds share.
type checker interface {
	Write([]byte) (int, error)
	attest(from string, pinned bool) ([]verify.Attestation, error)
}

type pgpChecker struct{ *openpgp.Checker }

func (c pgpChecker) attest(from string, pinned bool) ([]verify.Attestation, error) {
	r, err := c.Result()
	by, ok := r.Signer()
	if err != nil || !r.Validated || !ok {
		return nil, err
	}
	signer := ""
	if by.UserID != "" {
		signer = fmt.Sprintf("%q", by.UserID)
	}
	return []verify.Attestation{{Kind: "OpenPGP", From: from, Key: by.Primary.String(), Signer: signer, Pinned: pinned}}, nil
}

type cmsChecker struct{ *smime.Checker }

func (c cmsChecker) attest(from string, _ bool) ([]verify.Attestation, error) {
	r, err := c.Result()
	by, ok := r.Signer()
	if err != nil || !r.Validated || !ok {
		return nil, err
	}
	return []verify.Attestation{{Kind: "S/MIME", From: from, Key: by.Fingerprint, Signer: fmt.Sprintf("%q", by.Subject)}}, nil
}

// newJury prepares the check of all signatures at hand. Of those that cannot count, the first is remembered: if no
// other is good, that is the error.
func newJury(all []found, anchors *Anchors, now time.Time) *jury {
	j := &jury{anchors: anchors}
	for _, f := range all {
		c, err := j.checker(f, now)
		switch {
		case err != nil && severe(err):
			j.hopeless = &signatureError{f.from, err}
			return j
		case err != nil:
			if j.hopeless == nil {
				j.hopeless = &signatureError{f.from, err}
			}
		case c != nil:
			j.checkers, j.from = append(j.checkers, c), append(j.from, f.from)
		}
	}
	return j
}

// doomed is why no file could pass: a signature is wrong in itself or, if there must be a good one, none can count.
func (j *jury) doomed(required bool) error {
	if j.hopeless != nil && (severe(j.hopeless) || required && len(j.checkers) == 0) {
		return j.hopeless
	}
	return nil
}

// checker begins to check a signature; it is nil if there is no anchor for its kind (rule 51), or no signature.
func (j *jury) checker(f found, now time.Time) (checker, error) {
	data := f.data
	switch {
	case f.err != nil && severe(f.err): // too long
		return nil, f.err
	case f.err != nil:
		return nil, nil
	case isCMS(data):
		if len(j.anchors.Roots) == 0 {
			j.forgotten++
			return nil, nil
		}
		c, err := smime.New(data, j.anchors.Roots, smime.Policy{Now: now})
		return cmsChecker{c}, err
	}
	if !j.anchors.pgp() {
		j.forgotten++
		return nil, nil
	}
	policy := openpgp.Policy{Now: now, Pins: j.anchors.Pins, AllowExpiredKey: j.anchors.AllowExpiredKey, Text: f.text}
	c, err := openpgp.New(data, j.anchors.Keys, policy)
	return pgpChecker{c}, err
}

// Write implements verify.Witness.
func (j *jury) Write(p []byte) (int, error) {
	for _, c := range j.checkers {
		c.Write(p)
	}
	return len(p), nil
}

// Attest implements verify.Witness: one good signature is enough, but a bad one by somebody who counts is an error (rule 48).
func (j *jury) Attest() (out []verify.Attestation, err error) {
	if j.hopeless != nil && severe(j.hopeless) {
		return nil, j.hopeless
	}
	lesser := j.hopeless
	for i, c := range j.checkers {
		said, err := c.attest(j.from[i], len(j.anchors.Pins) > 0)
		switch {
		case err == nil:
			out = append(out, slices.DeleteFunc(said, func(a verify.Attestation) bool { // one signer counts once
				return slices.ContainsFunc(out, func(b verify.Attestation) bool { return a.Kind == b.Kind && a.Key == b.Key })
			})...)
		case severe(err):
			return nil, &signatureError{j.from[i], err}
		case lesser == nil:
			lesser = &signatureError{j.from[i], err}
		}
	}
	if len(out) == 0 {
		return nil, lesser
	}
	return out, nil
}

// lackOfSignature is the error of a file that has none and should have one (rule 47).
func lackOfSignature(all []found) error {
	for _, f := range all {
		if f.err != nil {
			return fmt.Errorf("%w: %s: %w", errNoSignature, f.from, f.err)
		}
	}
	return errNoSignature
}

var errNoSignature = errors.New("there is no signature that could be checked")
