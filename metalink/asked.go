package metalink

import (
	"slices"

	"braid/address"
	"braid/linkheader"
	"braid/verify"
)

// Own returns how many of hops, counted from the first, count as answers of the asked server. These are the asked
// server's own answers, and answers of a server to which it redirected before any answer described the file.
func Own(hops []Hop) int {
	plain := true // no answer so far has described the file
	for i, h := range hops {
		if !plain && !AskedAt(hops, i) {
			return i
		}
		plain = plain && !h.speaks()
	}
	return len(hops)
}

// First returns how many of hops, counted from the first, came from the server of the first URL.
func First(hops []Hop) int {
	for i, h := range hops {
		if !address.SameServer(hops[0].URL, h.URL) {
			return i
		}
	}
	return len(hops)
}

// AskedAt reports whether hops[at] comes from the asked server. The asked server is the host of the first URL, where
// http may become https on the default ports. If no answer before the Metalink server's answer describes the file, the
// Metalink server counts as the asked server, too.
func AskedAt(hops []Hop, at int) bool {
	if address.SameServer(hops[0].URL, hops[at].URL) {
		return true
	}
	for _, h := range hops[:at+1] {
		if h.speaks() {
			return h.serves() && address.SameServer(h.URL, hops[at].URL)
		}
	}
	return false
}

// serves reports whether an answer makes its server the Metalink server: it has links and a strong digest (C2).
func (h Hop) serves() bool {
	claims, _ := verify.FromHeader(h.Header, verify.HTTP)
	return h.Status < 400 && instanceDigest(claims) && h.links()
}

// speaks reports whether an answer describes the file by a digest or a link.
func (h Hop) speaks() bool {
	said := func(name string) bool { return len(h.Header[name]) > 0 && h.Header[name][0] != "" }
	return h.Status < 400 && (said("Digest") || said("Repr-Digest") || h.links() || h.stored())
}

// stored reports whether an answer has a strong digest in a field of an object store or forge.
func (h Hop) stored() bool {
	claims, _, _ := verify.ReadHeader(h.Header, verify.HTTP)
	return slices.ContainsFunc(claims, func(c verify.Claim) bool { return c.FromStore() && c.Digest.Algorithm().Strong() })
}

// links reports whether an answer has links with a relation of RFC 6249.
func (h Hop) links() bool {
	links, _ := linkheader.Parse(h.Header["Link"])
	return slices.ContainsFunc(links, func(l linkheader.Link) bool {
		return l.Rel(linkheader.Duplicate) || l.Rel(linkheader.DescribedBy)
	})
}
