package httpsource

import (
	"cmp"
	"net/http"

	"braid/internal/web"
	"braid/verify"
)

// wantDigest and wantReprDigest request digests of the whole file (C3).
var wantDigest, wantReprDigest = verify.Want()

// header returns the header of the current request.
func (c *chain) header() http.Header {
	h := c.s.user.Header(&c.trail)
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

// referer returns the Referer for mirrors (S14): scheme, host and path of the original URL. It returns "" if the
// original URL has credentials, or if it is https and the mirror is http (RFC 9110, section 10.1.3; rule 28).
func (c *chain) referer() string {
	o := c.s.opts
	switch {
	case o.Referer == nil || c.s.client.NoReferer:
		return ""
	case o.Referer.Scheme == "https" && c.trail.URL.Scheme != "https":
		return ""
	case c.s.user.Secret(o.Referer):
		return ""
	}
	r := web.Plain(o.Referer)
	r.RawQuery, r.ForceQuery = "", false
	return r.String()
}
