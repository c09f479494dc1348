package verify

import (
	"cmp"
	"hash"
	"slices"
)

// A Checker compares a file, which is written to it in order, with claims. It is not safe for concurrent use.
type Checker struct {
	size       int64 // negative: unknown
	claims     []Claim
	hashes     []sum // strongest first
	signatures []SignatureChecker
	claimed    PieceClaim
	pieces     *PieceComparer // nil if no pieces are claimed
	written    int64
}

type sum struct {
	alg Algorithm
	hash.Hash
}

// NewChecker returns a Checker of a file of size bytes; a negative size means unknown. The file must match every claim,
// weak claims too, and no signature may be bad. The Checker always computes SHA-256, because results report it.
func NewChecker(size int64, claims []Claim, signatures ...SignatureChecker) *Checker {
	c := &Checker{size: size, claims: slices.SortedStableFunc(slices.Values(claims), byStrength), signatures: signatures}
	for _, a := range slices.Backward(Algorithms()) {
		claimed := func(cl Claim) bool { return cl.Digest.Algorithm() == a }
		if a == SHA256 || slices.ContainsFunc(claims, claimed) {
			c.hashes = append(c.hashes, sum{a, a.New()})
		}
	}
	return c
}

// Compute makes c use algorithm a even if no claim has that algorithm. Call it before the first Write.
func (c *Checker) Compute(a Algorithm) {
	if !c.Computes(a) {
		c.hashes = append(c.hashes, sum{a, a.New()})
		slices.SortFunc(c.hashes, func(x, y sum) int { return cmp.Compare(y.alg, x.alg) })
	}
}

// Computes reports whether c computes a.
func (c *Checker) Computes(a Algorithm) bool {
	return slices.ContainsFunc(c.hashes, func(h sum) bool { return h.alg == a })
}

// ByPieces requires the file to match p. Call it before the first Write, and only if no strong digest is known.
func (c *Checker) ByPieces(p PieceClaim) { c.claimed, c.pieces = p, NewPieceComparer(p.Pieces) }

// Claim adds claims that the file must match as well, except those that c has. After the first Write, c must compute
// the algorithm of each.
func (c *Checker) Claim(more []Claim) {
	more = slices.DeleteFunc(slices.Clone(more), func(cl Claim) bool { return slices.Contains(c.claims, cl) })
	c.claims = slices.SortedStableFunc(slices.Values(slices.Concat(c.claims, more)), byStrength)
}

// Write takes the next bytes of the file. It never fails.
func (c *Checker) Write(p []byte) (int, error) {
	for _, h := range c.hashes {
		h.Write(p)
	}
	for _, s := range c.signatures {
		s.Write(p)
	}
	if c.pieces != nil {
		c.pieces.Write(p)
	}
	c.written += int64(len(p))
	return len(p), nil
}

// Written returns the number of bytes written so far.
func (c *Checker) Written() int64 { return c.written }

// Proof checks the bytes written so far as the whole file. The error is a *SizeError, a *MismatchError of the strongest
// claim that does not match, a *PieceError, or the error of a SignatureChecker. An untrusted key or certificate is no
// error if another SignatureChecker found a good signature, or if a matching claim is from a signed list.
func (c *Checker) Proof() (Proof, error) {
	if c.size >= 0 && c.written != c.size {
		return Proof{}, &SizeError{Got: c.written, Want: c.size}
	}
	if size := c.claimed.Pieces.Size(); c.pieces != nil && c.written != size {
		return Proof{}, &SizeError{Got: c.written, Want: size}
	}
	p := Proof{valid: true, size: c.written}
	for _, h := range c.hashes {
		p.digests = append(p.digests, Digest{h.alg, string(h.Sum(nil))})
	}
	for _, cl := range c.claims {
		if !slices.Contains(p.digests, cl.Digest) {
			return Proof{}, &MismatchError{Claim: cl, Got: p.digest(cl.Digest.Algorithm())}
		}
	}
	if c.pieces != nil {
		if wrong := c.pieces.Wrong(); len(wrong) > 0 {
			return Proof{}, &PieceError{Claim: c.claimed, Piece: wrong[0]}
		}
		p.pieces = &c.claimed
	}
	p.evidence = slices.SortedStableFunc(slices.Values(c.claims), byTrust)
	var stranger error
	for _, s := range c.signatures {
		all, err := s.Signatures()
		switch {
		case err != nil && byStranger(err):
			stranger = cmp.Or(stranger, err)
		case err != nil:
			return Proof{}, err
		}
		notGood := func(r SignatureResult) bool { return r.Code != SignatureGood }
		p.signatures = append(p.signatures, slices.DeleteFunc(slices.Clone(all), notGood)...)
	}
	if stranger != nil && !p.Signed() {
		return Proof{}, stranger
	}
	return p, nil
}
