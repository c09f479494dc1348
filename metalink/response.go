package metalink

import (
	"net/http"
	"slices"
)

// FromResponse reads the header fields of resp, as an http.Client returns it, and of the redirects before resp. It does
// not read the body. Its errors are those of FromHops. It sets File.Size if the body is complete and has no content
// coding. A server with a certificate that was not verified counts as a server without TLS.
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
