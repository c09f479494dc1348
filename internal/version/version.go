// Package version judges whether two descriptions of a file are of the same version of it. It is the only judge:
// whoever compares an answer with an earlier one, with another server's, with a journal or with a file in place asks
// Compare.
//
// Two questions are other ones, and package download answers them where they come up. Whether a file is older or newer
// (-N) goes by dates and by the weak comparison of ETags, and no date makes two versions the same here. Whether a
// server says again all that it said before (samples) is asked where nothing could prove that a version is the same,
// and a field that is missing by now refuses, which is no contradiction here.
//
// It compares and does not trust. Who may state a digest or a size is decided before a fact gets into a View.
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
	errETagDate   = errors.New("the same ETag, and another Last-Modified")
	errAlgorithms = errors.New("no digest of the same algorithm")
	errNoMark     = errors.New("neither a digest nor a strong ETag on both sides")
)

// A View is what one party shows of its version of a file.
type View struct {
	Size     int64          // in bytes; -1 if unknown
	Digests  []verify.Claim // of the whole file
	ETag     string         // a strong entity tag with its quotes; "" if there is none
	Modified time.Time      // Last-Modified; zero if there is none
	Host     string         // the host:port that gave ETag and Modified
	// Shares says that this host and the other one promised to give a version the same ETag: by "pref" (RFC 6249,
	// section 3.3), or by the user, who typed both URLs.
	Shares bool
}

// A Judgment says whether two views are of one version.
type Judgment uint8

const (
	// Unproven: nothing that both show ties them together, and nothing contradicts it.
	Unproven Judgment = iota
	// Same: a strong digest or a strong validator is the same.
	Same
	// Other: something that both show differs.
	Other
)

// String is the judgment in a word.
func (j Judgment) String() string { return [...]string{"unproven", "same", "other"}[j] }

// A Mark is what decided.
type Mark uint8

// The marks, the strongest first.
const (
	ByNothing Mark = iota
	ByDigest
	BySize
	ByETag
	ByDate
)

// A Verdict is a Judgment with what decided it.
type Verdict struct {
	Judgment
	By  Mark
	Why error // what differs or is missing; nil for Same
}

// Compare judges whether answer is of the version that known describes.
//
//   - A digest of one algorithm with two values is another version, one strong digest the same (RFC 6249, section 7). Where each
//     gives a strong digest of an algorithm that the other lacks, nothing else decides: both digests will be held against the bytes.
//   - Another size is another version.
//   - Validators are compared only if one host gave them, or hosts that share them (RFC 9110, section 8.8.3): another strong ETag is
//     another version. Another Last-Modified is one, too, also beside the same ETag: servers exist that keep the ETag when a file changes.
//   - A date alone never proves that two versions are the same.
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
		return Verdict{Why: fmt.Errorf("another server answers (%s, not %s)", answer.Host, known.Host)}
	case both && known.ETag != answer.ETag:
		return Verdict{Other, ByETag, errETag}
	case !known.Modified.IsZero() && !answer.Modified.IsZero() && !known.Modified.Equal(answer.Modified):
		if both {
			return Verdict{Other, ByDate, errETagDate}
		}
		return Verdict{Other, ByDate, errDate}
	case both:
		return Verdict{Judgment: Same, By: ByETag}
	}
	return Verdict{Why: errNoMark}
}

func otherSize(known, answer View) Verdict {
	return Verdict{Other, BySize, fmt.Errorf("%d bytes instead of %d", answer.Size, known.Size)}
}

// differ compares two sizes, if both are known.
func differ(a, b int64) bool { return a >= 0 && b >= 0 && a != b }

// sharesStrong reports whether one strong digest is in both.
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
