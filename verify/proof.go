package verify

import (
	"slices"
	"strings"
)

// A Proof states that a file is complete, and holds the evidence for its content. Only this package creates Proofs: a
// Checker that has read the file, or Unchecked. The zero value is not a proof.
type Proof struct {
	valid      bool
	size       int64
	digests    []Digest          // strongest first
	evidence   []Claim           // most trusted first
	signatures []SignatureResult // good signatures, in the order of the checkers
	pieces     *PieceClaim       // the claim that the pieces of the file match, or nil
}

// Unchecked returns the Proof for a file of size bytes about which nothing was claimed. The Proof is Valid, but neither
// Verified nor Signed. If size is negative, Unchecked returns the zero Proof.
func Unchecked(size int64) Proof {
	if size < 0 {
		return Proof{}
	}
	return Proof{valid: true, size: size}
}

// Valid reports whether p is a proof at all. Verified reports whether p has good evidence.
func (p Proof) Valid() bool { return p.valid }

// Size returns the number of bytes of the file.
func (p Proof) Size() int64 { return p.size }

// Verified reports whether the file matches a claimed digest of SHA-256 or better, or is Signed.
func (p Proof) Verified() bool { return Strong(p.evidence) || p.Signed() }

// ByPieces reports whether the file matches all pieces of a torrent. A match rules out accidents and third parties,
// because no second preimage of SHA-1 is known. It is weaker evidence than Verified, because the author of the torrent
// could have made two files with the same pieces.
func (p Proof) ByPieces() bool { return p.pieces != nil }

// Pieces returns the claim that the pieces of the file match, or the zero value if no pieces were claimed.
func (p Proof) Pieces() PieceClaim {
	if p.pieces == nil {
		return PieceClaim{}
	}
	return *p.pieces
}

// Signed reports whether the file, or the checksum list with its digest, has a good signature by a key or certificate
// that the user trusts.
func (p Proof) Signed() bool {
	return len(p.signatures) > 0 || slices.ContainsFunc(p.evidence, func(c Claim) bool {
		return c.Channel == Signed && c.Digest.Algorithm().Strong()
	})
}

// Signatures returns the good signatures of the file and of the lists that its digests are from.
func (p Proof) Signatures() []SignatureResult {
	all := slices.Clone(p.signatures)
	for _, c := range p.evidence {
		if c.Channel == Signed && c.By != (SignatureResult{}) && !slices.Contains(all, c.By) {
			all = append(all, c.By)
		}
	}
	return all
}

// Digests returns the computed digests, the strongest first.
func (p Proof) Digests() []Digest { return slices.Clone(p.digests) }

// Evidence returns the claims that the file matches, the most trusted first.
func (p Proof) Evidence() []Claim { return slices.Clone(p.evidence) }

// String returns the best evidence, or "unverified". The user's digest comes first, then the signatures of the file,
// then the most trusted other digest. After a digest of the user, the other digest must be from a signed list. Digests of
// other algorithms that another field gave over the same channel are named, too.
func (p Proof) String() string {
	if !p.valid {
		return "no proof"
	}
	var parts []string
	for _, a := range p.signatures {
		parts = append(parts, a.String())
	}
	for i, c := range p.evidence {
		if !c.Digest.Algorithm().Strong() {
			continue
		}
		if c.Channel != User {
			parts = append(parts, p.named(i)...)
			break
		}
		parts = append(p.named(i), parts...)
		signed := func(c Claim) bool { return c.Channel == Signed && c.Digest.Algorithm().Strong() }
		if j := slices.IndexFunc(p.evidence[i:], signed); j >= 0 {
			parts = append(parts, p.named(i+j)...)
		}
		break
	}
	switch {
	case len(parts) > 0:
		return strings.Join(append(parts, p.weakOfUser()...), "; ")
	case p.pieces != nil:
		return strings.Join(append([]string{p.pieces.String()}, p.weakOfUser()...), "; ")
	case len(p.evidence) == 0:
		return "unverified"
	}
	return "unverified (" + p.evidence[0].String() + " matches, which proves nothing against an attacker)"
}

// named describes the strong claim at index i of the evidence. For each other strong algorithm, it also describes the
// first claim over the same channel, unless that is from the same field.
func (p Proof) named(i int) (all []string) {
	best, seen := p.evidence[i], Algorithm(0)
	for _, c := range p.evidence[i:] {
		a := c.Digest.Algorithm()
		if a == seen || !a.Strong() || c.Channel != best.Channel {
			continue
		}
		if seen = a; c == best || c.Field != best.Field {
			all = append(all, c.String())
		}
	}
	return all
}

// weakOfUser describes the weak digests that the user gave and the file matches. The user asked for that comparison,
// although it proves nothing.
func (p Proof) weakOfUser() (fit []string) {
	for _, c := range p.evidence {
		if c.Channel == User && !c.Digest.Algorithm().Strong() {
			fit = append(fit, c.String()+" also matches")
		}
	}
	return fit
}

func (p Proof) digest(a Algorithm) Digest {
	for _, d := range p.digests {
		if d.alg == a {
			return d
		}
	}
	return Digest{}
}
