// Package version judges whether two descriptions of a file describe the same version of the file. It is the only place
// for that decision: an answer is compared with an earlier answer, another server's answer, a journal or a file in
// place by calling Compare.
//
// Package download answers two related questions. Whether a file is older or newer (-N) is decided by dates and by the
// weak comparison of ETags, while Compare never considers two versions the same because of a date. If nothing could
// prove that a version is the same, package download checks whether a server repeats all fields of an earlier answer
// (samples). For that check a missing field is a refusal, while Compare does not treat it as a contradiction.
//
// The package compares but does not judge trust. The caller decides which digests and sizes it accepts from a party
// before it puts them into a View.
package version

import (
	"errors"
	"fmt"
	"time"

	"braid/verify"
)

var (
	errETag       = errors.New("another ETag")
	errDate       = errors.New("another Last-Modified")
	errETagDate   = errors.New("the same ETag, but a different Last-Modified")
	errAlgorithms = errors.New("no digest algorithm in common")
	errNoSize     = errors.New("the same ETag from another server, but no digest, and one answer has no size")
	errNoMark     = errors.New("the two answers do not both have a digest or a strong ETag")
)

// View is the description of a file by one party.
type View struct {
	Size     int64          // in bytes; -1 if unknown
	Digests  []verify.Claim // of the whole file
	ETag     string         // a strong entity tag with its quotes, or empty
	Modified time.Time      // Last-Modified, or zero
	Host     string         // the host:port that sent ETag and Modified
	// Shares is set if the hosts of both views use the same ETag for the same version: by "pref" (RFC 6249, section
	// 3.3), or because the user typed both URLs.
	Shares bool
}

// Judgment is the result of a comparison.
type Judgment uint8

const (
	// Unproven means that the views neither prove that they describe the same version nor contradict each other.
	Unproven Judgment = iota
	// Same means that a strong digest or a strong validator is equal.
	Same
	// Other means that a property present in both views differs.
	Other
)

// String returns the judgment as a word.
func (j Judgment) String() string { return [...]string{"unproven", "same", "other"}[j] }

// Mark is the property that decided a comparison.
type Mark uint8

// The marks. ByNothing means that nothing decided. The other marks follow, the strongest first.
const (
	ByNothing Mark = iota
	ByDigest
	BySize
	ByETag
	ByDate
)

// Verdict is a Judgment and its reason.
type Verdict struct {
	Judgment
	By  Mark
	Why error // what differs or is missing; nil for Same
}

// Compare judges whether answer describes the same version as known.
//
//   - Different digests of one algorithm mean another version. A common strong digest means the same version (RFC 6249,
//     section 7). If each view has a strong digest of an algorithm that the other lacks, the judgment is Unproven: both
//     digests will be compared with the bytes.
//   - Different sizes mean another version, even with a common digest.
//   - Validators are compared only if they come from one host or from hosts that share them (RFC 9110, section 8.8.3).
//     A different strong ETag means another version. So does a different Last-Modified, even with the same ETag,
//     because some servers keep the ETag when a file changes. The same ETag from another host proves nothing if no
//     digest is known and a size is missing: simple ETags, as "1", are equal by chance.
//   - An equal date alone never proves the same version.
func Compare(known, answer View) Verdict {
	if err := verify.Agree(known.Digests, answer.Digests); err != nil {
		return Verdict{Other, ByDigest, err}
	}
	switch {
	case sharesStrong(known.Digests, answer.Digests):
		if differ(known.Size, answer.Size) {
			return otherSize(known, answer)
		}
		return Verdict{Judgment: Same, By: ByDigest}
	case differ(known.Size, answer.Size):
		return otherSize(known, answer)
	case verify.Strong(known.Digests) && verify.Strong(answer.Digests):
		return Verdict{Why: errAlgorithms}
	}
	return compareValidators(known, answer)
}

// compareValidators compares ETags and dates.
func compareValidators(known, answer View) Verdict {
	both := known.ETag != "" && answer.ETag != ""
	switch {
	case known.Host != answer.Host && !(known.Shares || answer.Shares):
		return Verdict{Why: fmt.Errorf("a different server answers (%s, not %s)", answer.Host, known.Host)}
	case both && known.ETag != answer.ETag:
		return Verdict{Other, ByETag, errETag}
	case !known.Modified.IsZero() && !answer.Modified.IsZero() && !known.Modified.Equal(answer.Modified):
		if both {
			return Verdict{Other, ByDate, errETagDate}
		}
		return Verdict{Other, ByDate, errDate}
	case both && known.Host != answer.Host && min(known.Size, answer.Size) < 0 &&
		!verify.Strong(known.Digests) && !verify.Strong(answer.Digests):
		return Verdict{Why: errNoSize}
	case both:
		return Verdict{Judgment: Same, By: ByETag}
	}
	return Verdict{Why: errNoMark}
}

func otherSize(known, answer View) Verdict {
	return Verdict{Other, BySize, fmt.Errorf("%d bytes instead of %d", answer.Size, known.Size)}
}

// differ reports whether two sizes are both known and different.
func differ(a, b int64) bool { return a >= 0 && b >= 0 && a != b }

// sharesStrong reports whether a and b have a strong digest in common.
func sharesStrong(a, b []verify.Claim) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Digest == y.Digest && x.Digest.Algorithm().Strong() {
				return true
			}
		}
	}
	return false
}
