package smime

import (
	"braid/verify"
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding"
	"encoding/json"
	"errors"
	"hash"
	"slices"
	"time"
)

// A Checker judges the signatures in a message about a file, written to it in order. It is not safe for concurrent use.
type Checker struct {
	anchored   bool
	signatures []verify.SignatureResult
	pending    []pending
	hashes     map[crypto.Hash]hash.Hash // needed by pending signatures
	opaque     bool
	differs    bool   // the file differs from the content of an opaque message
	content    []byte // the part of the opaque message's content that was not compared yet
}

// A pending is a signature that waits for the digest of the file.
type pending struct {
	index  int // in Checker.signatures
	hash   crypto.Hash
	digest []byte
}

// New returns a Checker of a file with the signatures in a CMS message: DER, BER, PEM or a mail. Certificates must be
// valid at now. New fails, with a *verify.SignatureError, if no file could pass: the message cannot be read, no
// signature in it is acceptable, or a trusted signer's signature is bad. Without roots, signatures are only parsed.
func New(signature []byte, roots []*x509.Certificate, now time.Time) (*Checker, error) {
	data, err := dearmor(signature)
	if err != nil {
		return nil, err
	}
	m, err := parseMessage(data)
	if err != nil {
		return nil, err
	}
	c := &Checker{
		anchored: len(roots) > 0,
		hashes:   map[crypto.Hash]hash.Hash{},
		opaque:   m.opaque,
		content:  m.content,
	}
	a := newAnchors(roots, m.certificates, now)
	for _, s := range m.signers {
		c.add(s, m, a)
	}
	if c.anchored && (len(c.pending) == 0 || anyBad(c.signatures)) {
		return nil, verify.JudgeSignatures(c.signatures, named)
	}
	return c, nil
}

// add appends s to c.signatures, judged as far as possible without the file.
func (c *Checker) add(s signerInfo, m message, a anchors) {
	cert := s.find(m.certificates, a.roots)
	said := s.describe(cert)
	if c.anchored {
		h, err := crypto.Hash(0), m.noCertificate()
		if cert != nil {
			h, err = a.judge(s, cert)
		}
		if err != nil {
			said.Code, said.Reason = err.Code, err.Reason
		} else {
			c.wait(h, s.messageDigest)
		}
	}
	c.signatures = append(c.signatures, said)
}

// noCertificate returns the fault of a signer without a certificate.
func (m message) noCertificate() *verify.SignatureError {
	if m.unreadable != nil {
		return fail(verify.SignatureNoCertificate, "a certificate in it cannot be read: %s", printable(m.unreadable.Error()))
	}
	return fail(verify.SignatureNoCertificate, "the certificate is neither in the message nor among the roots")
}

// wait makes c compare the hash h of the file with digest. The signature to judge is appended to c.signatures next.
func (c *Checker) wait(h crypto.Hash, digest []byte) {
	if c.hashes[h] == nil {
		c.hashes[h] = h.New()
	}
	c.pending = append(c.pending, pending{index: len(c.signatures), hash: h, digest: digest})
}

// Write takes the next bytes of the file. It never fails.
func (c *Checker) Write(p []byte) (int, error) {
	for _, h := range c.hashes {
		h.Write(p)
	}
	if c.opaque && !c.differs {
		same := bytes.HasPrefix(c.content, p)
		c.differs = !same
		if same {
			c.content = c.content[len(p):]
		}
	}
	return len(p), nil
}

// MarshalBinary returns the state of c, for UnmarshalBinary of a Checker of the same message and roots.
func (c *Checker) MarshalBinary() ([]byte, error) {
	s := state{Hashes: map[crypto.Hash][]byte{}, Differs: c.differs, Left: len(c.content)}
	for id, h := range c.hashes {
		m, ok := h.(encoding.BinaryMarshaler)
		if !ok {
			return nil, errState
		}
		var err error
		if s.Hashes[id], err = m.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

// UnmarshalBinary restores a state from MarshalBinary into c. Nothing may have been written to c before.
func (c *Checker) UnmarshalBinary(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if len(s.Hashes) != len(c.hashes) || s.Left < 0 || s.Left > len(c.content) {
		return errState
	}
	for id, h := range c.hashes {
		m, ok := h.(encoding.BinaryUnmarshaler)
		if !ok || s.Hashes[id] == nil {
			return errState
		}
		if err := m.UnmarshalBinary(s.Hashes[id]); err != nil {
			return err
		}
	}
	c.differs, c.content = s.Differs, c.content[len(c.content)-s.Left:]
	return nil
}

var errState = errors.New("the saved state is for another message")

// A state is the encoded state of a Checker.
type state struct {
	Hashes  map[crypto.Hash][]byte `json:"hashes"`
	Differs bool                   `json:"differs,omitempty"`
	Left    int                    `json:"left,omitempty"` // length of content
}

// Signatures implements [verify.SignatureChecker]. With roots, a nil error means that at least one signature is good.
// Without roots, no signature is checked. The error is a *verify.SignatureError.
func (c *Checker) Signatures() ([]verify.SignatureResult, error) {
	all := slices.Clone(c.signatures)
	if !c.anchored {
		return all, nil
	}
	for _, p := range c.pending {
		s := &all[p.index]
		switch {
		case c.opaque && (c.differs || len(c.content) > 0):
			s.Code, s.Reason = verify.SignatureBad, "the message contains another file"
		case !bytes.Equal(c.hashes[p.hash].Sum(nil), p.digest):
			s.Code, s.Reason = verify.SignatureBad, "it is not a signature of this file"
		default:
			s.Code = verify.SignatureGood
		}
	}
	if err := verify.JudgeSignatures(all, named); err != nil {
		return nil, err
	}
	return all, nil
}

func anyBad(all []verify.SignatureResult) bool {
	return slices.ContainsFunc(all, func(s verify.SignatureResult) bool { return s.Code == verify.SignatureBad })
}
