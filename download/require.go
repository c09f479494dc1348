package download

import (
	"braid/source"
	"braid/verify"
)

// A Require says what must be proven before a file gets its final name, and of one that stays. What ends well asks met,
// where the proof of all bytes is there: getter.commit, the gate of each download; compareExisting, asBefore and holds
// for a file that is there already; inspection.judge for Client.Verify. What foresee finds to be lacking ends a
// download before its bytes come.
type Require uint8

const (
	// RequireNothing accepts a file without evidence; the result then says so.
	RequireNothing Require = iota
	// RequireDigest demands a SHA-256 or better, from the server or the user.
	RequireDigest
	// RequireSignature demands a good signature by a key or certificate of Anchors.
	RequireSignature
)

// String is the word for it, and empty for RequireNothing.
func (r Require) String() string {
	switch r {
	case RequireDigest:
		return "digest"
	case RequireSignature:
		return "signature"
	}
	return ""
}

// met reports whether p proves what is demanded.
func (r Require) met(p verify.Proof) bool {
	switch r {
	case RequireDigest:
		return p.Verified()
	case RequireSignature:
		return p.Signed()
	}
	return true
}

// foresee returns an error if what will be lacking can be told before the bytes come, and what helps. claims are those of the
// user and of answer a. signatures reports whether there are any that may prove the file, or a document that may name one.
func foresee(r *Request, claims []verify.Claim, a source.Answer, signatures bool) (hint Hint, lacks error) {
	switch {
	case r.Require == RequireDigest && !verify.Strong(claims) && !vouchesForItself(a):
		return HintGiveDigest, errNoDigest
	case r.needsSignature() && !signatures:
		return HintSignature, errNoSignature
	}
	return "", nil
}
