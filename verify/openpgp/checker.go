package openpgp

import (
	"braid/verify"
	"encoding"
	"encoding/json"
	"errors"
	"hash"
	"maps"
	"slices"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// maxSalted limits the version 6 signatures of a Checker: each has a salt, so each requires a separate hash of the file
// (RFC 9580, section 5.2.4).
const maxSalted = 16

// A Policy decides which signatures are accepted. The zero value accepts no signature, because every signature was made
// after the zero Now.
type Policy struct {
	// Now is the present time.
	Now time.Time
	// Pins are the accepted keys. The pin of a primary key accepts all its subkeys, too. If empty, every key of the
	// keyring is accepted.
	Pins []Fingerprint
	// AllowExpiredKey accepts a signature by a key that expired after signing, for archives. The time of a signature is
	// not proven: anyone who obtains an old key can sign with an old time.
	AllowExpiredKey bool
	// Text accepts only signatures of a text (type 0x01). The bytes written to the Checker must then be that text in
	// canonical form, with CR and LF at the end of each line (RFC 9580, section 5.2.4).
	Text bool
}

// pinned reports whether the pins include the key of s or its primary key. Without pins, it reports true.
func (p Policy) pinned(s signer) bool {
	return len(p.Pins) == 0 || slices.Contains(p.Pins, s.key()) || slices.Contains(p.Pins, s.primary())
}

// A Checker judges the signatures of a file that is written to it in order. It is not safe for concurrent use.
type Checker struct {
	anchored   bool
	signatures []verify.SignatureResult
	pending    []pending
	hashes     map[byte]hash.Hash // by hash algorithm; shared by the signatures without salt
	salted     []hash.Hash
}

// A pending is a signature by a known key that the pins accept. The verdict on it depends on the file.
type pending struct {
	index   int // in Checker.signatures
	sig     *packet.Signature
	hash    hash.Hash
	signers []signer // several only if their key IDs collide
}

// New returns a Checker of a file with the given detached signatures, one or more, as binary packets or armor. If none
// of them is acceptable, no file could pass, and New returns a *verify.SignatureError. Without keys and pins,
// signatures are parsed but not validated.
func New(signatures []byte, keys Keyring, policy Policy) (*Checker, error) {
	list, err := readSignatures(signatures)
	if err != nil {
		return nil, err
	}
	c := &Checker{
		anchored: keys.Len() > 0 || len(policy.Pins) > 0,
		hashes:   map[byte]hash.Hash{},
	}
	shelf := shelf{keys, map[Fingerprint]*pgp.Entity{}}
	for _, w := range list {
		if err := c.add(w, shelf, policy); err != nil {
			return nil, err
		}
	}
	if c.anchored && len(c.pending) == 0 {
		return nil, verify.JudgeSignatures(c.signatures, named)
	}
	return c, nil
}

// add appends w to c.signatures, judged as far as possible without the file.
func (c *Checker) add(w written, keys shelf, policy Policy) error {
	said := verify.SignatureResult{Kind: kindName, Signer: w.issuer.String(), Hash: digests[w.hash].name}
	if w.sig != nil {
		said.Time = w.sig.CreationTime
	}
	if c.anchored {
		signers, fault := judge(w, keys, policy, &said)
		if fault != nil {
			said.Code, said.Reason = fault.Code, fault.Reason
		} else {
			h, err := c.hashFor(w)
			if err != nil {
				return err
			}
			c.pending = append(c.pending, pending{index: len(c.signatures), sig: w.sig, hash: h, signers: signers})
		}
	}
	c.signatures = append(c.signatures, said)
	return nil
}

// hashFor returns the hash that the file is written to for w. Signatures without salt share a hash.
func (c *Checker) hashFor(w written) (hash.Hash, error) {
	salt := w.sig.Salt()
	if h := c.hashes[w.hash]; h != nil && salt == nil {
		return h, nil
	}
	h := digests[w.hash].new()
	h.Write(salt)
	switch {
	case salt == nil:
		c.hashes[w.hash] = h
	case len(c.salted) == maxSalted:
		return nil, fail(verify.SignatureTooLarge, "more than %d signatures with salt", maxSalted)
	default:
		c.salted = append(c.salted, h)
	}
	return h, nil
}

// Write takes the next bytes of the file. It never fails.
func (c *Checker) Write(p []byte) (int, error) {
	for _, h := range c.hashes {
		h.Write(p)
	}
	for _, h := range c.salted {
		h.Write(p)
	}
	return len(p), nil
}

// MarshalBinary returns the state of the hashes, for UnmarshalBinary of a Checker of the same signatures, keys and
// policy.
func (c *Checker) MarshalBinary() ([]byte, error) {
	var s state
	for _, id := range slices.Sorted(maps.Keys(c.hashes)) {
		s.Hashes = append(s.Hashes, hashState{ID: id, State: marshal(c.hashes[id])})
	}
	for _, h := range c.salted {
		s.Hashes = append(s.Hashes, hashState{State: marshal(h)})
	}
	return json.Marshal(s)
}

// UnmarshalBinary restores a state from MarshalBinary into c. Nothing may have been written to c before.
func (c *Checker) UnmarshalBinary(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if len(s.Hashes) != len(c.hashes)+len(c.salted) {
		return errState
	}
	for i, h := range s.Hashes {
		to := c.hashes[h.ID]
		if i >= len(c.hashes) {
			to = c.salted[i-len(c.hashes)]
		}
		if to == nil {
			return errState
		}
		if err := to.(encoding.BinaryUnmarshaler).UnmarshalBinary(h.State); err != nil {
			return err
		}
	}
	return nil
}

var errState = errors.New("the saved state is for other signatures")

// A state is the encoded state of a Checker: first the hashes with an identifier, ordered by identifier, then the
// salted hashes, which have no identifier.
type state struct {
	Hashes []hashState `json:"hashes"`
}

type hashState struct {
	ID    byte   `json:"id,omitempty"`
	State []byte `json:"state"`
}

// Signatures implements [verify.SignatureChecker]. With keys or pins, a nil error means that at least one signature is
// good. Without keys and pins, no signature is checked. The error is a *verify.SignatureError.
func (c *Checker) Signatures() ([]verify.SignatureResult, error) {
	all := slices.Clone(c.signatures)
	if !c.anchored {
		return all, nil
	}
	for _, p := range c.pending {
		p.decide(&all[p.index])
	}
	if err := verify.JudgeSignatures(all, named); err != nil {
		return nil, err
	}
	return all, nil
}

// decide sets the verdict on p in r. The whole file must have been hashed.
func (p pending) decide(r *verify.SignatureResult) {
	by := p.signers[0]
	r.Code, r.Reason = verify.SignatureBad, "it is not a signature of this file"
	for _, candidate := range p.signers {
		if candidate.public().VerifySignature(clone(p.hash), p.sig) == nil {
			by, r.Code, r.Reason = candidate, verify.SignatureGood, ""
			break
		}
	}
	by.name(r)
	r.Signer = by.userID
}
