package metalink_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"braid/metalink"
)

// FromHops describes a file by the response of a Metalink/HTTP server. Without a strong digest it ignores the mirrors
// (RFC 6249, section 6).
func ExampleFromHops() {
	u, err := url.Parse("https://example.org/pub/disk.iso")
	if err != nil {
		fmt.Println(err)
		return
	}
	header := http.Header{}
	header.Add("Link", `<https://a.example.net/disk.iso>; rel=duplicate; pri=2`)
	header.Add("Link", `<https://b.example.net/disk.iso>; rel=duplicate; pri=1; geo=jp`)
	header.Add("Link", `<disk.iso.meta4>; rel=describedby; type="application/metalink4+xml"`)

	for _, digest := range []string{"", "SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="} {
		if digest != "" {
			header.Set("Digest", digest)
		}
		f, err := metalink.FromHops([]metalink.Hop{{URL: u, Status: 200, Header: header}}, false)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(f.Claims), "digests,", len(f.Mirrors), "mirrors, no digest:", f.NoDigest)
		for _, m := range f.Mirrors {
			fmt.Println(" ", m.URL, m.Pri)
		}
	}
	// Output:
	// 0 digests, 0 mirrors, no digest: true
	// 1 digests, 2 mirrors, no digest: false
	//   https://b.example.net/disk.iso 1
	//   https://a.example.net/disk.iso 2
}

// FromResponse describes a file by a response of package net/http.
func ExampleFromResponse() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Digest", "SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=")
		w.Header().Set("Link", "<https://a.example.net/disk.iso>; rel=duplicate")
		fmt.Fprint(w, "hello world")
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	f, err := metalink.FromResponse(resp)
	fmt.Println(f.Size, f.Claims, f.Mirrors[0].URL, err)
	// Output:
	// 11 [sha-256 from Digest over http] https://a.example.net/disk.iso <nil>
}
