package verify

import (
	"slices"
	"strings"
)

// A Proof says that a file is complete, and what speaks for its content. Only this package makes one, so a
// function that takes a Proof cannot be called for a file that was not read. The zero value is none.
type Proof struct {
	valid      bool
	size       int64
	digests    []Digest          // strongest first
	evidence   []Claim           // most trusted first
	signatures []SignatureResult // good ones, in the order of the checkers
	pieces     *PieceClaim       // that held; nil if none was made
}

// Unchecked is the proof of a file of size bytes of which nothing was claimed: it is valid, and neither Verified nor
// Signed. A negative size gives no proof.
func Unchecked(size int64) Proof {
	if size < 0 {
		return Proof{}
	}
	return Proof{valid: true, size: size}
}

// Valid says that p is a proof. Verified says how good a one.
func (p Proof) Valid() bool { return p.valid }

// Size is the number of bytes of the file.
func (p Proof) Size() int64 { return p.size }

// Verified says that a digest of SHA-256 or better was claimed and holds, or that the file is signed.
func (p Proof) Verified() bool { return Strong(p.evidence) || p.Signed() }

// ByPieces says that all pieces of a torrent hold. That excludes accidents and strangers: it is not possible to make
// another file with the SHA-1 of one that is given. An author of both files can, so it is less than Verified.
func (p Proof) ByPieces() bool { return p.pieces != nil }

// Pieces is the claim about pieces that held; zero if there was none.
func (p Proof) Pieces() PieceClaim {
	if p.pieces == nil {
		return PieceClaim{}
	}
	return *p.pieces
}

// Signed reports whether a good signature by a key or certificate that the user trusts covers the file: by a signature
// of it, or of the list that its digest is from.
func (p Proof) Signed() bool {
	return len(p.signatures) > 0 || slices.ContainsFunc(p.evidence, func(c Claim) bool {
		return c.Channel == Signed && c.Digest.Algorithm().Strong()
	})
}

// Signatures are the good ones: of the file, and of what its digests are from.
func (p Proof) Signatures() []SignatureResult {
	all := slices.Clone(p.signatures)
	for _, c := range p.evidence {
		if c.Channel == Signed && c.By != (SignatureResult{}) && !slices.Contains(all, c.By) {
			all = append(all, c.By)
		}
	}
	return all
}

// Digests are those that were computed, strongest first.
func (p Proof) Digests() []Digest { return slices.Clone(p.digests) }

// Evidence is the claims that held, most trusted first.
func (p Proof) Evidence() []Claim { return slices.Clone(p.evidence) }

// String names the best evidence, or says that there is none worth the name. Signatures stand beside a digest, as
// they say more: before it unless it is the user's own word.
func (p Proof) String() string {
	if !p.valid {
		return "no proof"
	}
	var parts []string
	for _, a := range p.signatures {
		parts = append(parts, a.String())
	}
	for _, c := range p.evidence {
		if !c.Digest.Algorithm().Strong() {
			continue
		}
		if c.Channel == User {
			parts = slices.Insert(parts, 0, c.String())
		} else {
			parts = append(parts, c.String())
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

// weakOfUser are the weak digests that the user gave: the user wants to know that they fit, though they prove nothing.
func (p Proof) weakOfUser() (fit []string) {
	for _, c := range p.evidence {
		if c.Channel == User && !c.Digest.Algorithm().Strong() {
			fit = append(fit, c.String()+" fits, too")
		}
	}
	return fit
}

// digest is the one of p that a made.
func (p Proof) digest(a Algorithm) Digest {
	for _, d := range p.digests {
		if d.alg == a {
			return d
		}
	}
	return Digest{}
}
