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

// recorded holds the recorded versions of the existing file, which existingFile.recall finds. They decide the condition of
// the first request, how an answer relates to the existing file, and which file may replace it.
type recorded struct {
	here *state.Version // of the URL; nil: none
	// before is the same of another URL. It is the field here of the getter that found a document in place of
	// the file, whose places are other servers.
	before   *state.Version
	replaces bool // a file exists, and only the server can tell whether another one is newer
}

// suffices reports whether nothing more must be proven than when the file was downloaded.
func (v *recorded) suffices(r *Request) bool {
	return !v.identified() || !verify.Strong(r.Trust.Claims) && !r.Trust.Anchors.Any() &&
		(r.Trust.Require == RequireNothing || v.here.Over != 0)
}

// condition returns that of the first request. A date alone does not distinguish an older file from the same
// one.
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

// stepsDown reports whether a proven file would be replaced by a newer one with less proof (rule 56).
func (v *recorded) stepsDown(r *Request, proof verify.Proof) bool {
	less := func(here *state.Version) bool {
		return here != nil && !slices.Contains(proof.Digests(), here.Digest) && channelOfProof(proof) < here.Over
	}
	return v.replaces && !r.Trust.LessProof && (less(v.here) || less(v.before))
}

// relation returns how an answer relates to the existing file. The date and ETag of a mirror that answered
// for a server with a digest do not count.
func (v *recorded) relation(x inquiry) relation {
	if x.wrong != nil || x.decides() {
		return unknown
	}
	if v.older(x.answer) {
		return older
	}
	return compare(v.here, x.answer)
}

// outdated reports whether an earlier run left a part of an older version than that of the existing file,
// which must not be replaced by it.
func (v *recorded) outdated(r *Request, prior partfile.Identity) bool {
	then := source.Answer{ETag: prior.ETag, LastModified: prior.Date, Host: prior.Host, Size: prior.Size}
	return r.IfExists.IfNewer && r.keepsNewer() && v.older(then)
}

// identified reports whether the digest of the existing version is known.
func (v *recorded) identified() bool { return v.here != nil && !v.here.Digest.IsZero() }

// older reports whether an answer is about an older file than the existing one.
func (v *recorded) older(a source.Answer) bool {
	return compare(v.here, a) == older || compare(v.before, a) == older
}

// channelOfProof returns the channel of the best evidence. That of a signer or of the user was checked here.
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
	unknown relation = iota // it may be newer
	same
	older
)

// compare compares ETags and dates. Equal ones show that a file is the same only if they are of one server. An earlier
// date of any server keeps the file, because the asked server may redirect to another one that is behind.
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
	case then.Before(here.LastModified):
		return older
	case elsewhere:
		return unknown
	case then.Equal(here.LastModified) && (a.ETag == "" || here.ETag == "") && !differs(a.Size, here.Size):
		return same
	}
	return unknown
}

// opaque returns a tag for the weak comparison, which If-None-Match uses (RFC 9110, section 8.8.3.2).
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }

// firstDate is the earliest usable date. Earlier dates, and those in the future, are of clocks that were never set.
var firstDate = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

const dateSlack = time.Hour

// usable returns t, or zero if the clock that it is from was not set.
func usable(t time.Time) time.Time {
	if t.Before(firstDate) || t.After(time.Now().Add(dateSlack)) {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
