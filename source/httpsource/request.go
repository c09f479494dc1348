package httpsource

import (
	"cmp"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"braid/internal/web"
	"braid/source"
)

// What is asked for besides the bytes (C3): digests of the whole file, as RFC 3230, section 4.3.1, and RFC
// 9530, section 4, have it.
const (
	wantDigest     = "SHA-256;q=1, SHA-512;q=0.8"
	wantReprDigest = "sha-256=10, sha-512=8"
)

// header is what the request at hand says.
func (c *chain) header() http.Header {
	h := http.Header{}
	c.addUsers(h)
	h.Set("User-Agent", cmp.Or(h.Get("User-Agent"), c.s.client.UserAgent, defaultUserAgent))
	h.Set("Accept", cmp.Or(h.Get("Accept"), "*/*"))
	h.Set("Accept-Encoding", "identity")
	if c.whole && c.s.opts.Gzip {
		h.Set("Accept-Encoding", "gzip")
	}
	h.Set("Want-Digest", wantDigest)
	h.Set("Want-Repr-Digest", wantReprDigest)
	if !c.whole {
		h.Set("Range", c.part.Field())
	}
	if c.ifMatch != "" {
		h.Set("If-Match", c.ifMatch)
	}
	if c.whole && c.s.opts.IfNoneMatch != "" {
		h.Set("If-None-Match", c.s.opts.IfNoneMatch)
	}
	if since := c.s.opts.IfModifiedSince; c.whole && !since.IsZero() {
		h.Set("If-Modified-Since", since.UTC().Format(http.TimeFormat))
	}
	if ref := c.referer(); ref != "" {
		h.Set("Referer", ref)
	}
	return h
}

// addUsers adds the user's fields and credentials.
func (c *chain) addUsers(h http.Header) {
	for name, values := range c.s.opts.Header {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if ours(name) || !c.mayTell(name) {
			continue
		}
		h[name] = append(h[name], values...)
	}
	if c.own() && c.s.client.Cookies != nil {
		if field := web.CookieField(c.s.client.Cookies, c.url); field != "" {
			h.Set("Cookie", strings.Join(append(h["Cookie"], field), "; "))
		}
	}
	c.authorize(h)
}

// userAuthorizes says that the user's own fields say who asks.
func (c *chain) userAuthorizes() bool {
	for name := range c.s.opts.Header {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// own says that the request at hand goes to the exact origin that the user's secrets are for, and that
// nobody else sent us there (rule 27).
func (c *chain) own() bool {
	return !c.s.opts.Mirror && !c.left
}

// mayTell reports whether the server of the request at hand gets a field of the user's: the user's own server gets all, a server
// that the user named for it all but those about the first one alone, any other one those that are for anybody (rule 27).
func (c *chain) mayTell(name string) bool {
	if c.own() || web.ForAnyServer(name) {
		return true
	}
	if name == "Referer" || name == "Host" || c.url.Scheme != "https" && (c.s.opts.Secure || c.tls) {
		return false
	}
	at := source.HostPort(c.url)
	return slices.ContainsFunc(c.s.opts.HeaderTo, func(server string) bool {
		return server == at || server == strings.ToLower(source.ASCII(c.url).Hostname())
	})
}

// ours tells the fields that are not the user's to set: with another value of them, the answer would not be
// the one that is expected. What header sets itself is not among them.
func ours(name string) bool {
	switch name {
	case "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
		"Host",
		"Content-Length", "Transfer-Encoding", "Te", "Trailer", "Connection", "Upgrade", "Expect":
		return true
	}
	return false
}

// Reserved tells the header fields that Options.Header cannot set: requests have their own values, or none.
func Reserved(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Host": // sent to the origin in place of the name in the URL
		return false
	case "Accept-Encoding", "Want-Digest", "Want-Repr-Digest", "Keep-Alive":
		return true
	}
	return ours(name)
}

// host is the Host field that the user wants for the origin, if any.
func (c *chain) host() string {
	if !c.own() {
		return ""
	}
	for name, values := range c.s.opts.Header {
		if strings.EqualFold(name, "Host") && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// referer is what mirrors are told about where the user found them (S14): scheme, host and path of the
// original URL, nothing when the origin needed credentials and, as RFC 9110, section 10.1.3, demands, nothing
// from https to http (rule 28).
func (c *chain) referer() string {
	o := c.s.opts
	switch {
	case o.Referer == nil || c.s.client.NoReferer:
		return ""
	case o.Referer.Scheme == "https" && c.url.Scheme != "https":
		return ""
	case o.User != nil || o.Referer.User != nil || c.credentials():
		return ""
	case c.s.client.Cookies != nil && len(c.s.client.Cookies.Cookies(o.Referer)) > 0:
		return ""
	}
	r := plain(o.Referer)
	r.RawQuery, r.ForceQuery = "", false
	return r.String()
}

// credentials reports whether the user's fields may have some.
func (c *chain) credentials() bool {
	for name := range c.s.opts.Header {
		switch name = textproto.CanonicalMIMEHeaderKey(name); {
		case name == "Referer", name == "Host", ours(name), web.ForAnyServer(name):
		default:
			return true
		}
	}
	return false
}
