package download

import (
	"braid/source"
	"braid/verify"
)

// A Require selects what must be proven before a file gets its final name, or an existing file is kept. The method met
// decides once the proof of all bytes exists. met is called by getter.commit for each download, by compare, asBefore
// and holds of existingFile, and by inspection.judge for Client.Verify. The function foresee ends a download early if
// evidence is known to be lacking.
type Require uint8

const (
	// RequireNothing accepts a file without evidence; see Result.Proof.
	RequireNothing Require = iota
	// RequireDigest demands a SHA-256 or better, from the server or the user.
	RequireDigest
	// RequireSignature demands a good signature by a key or certificate of Anchors.
	RequireSignature
)

// String returns the name of the level, empty for RequireNothing.
func (r Require) String() string {
	switch r {
	case RequireDigest:
		return "digest"
	case RequireSignature:
		return "signature"
	}
	return ""
}

// met reports whether p proves what r demands.
func (r Require) met(p verify.Proof) bool {
	switch r {
	case RequireDigest:
		return p.Verified()
	case RequireSignature:
		return p.Signed()
	}
	return true
}

// metBy reports whether claims that were found beside the file prove what r demands, if the file has them.
func (r Require) metBy(claims []verify.Claim) bool {
	switch r {
	case RequireDigest:
		return verify.Strong(claims)
	case RequireSignature:
		return verify.Strong(onlySigned(claims))
	}
	return true
}

// foresee returns an error and a hint if required evidence is known to be lacking before bytes are received. claims are
// the claims of the user and of the answer a. signatures reports whether there may be a signature of the file.
func foresee(r *Request, claims []verify.Claim, a source.Answer, signatures bool) (hint Hint, lacks error) {
	switch {
	case r.Trust.Require == RequireDigest && !verify.Strong(claims) && !vouchesForItself(a):
		return HintGiveDigest, errNoDigest
	case r.Trust.needsSignature() && !signatures:
		return HintSignature, errNoSignature
	}
	return "", nil
}
