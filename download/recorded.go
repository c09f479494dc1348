package download

import (
	"slices"
	"strings"
	"time"

	"braid/download/state"
	"braid/internal/partfile"
	"braid/source"
	"braid/verify"
)

// recorded holds the recorded versions of the existing file, which existingFile.recall finds. These versions decide
// about the condition of the first request, how an answer relates to the existing file, and which file may replace it.
type recorded struct {
	here *state.Version // recorded for the URL; nil: none
	// before is the version recorded for another URL; nil: none. After a document came in place of the file, it is the
	// version recorded for the URL of the document.
	before   *state.Version
	replaces bool // a file exists, which the server's file may replace
}

// suffices reports whether r demands no more proof than there was when the existing file was downloaded.
func (v *recorded) suffices(r *Request) bool {
	return !v.identified() || !verify.Strong(r.Trust.Claims) && !r.Trust.Anchors.Any() &&
		(r.Trust.Require == RequireNothing || v.here.Over != 0)
}

// condition returns the condition for the first request of r. With AllowOlder, a date alone is no condition, because a
// 304 would not distinguish an older file from the same file.
func (v *recorded) condition(r *Request) condition {
	switch here := v.here; {
	case here == nil:
		return knownBy(r)
	case !v.suffices(r), r.IfExists.AllowOlder && here.ETag == "":
		return condition{}
	default:
		return condition{here.ETag, here.LastModified}
	}
}

// stepsDown reports whether a proven file would be replaced by a newer file with less proof (rule 56).
func (v *recorded) stepsDown(r *Request, proof verify.Proof) bool {
	less := func(here *state.Version) bool {
		return here != nil && !slices.Contains(proof.Digests(), here.Digest) && channelOfProof(proof) < here.Over
	}
	return v.replaces && !r.Trust.LessProof && (less(v.here) || less(v.before))
}

// relation returns how the answer x relates to the existing file. The date and ETag of a mirror that answered for a
// server with a digest do not count.
func (v *recorded) relation(x inquiry) relation {
	if x.wrong != nil || x.decides() {
		return unknown
	}
	if v.older(x.answer) {
		return older
	}
	return compare(v.here, x.answer)
}

// outdated reports whether the part file with the record prior is of an older version than the existing file, and so
// must not replace that file.
func (v *recorded) outdated(r *Request, prior partfile.Identity) bool {
	then := source.Answer{ETag: prior.ETag, LastModified: prior.Date, Host: prior.Host, Size: prior.Size}
	return r.IfExists.IfNewer && r.keepsNewer() && v.older(then)
}

// identified reports whether the digest of the existing version is known.
func (v *recorded) identified() bool { return v.here != nil && !v.here.Digest.IsZero() }

// older reports whether the answer a is about an older version than the existing file.
func (v *recorded) older(a source.Answer) bool {
	return compare(v.here, a) == older || compare(v.before, a) == older
}

// channelOfProof returns the channel of the best evidence of p. It is User for claims of the user and for signatures,
// and 0 without evidence.
func channelOfProof(p verify.Proof) verify.Channel {
	if !p.Verified() {
		return 0
	}
	best := channelOfClaims(p.Evidence())
	if best == 0 || best >= verify.Signed || p.Signed() {
		return verify.User
	}
	return best
}

// A relation is how an answer relates to the existing file.
type relation uint8

const (
	unknown relation = iota // the server's file may be newer
	same
	older
)

// compare compares the ETag and the date of an answer with those in here, the version of the existing file. Equal
// values mean the same file only if both are from one host. An earlier date from any host means an older file, because
// the asked server may redirect to a server with an older copy.
func compare(here *state.Version, a source.Answer) relation {
	if here == nil {
		return unknown
	}
	elsewhere := here.Host != "" && here.Host != a.Host
	if !elsewhere && a.ETag != "" && opaque(a.ETag) == opaque(here.ETag) {
		return same
	}
	then := usable(a.LastModified)
	switch {
	case then.IsZero() || here.LastModified.IsZero():
		return unknown
	case predates(a, here):
		return older
	case elsewhere:
		return unknown
	case then.Equal(here.LastModified) && (a.ETag == "" || here.ETag == "") && !differs(a.Size, here.Size):
		return same
	}
	return unknown
}

// predates reports whether the answer a has an earlier date than here.
func predates(a source.Answer, here *state.Version) bool {
	then := usable(a.LastModified)
	return here != nil && !then.IsZero() && then.Before(here.LastModified)
}

// opaque returns etag in the form for the weak comparison of If-None-Match (RFC 9110, section 8.8.3.2).
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }

// firstDate is the earliest usable date. Earlier dates, and dates in the future, are from clocks that were not set.
var firstDate = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

const dateSlack = time.Hour

// usable returns t in UTC and in whole seconds, or zero if t is from a clock that was not set.
func usable(t time.Time) time.Time {
	if t.Before(firstDate) || t.After(time.Now().Add(dateSlack)) {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
