package download

import (
	"cmp"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/internal/small"
	memory "braid/internal/whole" // whole is a name of this package
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
	"braid/verify/signatures"
)

// Anchors are the keys and certificates that the user trusts to sign files, at most one Trust of each kind. With
// anchors, signatures are fetched and checked: those that a server names (RFC 6249, section 5), a document has or the
// user names. A bad signature is an error. Without anchors, no signature is fetched.
type Anchors []verify.Trust

// of returns the anchors for signatures of a kind. It reports false if a has no key or certificate for this kind.
func (a Anchors) of(kind *verify.SignatureKind) (t verify.Trust, ok bool) {
	i := slices.IndexFunc(a, func(t verify.Trust) bool { return t.Kind() == kind && t.Any() })
	if i < 0 {
		return nil, false
	}
	return a[i], true
}

// trusts reports whether a has a key or certificate for the kind of signature of data.
func (a Anchors) trusts(data []byte) bool {
	_, ok := a.of(signatures.Of(data))
	return ok
}

// Any reports whether a has any key or certificate.
func (a Anchors) Any() bool { return slices.ContainsFunc(a, verify.Trust.Any) }

// pinned reports whether the user named the exact keys to accept.
func (a Anchors) pinned() bool { return slices.ContainsFunc(a, verify.Trust.Pinned) }

// A Signature is a signature that the user names: its bytes, or its URL.
type Signature struct {
	From string // for messages: a path or a masked URL
	Data []byte
	URL  *url.URL // if Data is nil

	named address.Scope // see httpsource.Options.Named
	maybe bool          // nothing names the signature: it may exist beside the file
}

// A found is the result of fetching a signature.
type found struct {
	from  string
	data  []byte
	text  bool // a cleartext signature
	maybe bool // see Signature
	err   error
}

// signed holds the signatures of the file. A goroutine fetches them, once.
type signed struct {
	asked bool
	all   []found
	done  chan []found // has a buffer for one value
}

const mostSignatures = 16 // maximum for one file

// isSignature reports whether media is the media type of detached signatures.
func isSignature(media string) bool {
	_, ok := signatures.OfType(media)
	return ok
}

// signaturesOf lists the signatures that the user named, and those in f, the description of the file.
func signaturesOf(req *Request, f metalink.File) (out []Signature) {
	out = append(out, req.Trust.Signatures...)
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

// inOneTime returns a context for several small requests, such as for all signatures of a file. All of them together
// get the time that one slow document may take (rule 21).
func (n network) inOneTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, small.Longest*n.patience(), small.ErrSlow)
}

// signaturesAt fetches all, the signatures of a file.
func signaturesAt(ctx context.Context, hc network, all []Signature, req *Request, trusted bool) []found {
	ctx, cancel := hc.inOneTime(ctx)
	defer cancel()
	return fetchSignatures(all, req.Trust.Anchors, func(sig Signature) found {
		return sig.fetch(ctx, hc, func(sig Signature) httpsource.Options {
			return req.optionsFor(sig.URL, sig.scope(req.Described), trusted)
		})
	})
}

// A signatureSet checks all signatures of a file at once.
type signatureSet struct {
	from      []string
	checkers  []verify.SignatureChecker
	trusts    []verify.Trust // the anchors of each checker
	anchors   Anchors
	hopeless  error    // why a signature cannot count, whatever the bytes of the file are
	forgotten int      // number of signatures of a kind without an anchor
	other     error    // why the first of these cannot count
	missing   bool     // a signature could not be fetched
	names     []string // of the file
}

// newSignatureSet prepares the check of the fetched signatures of a file with these names. The error of the first
// signature that cannot count is the result if no other signature is good.
func newSignatureSet(all []found, anchors Anchors, names []string) *signatureSet {
	set, now := &signatureSet{anchors: anchors, names: names}, time.Now()
	var copied *memory.File
	for _, f := range all {
		c, trust, err := set.checker(f, now)
		switch {
		case err != nil && severe(err):
			set.hopeless = &signatureError{f.from, err}
			return set
		case err != nil:
			if set.hopeless == nil {
				set.hopeless = &signatureError{f.from, err}
			}
		case c != nil:
			set.checkers, set.from = append(set.checkers, c), append(set.from, f.from)
			set.trusts = append(set.trusts, trust)
			copied = memory.Share(c, copied) // one copy of the file serves all checkers (rule 20)
		}
	}
	return set
}

// doomed returns an error if no file of size bytes could pass the check: a signature is severely wrong or cannot be
// checked for that size, or a good signature is required and no signature can count. A size of -1 is unknown.
func (s *signatureSet) doomed(required bool, size int64) error {
	if s.hopeless != nil && severe(s.hopeless) {
		return s.hopeless
	}
	for i, c := range s.checkers {
		if limited, ok := c.(interface{ CheckSize(size int64) error }); ok {
			if err := limited.CheckSize(size); err != nil {
				return &signatureError{s.from[i], err}
			}
		}
	}
	switch {
	case !required || len(s.checkers) > 0:
		return nil
	case s.hopeless == nil && s.missing: // the missing signature may be the one that counts
		return nil
	}
	return cmp.Or(s.hopeless, s.other)
}

// checker returns the checker of the signature f, and the anchors for it. It returns nil if the signature could not be
// fetched, or if there is no anchor for its kind (rule 51).
func (s *signatureSet) checker(f found, now time.Time) (c verify.SignatureChecker, trust verify.Trust, err error) {
	switch {
	case f.err != nil && severe(f.err): // too long
		return nil, nil, f.err
	case f.err != nil:
		s.missing = s.missing || !is[*strayError](f.err)
		return nil, nil, nil
	}
	trust, ok := s.anchors.of(signatures.Of(f.data))
	if !ok {
		s.forget(f, now)
		return nil, nil, nil
	}
	c, err = trust.Check(verify.Detached{Data: f.data, Text: f.text, Names: s.names, Now: now})
	return c, trust, strange(err, trust)
}

// forget counts f, a signature of a kind without an anchor. Its key is not trusted, whichever it is.
func (s *signatureSet) forget(f found, now time.Time) {
	s.forgotten++
	kind := signatures.Of(f.data)
	all, err := kind.Read(f.data, now)
	if err != nil || len(all) == 0 || s.other != nil {
		return
	}
	reason := fmt.Sprintf("it is %s %s signature, and no key or certificate for that kind is trusted", kind.Article, kind.Name)
	s.other = &signatureError{f.from, &verify.SignatureError{Code: verify.SignatureUnknownKey, By: all[0].Key, Reason: reason}}
}

// fileNames returns the names of the file, for signatures that contain the name of the signed file: the name on the
// server, or in the document that the user named, and the name on disk. Names that the author of a document chose do
// not count, because they may be the names of an older file with its signature: names in the URLs of places, and names
// in a document that came in place of the file.
func fileNames(r *Request) (names []string) {
	switch {
	case r.Described != nil && r.Described.URL != nil && !IsDocument(r.Described.URL.Path):
		names = append(names, path.Base(r.Described.URL.Path))
	case r.Described != nil:
		names = append(names, path.Base(r.Described.Name))
	case r.URL != nil:
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

// MarshalBinary returns the state of the checks.
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

var errNoState = errors.New("the signatures are not those that were checked")

// UnmarshalBinary restores the state in data, which is that of a set of the same signatures.
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

// Signatures implements verify.SignatureChecker. One good signature suffices, but a severe error of any signature is
// returned, for example that a trusted key signed other bytes.
func (s *signatureSet) Signatures() (out []verify.SignatureResult, err error) {
	if s.hopeless != nil && severe(s.hopeless) {
		return nil, s.hopeless
	}
	lesser := s.hopeless
	for i, c := range s.checkers {
		all, err := c.Signatures()
		good, ok := verify.GoodSignature(all)
		same := func(r verify.SignatureResult) bool { return r.Kind == good.Kind && r.Key == good.Key }
		switch {
		case err != nil && severe(err):
			return nil, &signatureError{s.from[i], err}
		case err != nil && lesser == nil:
			lesser = &signatureError{s.from[i], strange(err, s.trusts[i])}
		// One signer counts once.
		case ok && !slices.ContainsFunc(out, same):
			good.From, good.Pinned = s.from[i], s.trusts[i].Pinned()
			out = append(out, good)
		}
	}
	if len(out) == 0 {
		return nil, lesser
	}
	return out, nil
}

// lackOfSignature returns the error of a file without a required signature (rule 47). all are its signatures.
func lackOfSignature(all []found) error {
	for _, f := range all {
		if f.err != nil {
			return fmt.Errorf("%w: %s: %w", errNoSignature, f.from, f.err)
		}
		if _, err := signersOf(f.data); err != nil {
			return fmt.Errorf("%w: %s: %v", errNoSignature, f.from, err)
		}
	}
	return errNoSignature
}

var errNoSignature = errors.New("there is no signature to check")

// noSignature returns the *Error of a file without a required signature. all are its signatures, and looked is the
// result of the lookup.
func noSignature(r *Request, where string, all []found, looked verify.Finding) *Error {
	err := looked.Unsigned()
	if err == nil {
		err = newSignatureSet(all, r.Trust.Anchors, fileNames(r)).doomed(true, -1)
	}
	if err != nil {
		return fail(kindOf(err), "verify", where, err, "")
	}
	return fail(NoEvidence, "verify", where, lackOfSignature(all), HintSignature)
}

// A strangerError is the error of a signature by a key that is not trusted. Its text has the trusted keys.
type strangerError struct {
	error
	trust verify.Trust
}

// named is the number of trusted keys in the text of a strangerError.
const named = 3

func (e *strangerError) Error() string {
	names := e.trust.Names()
	text := strings.Join(names[:min(named, len(names))], " or ")
	if more := len(names) - named; more > 0 {
		text += fmt.Sprintf(" or %d more", more)
	}
	return e.error.Error() + "; want " + text
}

func (e *strangerError) Unwrap() error { return e.error }

// strange returns err, with the trusted keys added if err is about another key.
func strange(err error, trust verify.Trust) error {
	if kindOfSignature(err) != NoKey {
		return err
	}
	return &strangerError{err, trust}
}
