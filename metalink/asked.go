package metalink

import (
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/linkheader"
	"braid/verify"
)

// Own is how many answers at the beginning of a chain are the asked server's, or of a server to which it led without a
// word of the file. What those say counts as its word.
func Own(hops []Hop) int {
	plain := true // no redirect said anything of the file
	for i, h := range hops {
		if !plain && !AskedAt(hops, i) {
			return i
		}
		plain = plain && !h.speaks()
	}
	return len(hops)
}

// AskedAt reports whether an answer of a chain comes from the asked server: the host of the first URL, where http may
// become https, or the Metalink server if no answer before it said anything of the file.
func AskedAt(hops []Hop, at int) bool {
	if sameHost(hops[0].URL, hops[at].URL) {
		return true
	}
	for _, h := range hops[:at+1] {
		if h.speaks() {
			return h.serves() && sameHost(h.URL, hops[at].URL)
		}
	}
	return false
}

// serves reports whether an answer makes its server the Metalink server: it has Links and a strong digest (C2).
func (h Hop) serves() bool {
	claims, _ := verify.FromHeader(h.Header, verify.HTTP)
	return h.Status < 400 && instanceDigest(claims) && h.links()
}

// speaks reports whether an answer says anything of the file beside where it is.
func (h Hop) speaks() bool {
	said := func(name string) bool { return len(h.Header[name]) > 0 && h.Header[name][0] != "" }
	return h.Status < 400 && (said("Digest") || said("Repr-Digest") || h.links() || h.stored())
}

// stored reports whether an answer has a digest in a store's field.
func (h Hop) stored() bool {
	claims, _, _ := verify.ReadHeader(h.Header, verify.HTTP)
	return slices.ContainsFunc(claims, verify.Claim.FromStore)
}

// links reports whether an answer has Links with a relation of RFC 6249.
func (h Hop) links() bool {
	links, _ := linkheader.Parse(h.Header["Link"])
	return slices.ContainsFunc(links, func(l linkheader.Link) bool {
		return l.Rel(linkheader.Duplicate) || l.Rel(linkheader.DescribedBy)
	})
}

// sameHost reports whether b is the server of a, where http may become https.
func sameHost(a, b *url.URL) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.Scheme == "http" && b.Scheme == "https":
		return strings.EqualFold(address.URL(a).Hostname(), address.URL(b).Hostname())
	}
	return a.Scheme == b.Scheme && address.HostPort(a) == address.HostPort(b)
}
