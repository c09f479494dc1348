package metalink

import (
	"net/http"
	"slices"
)

// FromResponse reads the header fields of resp and of the redirects that led to it, as an http.Client returns them. See
// FromHops, whose error it returns. It does not read the body. Size is that of a complete body without a content
// coding, else -1. A server whose certificate was not verified counts as one without TLS.
func FromResponse(resp *http.Response) (File, error) {
	var hops []Hop
	for r := resp; r != nil; {
		h := Hop{Status: r.StatusCode, Header: r.Header, Unproven: r.TLS == nil || len(r.TLS.VerifiedChains) == 0}
		if r.Request == nil {
			hops, r = append(hops, h), nil
			continue
		}
		h.URL = r.Request.URL
		hops, r = append(hops, h), r.Request.Response
	}
	slices.Reverse(hops)
	f, err := FromHops(hops, false)
	if resp.StatusCode == http.StatusOK && !resp.Uncompressed && resp.Header.Get("Content-Encoding") == "" {
		f.Size = resp.ContentLength
	}
	return f, err
}
