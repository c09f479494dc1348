package download

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/download/state"
	"braid/internal/version"
	"braid/metalink"
	"braid/source"
	"braid/verify"
	"braid/verify/signatures"
)

// errRefused ends a fetch whose body is not wanted. It is not a failure.
var errRefused = errors.New("not wanted")

// errUntied refuses a mirror if neither a digest nor an ETag shows that the mirror has the origin's file. The mirror
// may be asked alone if the origin fails.
var errUntied = errors.New("used only if the others fail, because nothing shows that it has the same version")

// changed returns the error of a file that changed at the origin during the download. what is the change.
func changed(what string) error {
	return &fault{kind: Mismatch, what: "the file changed at the origin: " + what, final: true}
}

// errDated ends the first request to a mirror that states another date.
var errDated = errors.New("used last, because its Last-Modified differs from the server's and it has no matching digest")

// dateOf returns the Last-Modified of the server whose tag tagOf returns, or zero.
func dateOf(file metalink.File, a source.Answer) time.Time {
	if elsewhere(file, a) {
		return time.Time{}
	}
	return a.LastModified
}

// differs reports whether two sizes are known and differ.
func differs(a, b int64) bool { return a >= 0 && b >= 0 && a != b }

// elsewhere reports whether a host other than the Metalink server gave the final answer.
func elsewhere(file metalink.File, a source.Answer) bool {
	return file.Server != nil && source.HostPort(file.Server) != a.Host
}

var errOtherHost = errors.New("the server now redirects to another host, and nothing shows that it has the same file")

// tagOf returns the tag of the Metalink server or, without a Metalink server, of the server that answers.
func tagOf(file metalink.File, a source.Answer) tag {
	t := tag{metalink.StrongETag(a.ETag), a.Host}
	if file.Server != nil {
		t = tag{file.ETag, source.HostPort(file.Server)}
	}
	if t.etag == "" {
		return tag{}
	}
	return t
}

// at reports whether host is the host:port of u, or of u with https in place of http.
func at(host string, u *url.URL) bool {
	secure := *u
	secure.Scheme = "https"
	return host == source.HostPort(u) || u.Scheme == "http" && u.Port() == "" && host == source.HostPort(&secure)
}

// sameFile returns an error if a mirror's answer has another size or another digest (RFC 6249, section 7).
func sameFile(o *origin, a source.Answer, size int64, claims []verify.Claim) error {
	v := version.Compare(version.View{Size: size, Digests: claims}, version.View{Size: a.Size, Digests: a.Claims})
	switch {
	case v.Judgment != version.Other:
		return nil
	case v.By == version.BySize:
		o.claimed = a.Size
		return mismatch(o, "the file has %d bytes there, not %d", a.Size, size)
	}
	return otherDigest(o, v.Why)
}

// otherDigest returns an error with shortened digests, for lists of mirrors. It wraps err, which has the whole digests.
func otherDigest(o *origin, err error) error {
	var c *verify.ConflictError
	if !errors.As(err, &c) {
		return mismatch(o, "another digest: %w", err)
	}
	return mismatch(o, "another digest: %w", &shortConflict{c})
}

type shortConflict struct{ *verify.ConflictError }

func (e *shortConflict) Error() string {
	return fmt.Sprintf("its %v is %.12s..., want %.12s...", e.A.Digest.Algorithm(), e.B.Digest.Hex(), e.A.Digest.Hex())
}

func (e *shortConflict) Unwrap() error { return e.ConflictError }

func mismatch(o *origin, format string, args ...any) error {
	return &source.Error{URL: o.masked, Host: o.host, Fault: source.FaultMismatch, Err: fmt.Errorf(format, args...)}
}

// common returns the claims in b with a digest that is also in a.
func common(a, b []verify.Claim) (out []verify.Claim) {
	for _, x := range a {
		for _, y := range b {
			if x.Digest == y.Digest {
				out = append(out, y)
			}
		}
	}
	return out
}

// against returns the elements of claims that the claims in others contradict.
func against(claims, others []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool {
		return verify.Agree([]verify.Claim{c}, others) == nil
	})
}

// sharesAlgorithm reports whether a and b have digests of the same algorithm.
func sharesAlgorithm(a, b []verify.Claim) bool {
	return slices.ContainsFunc(a, func(x verify.Claim) bool {
		return slices.ContainsFunc(b, func(y verify.Claim) bool { return x.Digest.Algorithm() == y.Digest.Algorithm() })
	})
}

func isSHA256(c verify.Claim) bool { return c.Digest.Algorithm() == verify.SHA256 }

// vouchesForItself reports whether an answer's Content-Digest is evidence once the body is complete (RFC 9530, section
// 2). The Content-Digest of a mirror is no evidence.
func vouchesForItself(a source.Answer) bool {
	return !a.Ranged && verify.Strong(a.Content) && ownAnswers(a.Hops, asOrigin, neverSpoke) == len(a.Hops)
}

// hostVouches reports whether vouchesForItself is true and the answer came from the host of the URL itself.
func hostVouches(a source.Answer) bool {
	return vouchesForItself(a) && metalink.First(a.Hops) == len(a.Hops)
}

// errLoose means that a mirror is not used because the output is a pipe.
var errLoose = errors.New("not used, because neither a digest nor date and size show that it has the server's file, " +
	"and bytes in a pipe cannot be replaced")

func vouched(claims []verify.Claim) bool { return backed(claims, verify.HTTPS, verify.User) }

// backed reports whether claims have a SHA-256 or better that came over one of the channels from least to most.
func backed(claims []verify.Claim, least, most verify.Channel) bool {
	return slices.ContainsFunc(claims, func(c verify.Claim) bool {
		return c.Digest.Algorithm().Strong() && least <= c.Channel && c.Channel <= most
	})
}

// pinOf returns the evidence in file, the description by a server.
func pinOf(file metalink.File) state.Pin {
	var kinds []string
	for _, d := range file.Documents {
		kinds = append(kinds, d.Type)
	}
	return state.PinOf(file.Claims, kinds...)
}

// checkPin returns an error if the URL of r offered more evidence before than offered: an attacker may have removed the
// rest. If the user gives evidence or accepts less (LessProof), nothing is checked.
func (c *Client) checkPin(r *Request, offered state.Pin) error {
	if r.Trust.LessProof || r.Trust.userVouches() {
		return nil
	}
	if err := c.State.CheckPin(r.URL, offered); err != nil {
		return fail(NoEvidence, "verify", source.Mask(r.URL), err, HintLessProof)
	}
	return nil
}

// checkBoth is checkPin for x, an answer to HEAD or to GET. Some servers offer evidence for one of these methods only.
// So before it fails, checkBoth asks with the other method, and returns x with the evidence in both answers. A
// signature that the server names is an offer even if NoMetalink ignores it.
func (c *Client) checkBoth(ctx context.Context, hc network, r *Request, x resolution,
	offers func(metalink.File) state.Pin, other asker) (resolution, error) {
	check := func() error { return c.checkPin(r, offers(x.file).Raise(pinOf(x.own))) }
	missing := check()
	if missing == nil {
		return x, nil
	}
	y, err := inquire(ctx, hc, r, other, condition{}, x.spoken)
	if err != nil || y.nature == aDocument || verify.Agree(x.file.Claims, y.file.Claims) != nil {
		return x, missing
	}
	x.file.Claims, x.asked = join(x.file.Claims, y.file.Claims), join(x.asked, y.asked)
	x.own.Documents = slices.Concat(x.own.Documents, y.own.Documents)
	if len(x.file.Documents) < len(y.file.Documents) {
		x.file.Documents = y.file.Documents
	}
	return x, check()
}

const hintOtherFile Hint = "the server has a different file from the requested one"

// sharesTag reports whether theirs, a mirror's answer, has the known ETag and comes from the host that gave the ETag,
// or from a host that shares ETags. The same ETag from any other host has no meaning (RFC 9110, section 8.8.3).
func (k *known) sharesTag(theirs version.View) bool {
	return theirs.ETag != "" && theirs.ETag == k.tag.etag && (theirs.Shares || theirs.Host == k.tag.host)
}

// keepPin records the evidence that the URL offered, now that the evidence has proven true. Only the answers of the
// URL's own host count. The evidence in documents, lists and answers of other servers may be missing the next time.
// A digest of an earlier version counts if it proved the file, because some servers give each answer a new date. With
// NoMetalink, keepPin records nothing, because the file may be a document that describes the file of this URL.
func (g *getter) keepPin(proof verify.Proof) {
	own := g.req.Described == nil
	if own && g.req.Trust.LessProof && g.carried.origin == g.req.URL {
		g.c.State.ForgetPin(g.req.URL)
	}
	if own && !g.req.NoMetalink {
		former := common(proof.Evidence(), g.carried.former)
		g.c.State.KeepPin(g.req.URL, g.carried.pin.Raise(state.PinOf(former)))
	}
}

// checkPinned checks the pin of the URL for a file that no trusted key has signed. Earlier checks skipped the pin if a
// signature was expected (userVouches), or were not made because an earlier run had left the whole file.
func (g *getter) checkPinned(proof verify.Proof) error {
	if proof.Signed() || g.req.Described != nil {
		return nil
	}
	unsigned := *g.req
	unsigned.Trust.Anchors = nil
	return g.c.checkPin(&unsigned, g.carried.offers(g.carried.file).Raise(g.carried.pin))
}

// checkInPlace returns an error if the document that describes the file offers less evidence than the URL did before.
func (g *getter) checkInPlace(described *Request) error {
	var kinds []string
	for _, sig := range described.Trust.Signatures {
		if sig.Data != nil {
			kinds = append(kinds, signatures.Of(sig.Data).Types[0])
		}
	}
	return g.c.checkPin(&g.asked, state.PinOf(withoutUser(described.Trust.Claims), kinds...))
}
