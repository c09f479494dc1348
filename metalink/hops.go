package metalink

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"braid/linkheader"
	"braid/verify"
)

// A HopError says that an answer is malformed or contradicts itself or another. It
// wraps a *verify.DigestError or a *verify.ConflictError.
type HopError struct {
	Hop int    // index of the answer
	URL string // its scheme and host
	Err error
}

func (e *HopError) Error() string { return fmt.Sprintf("answer of %+q: %v", e.URL, e.Err) }

// Unwrap gives what is wrong.
func (e *HopError) Unwrap() error { return e.Err }

// FromHops reads the answers to one request, the first one first. With trusted, the user supplied a strong
// digest, which makes links usable that came without one.
//
// The error is a *HopError. The file is then what the answers before that one said: if its Server is set,
// the wrong answer is a mirror's, and the other mirrors are still of use.
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

// A chain is a redirect chain while it is read.
type chain struct {
	hops       []Hop
	trusted    bool
	digests    [][]verify.Claim // by each answer
	server     int              // index of the Metalink server, -1 while there is none
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
			over = verify.HTTP // and so is what follows: an attacker on the way may have written the redirect to it
		}
		if h.Status >= 400 {
			continue // its fields speak of an error page
		}
		if err := c.addDigests(i, h, over); err != nil {
			return &HopError{Hop: i, URL: h.URL.Scheme + "://" + h.URL.Host, Err: err}
		}
		c.readLinks(i, h)
	}
	return nil
}

// addDigests notes the digests of h, which must not contradict those of an earlier answer (RFC 6249, section 7).
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

// instanceDigest reports whether a strong digest of Digest or Repr-Digest is among claims.
func instanceDigest(claims []verify.Claim) bool {
	return verify.Strong(slices.DeleteFunc(slices.Clone(claims), verify.Claim.FromStore))
}

// readLinks takes the links of h, if h is the Metalink server.
//
// RFC 6249, section 2: "If Metalink clients find Link header fields from mirrors that in turn list mirrors
// [...] they MUST discard such Link header fields". Section 6: "If Instance Digests are not provided by
// the Metalink servers, the Link header fields pertaining to this specification MUST be ignored".
func (c *chain) readLinks(i int, h Hop) {
	links := c.ownLinks(h)
	switch {
	case len(links) == 0:
	case c.server >= 0:
		c.ignoreAll(links, "listed by a mirror")
	case !c.trusted && !instanceDigest(c.digests[i]):
		c.undigested = true
		c.ignoreAll(links, "no strong digest beside it")
	default:
		c.server = i
		c.file.Server = h.URL
		c.file.ETag = StrongETag(h.Header["Etag"]...)
		c.addLinks(links, h)
	}
}

// ownLinks returns the links of h with the relations of RFC 6249 and with h itself as their context.
func (c *chain) ownLinks(h Hop) []linkheader.Link {
	var links []linkheader.Link
	for _, l := range c.parse(h.Header["Link"]) {
		switch {
		case !l.Rel(linkheader.Duplicate) && !l.Rel(linkheader.DescribedBy):
		case elsewhere(l, h.URL):
			c.ignore(l.Target, "its anchor is another resource")
		default:
			links = append(links, l)
		}
	}
	return links
}

// elsewhere reports whether l has a context other than base (RFC 8288, section 3.2).
func elsewhere(l linkheader.Link, base *url.URL) bool {
	anchor, ok := l.Anchor()
	if !ok {
		return false
	}
	u, err := base.Parse(anchor)
	return err != nil || u.Fragment != "" || u.Scheme != base.Scheme || resource(u) != resource(base)
}

// claims returns the digests that count. Those of mirrors were compared and do not count. Mirrors are the answers after
// the server's or, without one, after the first with a strong digest.
func (c *chain) claims() []verify.Claim {
	var all []verify.Claim
	for i, claims := range c.digests {
		for _, claim := range claims {
			// Trust only falls along the chain, so of one digest the first claim is the best.
			same := func(c verify.Claim) bool { return c.Digest == claim.Digest }
			if !slices.ContainsFunc(all, same) {
				all = append(all, claim)
			}
		}
		if i == c.server || c.server < 0 && verify.Strong(claims) {
			break
		}
	}
	verify.SortClaims(all)
	return all
}

// StrongETag is the entity tag that the lines of an ETag field give, with its quotes, if that is one and a strong
// one (RFC 9110, section 8.8.3); else it is empty. So it is for the tag "", which servers give to any file.
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
