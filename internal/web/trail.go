package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/internal/mask"
)

const (
	maxRedirects = 10      // rule 26
	maxLocation  = 8 << 10 // bytes
)

// ErrDowngrade is a redirect from https to http.
var ErrDowngrade = errors.New("redirect from https to http")

// ErrRedirects is, for errors.Is, what redirects without an end lead to.
var ErrRedirects = errors.New("too many redirects")

type endlessError string

func (e endlessError) Error() string        { return string(e) }
func (e endlessError) Is(target error) bool { return target == ErrRedirects }

// A Trail is the URL that a request goes to, and how it was reached. The next request of a chain of redirects has another.
type Trail struct {
	URL *url.URL
	// Named is where URL may lead: address.Public and where the server is that named it. If zero, the user named it,
	// and it may lead anywhere.
	Named address.Scope
	// Away: this is not the exact origin that the user's secrets are for, or another server sent us back to it.
	Away bool
	// Secure: a request went over https; the user's fields do not go over http any more.
	Secure bool
	seen   []string
}

// Redirect returns where an answer leads that IsRedirect, if that is to be followed. It may lead from https to http if downgrade
// is set.
func (t Trail) Redirect(x *Exchange, downgrade bool) (Trail, error) {
	u, err := t.location(x.Header)
	if err != nil {
		return t, err
	}
	t.seen = append(slices.Clip(t.seen), t.URL.String())
	switch {
	case !IsHTTP(u.Scheme):
		return t, fmt.Errorf("redirect to scheme %.40q", u.Scheme)
	case u.Hostname() == "" || u.Opaque != "":
		return t, errors.New("redirect to a Location without a host")
	case len(t.seen) > maxRedirects:
		return t, endlessError(fmt.Sprintf("more than %d redirects", maxRedirects))
	case slices.Contains(t.seen, u.String()):
		return t, endlessError(fmt.Sprintf("redirect loop at %s", mask.URL(u)))
	case t.URL.Scheme == "https" && u.Scheme == "http" && !downgrade:
		return t, fmt.Errorf("%w at %s", ErrDowngrade, mask.URL(u))
	}
	t.Away = t.Away || !sameOrigin(t.URL, u)
	t.Secure = t.Secure || t.URL.Scheme == "https"
	t.URL, t.Named = u, address.Public|x.From
	return t, nil
}

// location reads the one Location of a redirect.
func (t *Trail) location(h http.Header) (*url.URL, error) {
	locations := h.Values("Location")
	if len(locations) == 0 || locations[0] == "" {
		return nil, errors.New("redirect to nowhere: no Location")
	}
	if len(locations) > 1 || len(locations[0]) > maxLocation {
		return nil, errors.New("redirect with more than one Location, or one beyond 8 KiB")
	}
	u, err := t.URL.Parse(locations[0])
	if err != nil { // which quotes the URL, with what may be secret in it
		return nil, errors.New("redirect to a Location that is not a URL")
	}
	return Plain(u), nil
}

// IsRedirect reports whether a client may follow an answer of this status by itself (RFC 9110, section 15.4).
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// IsHTTP reports whether a scheme is http or https.
func IsHTTP(scheme string) bool { return scheme == "http" || scheme == "https" }

// sameOrigin compares scheme, host and port (RFC 6454, section 5).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(address.HostPort(a), address.HostPort(b))
}

// Plain is u as a request line can have it: its host in ASCII, without user info and fragment, and with a query that
// has no space, which servers send and package url lets pass.
func Plain(u *url.URL) *url.URL {
	p := *address.URL(u)
	p.User, p.Fragment, p.RawFragment = nil, "", ""
	p.RawQuery = escapeQuery(u.RawQuery)
	return &p
}

// escapeQuery escapes what is not printable ASCII (RFC 3986, section 3.4). The rest is left as it is: a query means
// what its server wants it to mean.
func escapeQuery(q string) string {
	var b strings.Builder
	for i := range len(q) {
		if q[i] <= ' ' || q[i] >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", q[i])
			continue
		}
		b.WriteByte(q[i])
	}
	return b.String()
}
