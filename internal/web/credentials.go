package web

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// Credentials are the user's secrets for one exact origin: scheme, host and port. This type alone decides which server
// receives which secret. The exception is the client certificate, which is sent unless NoCertificate or Trail.Away is
// set.
type Credentials struct {
	// Fields are additional header fields. They are sent to the origin only, except for the fields of ForAnyServer.
	Fields map[string][]string
	// HeaderTo lists further servers that receive Fields, except Host and Referer. A server is a "host:port", or a
	// "host" for any port, in lower case.
	HeaderTo []string
	// Secure is set if the user's URL is an https URL. Then HeaderTo applies only to https.
	Secure bool
	// User is the name and password for the origin.
	User *url.Userinfo
	// NoCertificate means that not even the origin gets the client certificate.
	NoCertificate bool
	// Cookies are sent to the origin, if their domains and paths match. If nil, no cookies are sent.
	Cookies http.CookieJar
}

// ForAnyServer reports whether a header field of the user may be sent to servers that the user did not name: mirrors,
// and the targets of redirects. It lists the few harmless fields, because the name of any other field does not show
// whether its value is a secret.
func ForAnyServer(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "accept-charset", "accept-encoding", "accept-language", "user-agent":
		return true
	}
	return false
}

// Header returns the user's fields and cookies for the request of t.
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

// mayTell reports whether the server of t may receive the user's field called name. The origin receives all fields. A
// server in HeaderTo receives all fields except Referer and Host, which are only about the origin. Other servers
// receive only the fields of ForAnyServer.
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

// ours reports whether only this program sets the field called name, because another value would change the meaning of
// the answer. Fields such as Accept-Encoding, which the callers set, are not included.
func ours(name string) bool {
	switch name {
	case "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
		"Host",
		"Content-Length", "Transfer-Encoding", "Te", "Trailer", "Connection", "Upgrade", "Expect":
		return true
	}
	return false
}

// Reserved reports whether the field called name cannot be set by Credentials.Fields, because this program sets the
// field itself or omits it.
func Reserved(name string) bool {
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Host": // replaces the host name of the URL in requests to the origin
		return false
	case "Accept-Encoding", "Want-Digest", "Want-Repr-Digest", "Keep-Alive":
		return true
	}
	return ours(name)
}

// field returns the first value of the user's field called name, ignoring case.
func (c *Credentials) field(name string) (value string, ok bool) {
	for key, values := range c.Fields {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}

// host returns the Host field that the user set for the origin, if any.
func (c *Credentials) host(t *Trail) (host string) {
	if !t.Away {
		host, _ = c.field("Host")
	}
	return host
}

// Secret reports whether requests for u contain a secret.
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
