package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"braid/address"
	"braid/linkheader"
	"braid/metalink"
)

// maxLinkBytes limits the Link fields of one answer, because clients limit the header section: braid to 256 KiB (rule
// 20).
const maxLinkBytes = 64 << 10

// links returns the values of the Link fields for a file, one value for each field, as other Metalink servers send
// them.
func (s *Server) links(r *http.Request, name string, v *version) []string {
	var links []linkheader.Link
	if s.mirrorOf != nil {
		links = append(links, newLink(below(s.mirrorOf, name), "canonical"))
	}
	links = append(links, s.describedBy(name, v)...)
	links = append(links, s.duplicates(r, name)...)
	var lines []string
	left := maxLinkBytes
	for _, l := range links {
		line := l.String()
		if left -= len(line); left < 0 {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

func newLink(target, relation string, params ...linkheader.Param) linkheader.Link {
	rel := linkheader.Param{Name: "rel", Value: relation}
	return linkheader.Link{Target: target, Params: append([]linkheader.Param{rel}, params...)}
}

// duplicates returns the links to mirrors, in order of their pri, the lowest first (RFC 6249, section 3).
func (s *Server) duplicates(r *http.Request, name string) []linkheader.Link {
	var links []linkheader.Link
	for _, m := range s.mirrorsOf(name, r.Host, prefix(r)+r.URL.Path) {
		target, _ := m.target(name)
		m.Pref = m.Pref && !address.SchemeOf(m.URL).NoValidators // V7
		m.Depth = m.depthOf(name)
		links = append(links, newLink(target, linkheader.Duplicate, m.params()...))
	}
	return links
}

// mirrorsOf returns the mirrors to list for the file name, except a mirror with the given host and path.
func (s *Server) mirrorsOf(name, host, path string) (named []Mirror) {
	for _, m := range s.mirrors {
		if len(named) >= s.maxLinks {
			break
		}
		target, ok := m.target(name)
		if ok && len(target) <= maxURL && !isSelf(host, path, m.URL, target) {
			named = append(named, m)
		}
	}
	return named
}

// At returns the location at m of the file at the path name below the folder, in the form for documents. It reports
// false if m is a mirror of another single file.
func (m Mirror) At(name string) (at metalink.Mirror, ok bool) {
	target, ok := m.target(name)
	u, err := url.Parse(target)
	if !ok || err != nil {
		return metalink.Mirror{}, false
	}
	return metalink.Mirror{URL: u, Pri: cmp.Or(m.Pri, linkheader.LowestPri), Geo: strings.ToUpper(m.Geo)}, true
}

// target returns the URL of the file name at m. It reports false if m is a mirror of another single file.
func (m Mirror) target(name string) (string, bool) {
	if strings.HasSuffix(m.URL.EscapedPath(), "/") {
		return below(m.URL, name), true
	}
	return plainURL(m.URL), strings.HasSuffix(m.URL.Path, "/"+name)
}

// below returns the URL of the file name in the folder at base.
func below(base *url.URL, name string) string { return plainURL(base) + escapePath(name) }

// depthOf returns m.Depth, limited to the served folder: nothing is known about what surrounds the folder at m.URL.
func (m Mirror) depthOf(name string) int { return min(m.Depth, strings.Count(name, "/")+1) }

// isSelf reports whether target is the requested URL. Servers often share one list of mirrors, and a client must
// discard a server that lists itself (C2).
func isSelf(host, path string, u *url.URL, target string) bool {
	if !strings.EqualFold(u.Host, host) {
		return false
	}
	t, err := url.Parse(target)
	return err == nil && t.Path == path
}

// describedBy returns the links to documents about the file, which are beside the file or are generated (RFC 6249,
// sections 4 and 5; V5, V8). The references are relative, so they are valid even if a proxy or http.StripPrefix changes
// the path of the folder.
func (s *Server) describedBy(name string, v *version) []linkheader.Link {
	base := path.Base(name)
	var links []linkheader.Link
	for _, kind := range documentKinds {
		described, ok := s.described(name, kind, v)
		if !ok && !s.offers(v, kind) {
			continue
		}
		l := newLink(escapePath(base+kind.suffix), linkheader.DescribedBy, linkheader.Param{Name: "type", Value: kind.media})
		if described != "" && described != base && utf8.ValidString(described) {
			l.Params = append(l.Params, nameParam(described))
		}
		links = append(links, l)
	}
	return links
}

// nameParam returns the parameter for the name of the file in a document. A name that is not ASCII needs name*, in the
// form of RFC 8187.
func nameParam(name string) linkheader.Param {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return linkheader.Param{Name: "name*", Value: name}
	}
	return linkheader.Param{Name: "name", Value: name}
}
