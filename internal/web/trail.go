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

// ErrDowngrade reports a redirect from https to http.
var ErrDowngrade = errors.New("redirect from https to http")

// ErrRedirects is matched by the errors for too many redirects and for redirect loops.
var ErrRedirects = errors.New("too many redirects")

type endlessError string

func (e endlessError) Error() string        { return string(e) }
func (e endlessError) Is(target error) bool { return target == ErrRedirects }

// Trail is the URL of a request, and how the URL was reached. Each request of a chain of redirects has a separate
// Trail.
type Trail struct {
	URL *url.URL
	// Named is the scope of addresses that URL may lead to: address.Public and the scope of the server that named URL.
	// If Named is zero, the user named URL, which may lead anywhere.
	Named address.Scope
	// Away is set if URL is not on the exact origin of the user's secrets, or if another server redirected back to that
	// origin.
	Away bool
	// Secure is set after a request over https. The user's fields are then not sent over http any more.
	Secure bool
	seen   []string
}

// Redirect returns the trail of the next request, if the redirect x may be followed. If downgrade is set, the redirect
// may lead from https to http.
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

// location parses the Location field, which must occur once.
func (t *Trail) location(h http.Header) (*url.URL, error) {
	locations := h.Values("Location")
	if len(locations) == 0 || locations[0] == "" {
		return nil, errors.New("redirect to nowhere: no Location")
	}
	if len(locations) > 1 || len(locations[0]) > maxLocation {
		return nil, errors.New("redirect with more than one Location, or one longer than 8 KiB")
	}
	u, err := t.URL.Parse(locations[0])
	if err != nil { // err quotes the URL, which may contain secrets
		return nil, errors.New("redirect to a Location that is not a URL")
	}
	return Plain(u), nil
}

// IsRedirect reports whether status is a redirect that a client may follow automatically (RFC 9110, section 15.4).
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// IsHTTP reports whether scheme is http or https.
func IsHTTP(scheme string) bool { return scheme == "http" || scheme == "https" }

// sameOrigin reports whether a and b have the same scheme, host and port (RFC 6454, section 5).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(address.HostPort(a), address.HostPort(b))
}

// Plain returns u in the form for a request line: the host is in ASCII, spaces in the query are encoded, and user
// information and fragment are omitted. Servers send URLs with such spaces, and package url accepts them.
func Plain(u *url.URL) *url.URL {
	p := *address.URL(u)
	p.User, p.Fragment, p.RawFragment = nil, "", ""
	p.RawQuery = escapeQuery(u.RawQuery)
	return &p
}

// escapeQuery encodes bytes that are not printable ASCII (RFC 3986, section 3.4). It leaves the rest unchanged, because
// only the server knows the meaning of a query.
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
