package metalink

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/linkheader"
	"braid/verify"
)

// A HopError reports a response that is malformed or contradicts itself or another response. It wraps a
// *verify.DigestError or a *verify.ConflictError.
type HopError struct {
	Hop int    // index of the response
	URL string // scheme and host of the response's URL
	Err error
}

func (e *HopError) Error() string { return fmt.Sprintf("response of %+q: %v", e.URL, e.Err) }

// Unwrap returns the underlying error.
func (e *HopError) Unwrap() error { return e.Err }

// FromHops reads the responses to one request in order. trusted reports that the user gave a strong digest. Links are
// then used even if the server sent no digest.
//
// The error is a *HopError. The returned File then describes only the responses before the faulty one. If File.Server
// is set, a mirror sent the faulty response, and the other mirrors can still be used.
func FromHops(hops []Hop, trusted bool) (File, error) {
	c := chain{
		hops: hops, trusted: trusted, digests: make([][]verify.Claim, len(hops)),
		server: -1, file: File{Size: -1},
	}
	err := c.read()
	c.file.Claims = c.claims()
	c.file.NoDigest = c.undigested && c.server < 0
	Sort(c.file.Mirrors)
	return c.file, err
}

// A chain is the state of reading the responses of a redirect chain.
type chain struct {
	hops       []Hop
	trusted    bool
	digests    [][]verify.Claim // by response
	server     int              // index of the Metalink server; -1 if none was found yet
	undigested bool             // links came without a strong digest
	file       File
}

func (c *chain) read() error {
	over := verify.HTTPS
	for i, h := range c.hops {
		if h.URL == nil {
			h.URL = &url.URL{}
		}
		if !h.Proven() {
			over = verify.HTTP // also for later responses, because an attacker may have changed the redirect
		}
		if h.Status >= 400 {
			continue // its fields describe an error page
		}
		if err := c.addDigests(i, h, over); err != nil {
			return &HopError{Hop: i, URL: h.URL.Scheme + "://" + h.URL.Host, Err: err}
		}
		c.readLinks(i, h)
	}
	return nil
}

// addDigests records the digests of h, which must not contradict digests of earlier responses (RFC 6249, section 7).
func (c *chain) addDigests(i int, h Hop, over verify.Channel) error {
	claims, malformed, err := verify.ReadHeader(h.Header, over)
	if err != nil {
		return err
	}
	earlier := slices.Concat(c.digests...)
	for _, m := range malformed {
		if !m.Note && !c.trusted && !verify.Strong(earlier) && !verify.Strong(claims) {
			return m
		}
		c.ignore(m.Field+": "+m.Value, m.Why)
	}
	if err := verify.Agree(earlier, claims); err != nil {
		return err
	}
	c.digests[i] = claims
	return nil
}

// instanceDigest reports whether claims have a strong digest from Digest or Repr-Digest.
func instanceDigest(claims []verify.Claim) bool {
	return verify.Strong(slices.DeleteFunc(slices.Clone(claims), verify.Claim.FromStore))
}

// readLinks adds the links of h to the file if h is from the Metalink server.
//
// RFC 6249, section 2: "If Metalink clients find Link header fields from mirrors that in turn list mirrors [...] they
// MUST discard such Link header fields". Section 6: "If Instance Digests are not provided by the Metalink servers, the
// Link header fields pertaining to this specification MUST be ignored".
func (c *chain) readLinks(i int, h Hop) {
	links := c.ownLinks(h)
	switch {
	case len(links) == 0:
	case c.server >= 0:
		c.ignoreAll(links, "listed by a mirror")
	case !c.trusted && !instanceDigest(c.digests[i]):
		c.undigested = true
		c.ignoreAll(links, "the response has no strong digest")
	default:
		c.server = i
		c.file.Server = h.URL
		c.file.ETag = StrongETag(h.Header["Etag"]...)
		c.addLinks(links, h)
	}
}

// ownLinks returns the links of h that have a relation of RFC 6249 and are about the resource of h itself.
func (c *chain) ownLinks(h Hop) []linkheader.Link {
	var links []linkheader.Link
	for _, l := range c.parse(h.Header["Link"]) {
		switch {
		case !l.Rel(linkheader.Duplicate) && !l.Rel(linkheader.DescribedBy):
		case elsewhere(l, h.URL):
			c.ignore(l.Target, "its anchor is a different resource")
		default:
			links = append(links, l)
		}
	}
	return links
}

// elsewhere reports whether the context of l is not base (RFC 8288, section 3.2).
func elsewhere(l linkheader.Link, base *url.URL) bool {
	anchor, ok := l.Anchor()
	if !ok {
		return false
	}
	u, err := base.Parse(anchor)
	return err != nil || u.Fragment != "" || u.Scheme != base.Scheme || resource(u) != resource(base)
}

// claims returns the digests of the file. It leaves out the digests of mirrors, which were only compared. After the
// Metalink server's response or, without a Metalink server, after the first response with a strong digest, all responses
// are those of mirrors, except to the first URL, requested again, and its redirects on the same server.
func (c *chain) claims() []verify.Claim {
	var all []verify.Claim
	own, mirrors := true, false
	for i, claims := range c.digests {
		first, u := c.hops[0].URL, c.hops[i].URL
		own = address.SameServer(first, u) && (own || u.RequestURI() == first.RequestURI())
		if mirrors && !own {
			continue
		}
		for _, claim := range claims {
			// Trust only decreases along the chain, so the first claim of a digest is the most trusted.
			same := func(c verify.Claim) bool { return c.Digest == claim.Digest }
			if !slices.ContainsFunc(all, same) {
				all = append(all, claim)
			}
		}
		mirrors = mirrors || i == c.server || c.server < 0 && verify.Strong(claims)
	}
	verify.SortClaims(all)
	return all
}

// StrongETag returns the entity tag in the lines of an ETag field, with its quotes. It returns "" if the tag is weak or
// invalid (RFC 9110, section 8.8.3), and for the tag "", which some servers send for every file.
func StrongETag(lines ...string) string {
	if len(lines) != 1 {
		return ""
	}
	tag := strings.Trim(lines[0], " \t")
	if len(tag) < 3 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return ""
	}
	bad := func(c rune) bool { return c <= ' ' || c == '"' || c == 0x7f }
	if strings.ContainsFunc(tag[1:len(tag)-1], bad) {
		return ""
	}
	return tag
}
