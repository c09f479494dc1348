package metalink

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/linkheader"
)

// Sort sorts mirrors in the order in which they should be tried: preferred mirrors before others, and in both groups by
// ascending priority (RFC 6249, section 3.1). A mirror without a priority comes last. The sort is stable.
func Sort(mirrors []Mirror) {
	slices.SortStableFunc(mirrors, func(a, b Mirror) int {
		switch {
		case a.Pref && !b.Pref:
			return -1
		case b.Pref && !a.Pref:
			return +1
		}
		return cmp.Compare(cmp.Or(a.Pri, NoPriority), cmp.Or(b.Pri, NoPriority))
	})
}

// Near moves the mirrors in the given countries to the front, in the order of the countries. Preferred mirrors stay
// before others, because they are known to have the same file. The order within a country does not change.
func Near(mirrors []Mirror, countries ...string) {
	rank := func(m Mirror) int {
		n := slices.Index(countries, m.Geo)
		if n < 0 || m.Geo == "" {
			n = len(countries)
		}
		if !m.Pref {
			n += len(countries) + 1
		}
		return n
	}
	slices.SortStableFunc(mirrors, func(a, b Mirror) int { return cmp.Compare(rank(a), rank(b)) })
}

// addLinks adds links to the file's mirrors and documents. h is the response of the Metalink server that sent the
// links.
func (c *chain) addLinks(links []linkheader.Link, h Hop) {
	seen := c.selves(h.URL)
	for _, l := range links {
		u, reason := Resolve(l.Target, h.URL)
		if reason != "" {
			c.ignore(l.Target, reason)
			continue
		}
		if l.Rel(linkheader.Duplicate) {
			c.addMirror(l, u, h.From, seen)
		}
		if l.Rel(linkheader.DescribedBy) {
			c.file.addDocument(MetaURL{URL: u, Type: l.Type(), Name: l.Name(), By: h.From}, l.Target)
		}
	}
}

// selves returns the URLs of all responses of the server of base. They must not be added as mirrors. RFC 6249, section
// 2: links "from a Metalink server listing itself as a mirror" MUST be discarded.
func (c *chain) selves(base *url.URL) map[string]string {
	seen := map[string]string{}
	for _, h := range c.hops {
		if h.URL != nil && authority(h.URL) == authority(base) {
			noteSelf(seen, h.URL)
		}
	}
	return seen
}

func noteSelf(seen map[string]string, u *url.URL) {
	seen["http:"+resource(u)] = "the server itself"
	seen["https:"+resource(u)] = "the server itself"
}

// addMirror adds a mirror, unless its URL is in seen or the file has MaxMirrors mirrors. seen maps URLs to the reason
// why a mirror with that URL is ignored.
func (c *chain) addMirror(l linkheader.Link, u *url.URL, by address.Scope, seen map[string]string) {
	switch reason, again := seen[place(u)]; {
	case again:
		c.ignore(l.Target, reason)
	case len(c.file.Mirrors) >= MaxMirrors:
		c.ignore(l.Target, tooMany)
	default:
		seen[place(u)] = listed
		c.file.Mirrors = append(c.file.Mirrors, Mirror{
			URL: u, Pri: l.Pri(), Geo: l.Geo(), Depth: l.Depth(), By: by,
			// Section 3.3: "FTP mirrors are considered 'normal', as they do not emit ETags".
			Pref: l.Pref() && !address.SchemeOf(u).NoValidators,
		})
	}
}

// Resolve resolves target relative to base. It removes the fragment and the user information, because credentials must
// not come from a server. If the URL cannot be used, it returns the reason.
func Resolve(target string, base *url.URL) (u *url.URL, reason string) {
	if len(target) > maxURL {
		return nil, "over 8 KiB"
	}
	u, err := base.Parse(target)
	if err != nil {
		return nil, "not a URL"
	}
	switch {
	case !address.HasScheme(u):
		return nil, "its scheme is not " + address.ListSchemes()
	case u.Hostname() == "":
		return nil, "no host"
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if len(u.String()) > maxURL {
		return nil, "over 8 KiB"
	}
	return u, ""
}

// Reasons for ignoring mirrors and documents.
const (
	listed  = "listed before"
	tooMany = "beyond the first 200 mirrors"
)

// place returns a key that is equal for two URLs if they are the same mirror.
func place(u *url.URL) string { return u.Scheme + ":" + resource(u) }

// authority returns the host and port of u in normalized form. http and https on their default ports are equal.
func authority(u *url.URL) string {
	port := u.Port()
	if port == address.SchemeOf(u).Port {
		port = ""
	}
	return "//[" + strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") + "]:" + port
}

// resource returns the URL without its scheme in normalized form.
func resource(u *url.URL) string {
	return authority(u) + "/" + strings.TrimPrefix(u.EscapedPath(), "/") + "?" + u.RawQuery
}

// parse parses the lines of the Link field. Malformed links are ignored.
func (c *chain) parse(lines []string) []linkheader.Link {
	links, problems := linkheader.Parse(lines)
	for _, p := range problems {
		c.ignoreSome(p.Links, "", p.String())
	}
	return links
}

func (c *chain) ignoreAll(links []linkheader.Link, reason string) {
	for _, l := range links {
		c.ignore(l.Target, reason)
	}
}

func (c *chain) ignore(target, reason string) { c.ignoreSome(1, target, reason) }

// ignoreSome counts n ignored links, with one entry in Ignored.
func (c *chain) ignoreSome(n int, target, reason string) {
	c.file.IgnoredCount += n - 1
	c.file.ignore(target, reason)
}

// shown returns target for display: shortened, without query and user information.
func shown(target string) string {
	const most = 200
	target, _, query := strings.Cut(target, "?")
	if before, rest, ok := strings.Cut(target, "//"); ok {
		host, path, slash := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = "***" + host[i:]
		}
		target = before + "//" + host
		if slash {
			target += "/" + path
		}
	}
	if len(target) > most {
		return target[:most] + "..."
	}
	if query {
		return target + "?..."
	}
	return target
}
