package verify

import (
	"hash"
	"slices"
)

// A Checker hashes a file in order and compares it with what was claimed. It belongs to one goroutine.
type Checker struct {
	size       int64 // negative: unknown
	claims     []Claim
	hashes     []sum // strongest first
	signatures []SignatureChecker
	claimed    PieceClaim
	pieces     *PieceComparer // nil: none are claimed
	written    int64
}

type sum struct {
	alg Algorithm
	hash.Hash
}

// NewChecker starts to check a file of size bytes, negative if that is not known. Every claim will have to hold, the weak ones
// too, and no signature may be bad. SHA-256 is always computed, so that a result can name it.
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

// ByPieces makes the file have to be these pieces, and that evidence. It is for files of which no strong digest is known. It
// must be called before the first Write.
func (c *Checker) ByPieces(p PieceClaim) { c.claimed, c.pieces = p, NewPieceComparer(p.Pieces) }

// Claim adds claims, which will have to hold as well. Of what was written they can only be of algorithms that are computed:
// SHA-256, and those of the claims that were known before.
func (c *Checker) Claim(more []Claim) {
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

// Written is the number of bytes taken so far.
func (c *Checker) Written() int64 { return c.written }

// Proof judges the bytes taken so far as the whole file. The error is a *SizeError, a *MismatchError, the one of the strongest
// claim that does not hold, a *PieceError, or that of a SignatureChecker.
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
	for _, s := range c.signatures {
		all, err := s.Signatures()
		if err != nil {
			return Proof{}, err
		}
		notGood := func(r SignatureResult) bool { return r.Code != SignatureGood }
		p.signatures = append(p.signatures, slices.DeleteFunc(slices.Clone(all), notGood)...)
	}
	return p, nil
}
