package download

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"time"

	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
	"braid/verify/signatures"
)

// Anchors are what the user trusts to sign files, at most one Trust of each kind. Signatures that a server describes
// (RFC 6249, section 5), that a document has or that the user names are then fetched and checked, and a bad one is an
// error. Without anchors none is fetched.
type Anchors []verify.Trust

// of returns what signatures of a kind can be checked with. It reports false if there is no key or certificate.
func (a Anchors) of(kind *verify.SignatureKind) (t verify.Trust, ok bool) {
	i := slices.IndexFunc(a, func(t verify.Trust) bool { return t.Kind() == kind && t.Any() })
	if i < 0 {
		return nil, false
	}
	return a[i], true
}

// trusts reports whether there is a key or certificate for signatures of the kind of data.
func (a Anchors) trusts(data []byte) bool {
	_, ok := a.of(signatures.Of(data))
	return ok
}

// Any reports whether there is a key or certificate at all.
func (a Anchors) Any() bool { return slices.ContainsFunc(a, verify.Trust.Any) }

// pinned reports whether the user named the very keys that count.
func (a Anchors) pinned() bool { return slices.ContainsFunc(a, verify.Trust.Pinned) }

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
	from  string
	data  []byte
	text  bool // it is a cleartext signature
	maybe bool // nothing names it
	err   error
}

// signed is what a session knows of signatures. They are gathered once, by a goroutine.
type signed struct {
	asked bool
	all   []found
	done  chan []found // takes one
}

const mostSignatures = 16 // of one file

// isSignature reports whether a media type is one of detached signatures.
func isSignature(media string) bool {
	_, ok := signatures.OfType(media)
	return ok
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

// A signatureSet checks all signatures of a file at once.
type signatureSet struct {
	from      []string
	checkers  []verify.SignatureChecker
	pinned    []bool // the user named the very keys that a checker counts
	anchors   Anchors
	hopeless  error    // why one of them does not count, whatever the file is
	forgotten int      // signatures of a kind that there is no anchor for
	names     []string // of the file
}

// newSignatureSet prepares the check of all signatures at hand of a file with these names. Of those that cannot count, the first is remembered: if no
// other is good, that is the error.
func newSignatureSet(all []found, anchors Anchors, names []string) *signatureSet {
	set, now := &signatureSet{anchors: anchors, names: names}, time.Now()
	for _, f := range all {
		c, pinned, err := set.checker(f, now)
		switch {
		case err != nil && severe(err):
			set.hopeless = &signatureError{f.from, err}
			return set
		case err != nil:
			if set.hopeless == nil {
				set.hopeless = &signatureError{f.from, err}
			}
		case c != nil:
			set.checkers, set.from, set.pinned = append(set.checkers, c), append(set.from, f.from), append(set.pinned, pinned)
		}
	}
	return set
}

// doomed is why no file could pass: a signature is wrong in itself or, if there must be a good one, none can count.
func (s *signatureSet) doomed(required bool) error {
	if s.hopeless != nil && (severe(s.hopeless) || required && len(s.checkers) == 0) {
		return s.hopeless
	}
	return nil
}

// checker begins to check a signature; it is nil if there is no anchor for its kind (rule 51), or no signature.
func (s *signatureSet) checker(f found, now time.Time) (c verify.SignatureChecker, pinned bool, err error) {
	switch {
	case f.err != nil && severe(f.err): // too long
		return nil, false, f.err
	case f.err != nil:
		return nil, false, nil
	}
	trust, ok := s.anchors.of(signatures.Of(f.data))
	if !ok {
		s.forgotten++
		return nil, false, nil
	}
	c, err = trust.Check(verify.Detached{Data: f.data, Text: f.text, Names: s.names, Now: now})
	return c, trust.Pinned(), err
}

// fileNames returns the names of the file, for signatures that say of which file they are: on its server, and here.
func fileNames(r *Request) (names []string) {
	if r.URL != nil {
		names = append(names, path.Base(r.URL.Path))
	}
	if r.Name != "" {
		names = append(names, filepath.Base(r.Name))
	}
	return names
}

// Write implements verify.SignatureChecker.
func (s *signatureSet) Write(p []byte) (int, error) {
	for _, c := range s.checkers {
		c.Write(p)
	}
	return len(p), nil
}

// MarshalBinary returns how far the checks are.
func (s *signatureSet) MarshalBinary() ([]byte, error) {
	states := make([][]byte, len(s.checkers))
	for i, c := range s.checkers {
		m, ok := c.(encoding.BinaryMarshaler)
		if !ok {
			return nil, errNoState
		}
		var err error
		if states[i], err = m.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(states)
}

var errNoState = errors.New("other signatures than those that were checked")

// UnmarshalBinary makes s go on where a set of the same signatures was.
func (s *signatureSet) UnmarshalBinary(data []byte) error {
	var states [][]byte
	if err := json.Unmarshal(data, &states); err != nil || len(states) != len(s.checkers) {
		return errNoState
	}
	for i, c := range s.checkers {
		m, ok := c.(encoding.BinaryUnmarshaler)
		if !ok {
			return errNoState
		}
		if err := m.UnmarshalBinary(states[i]); err != nil {
			return err
		}
	}
	return nil
}

// Signatures implements verify.SignatureChecker: one good signature is enough, but a bad one by a key that counts is an error.
func (s *signatureSet) Signatures() (out []verify.SignatureResult, err error) {
	if s.hopeless != nil && severe(s.hopeless) {
		return nil, s.hopeless
	}
	lesser := s.hopeless
	for i, c := range s.checkers {
		all, err := c.Signatures()
		good, ok := verify.GoodSignature(all)
		switch {
		case err != nil && severe(err):
			return nil, &signatureError{s.from[i], err}
		case err != nil && lesser == nil:
			lesser = &signatureError{s.from[i], err}
		case ok && !slices.ContainsFunc(out, func(r verify.SignatureResult) bool { return r.Kind == good.Kind && r.Key == good.Key }): // one signer counts once
			good.From, good.Pinned = s.from[i], s.pinned[i]
			out = append(out, good)
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
