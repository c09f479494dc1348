package web

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// Credentials are what the user gave for one exact origin: scheme, host and port. What of it goes where is decided here
// alone, but for the client certificate, which goes where Trail.Away is not set.
type Credentials struct {
	// Fields are header fields that the user wants sent. They go to the origin only, but for those of ForAnyServer.
	Fields map[string][]string
	// HeaderTo are servers that get Fields as well, but for Host and Referer: a "host:port", or a "host" with any port,
	// in lower case.
	HeaderTo []string
	// Secure says that the user asked over https: HeaderTo then counts only over https.
	Secure bool
	// User is the name and password for the origin.
	User *url.Userinfo
	// Cookies go to the origin as far as they are for it. If nil, there are none.
	Cookies http.CookieJar
}

// ForAnyServer reports whether a header field that the user set may go to servers that the user did not ask: mirrors, and those
// that a redirect leads to. They are few, and named here: whether the value of another field is a secret cannot be told from its
// name.
func ForAnyServer(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "accept-charset", "accept-encoding", "accept-language", "user-agent":
		return true
	}
	return false
}

// Header is what a request has of the user's fields and cookies.
func (c *Credentials) Header(t *Trail) http.Header {
	h := http.Header{}
	for name, values := range c.Fields {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !ours(name) && c.mayTell(name, t) {
			h[name] = append(h[name], values...)
		}
	}
	if !t.Away && c.Cookies != nil {
		if field := cookieField(c.Cookies, t.URL); field != "" {
			h.Set("Cookie", strings.Join(append(h["Cookie"], field), "; "))
		}
	}
	return h
}

// mayTell reports whether a server gets a field of the user's: the origin gets all, a server that the user named for it
// all but those about the origin alone, any other one those that are for all servers.
func (c *Credentials) mayTell(name string, t *Trail) bool {
	if !t.Away || ForAnyServer(name) {
		return true
	}
	if name == "Referer" || name == "Host" || t.URL.Scheme != "https" && (c.Secure || t.Secure) {
		return false
	}
	at := address.HostPort(t.URL)
	return slices.ContainsFunc(c.HeaderTo, func(server string) bool {
		return server == at || server == strings.ToLower(address.URL(t.URL).Hostname())
	})
}

// ours reports whether a field is not the user's to set: with another value of it, the answer would not be the one that
// is expected. What clients set themselves is not among them.
func ours(name string) bool {
	switch name {
	case "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
		"Host",
		"Content-Length", "Transfer-Encoding", "Te", "Trailer", "Connection", "Upgrade", "Expect":
		return true
	}
	return false
}

// Reserved reports whether a header field cannot be set by Credentials.Fields: requests have their own values, or none.
func Reserved(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Host": // sent to the origin in place of the name in the URL
		return false
	case "Accept-Encoding", "Want-Digest", "Want-Repr-Digest", "Keep-Alive":
		return true
	}
	return ours(name)
}

// field is the first value of a field of the user's.
func (c *Credentials) field(name string) (value string, ok bool) {
	for key, values := range c.Fields {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}

// host is the Host field that the user wants for the origin, if any.
func (c *Credentials) host(t *Trail) (host string) {
	if !t.Away {
		host, _ = c.field("Host")
	}
	return host
}

// Secret reports whether there is something at the URL that is for its server alone.
func (c *Credentials) Secret(u *url.URL) bool {
	if c.User != nil || u.User != nil || c.Cookies != nil && len(c.Cookies.Cookies(u)) > 0 {
		return true
	}
	for name := range c.Fields {
		switch name = textproto.CanonicalMIMEHeaderKey(name); {
		case name == "Referer", name == "Host", ours(name), ForAnyServer(name):
		default:
			return true
		}
	}
	return false
}
