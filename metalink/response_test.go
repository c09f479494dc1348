package metalink

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"braid/verify"
)

// TestFromResponse_C4_Rule26_Rule64 checks that FromResponse takes digests and links from the redirect of a Metalink
// server, and trusts them less if they came over http or from a server whose certificate was not verified (C4, rules 26
// and 64).
func TestFromResponse_C4_Rule26_Rule64(t *testing.T) {
	sum := digest(t, verify.SHA256, sha256Zero)
	file := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<http://liar.example/f>; rel=duplicate")
		fmt.Fprint(w, "12345678")
	}))
	t.Cleanup(file.Close)
	server := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Digest", verify.Field(sum))
		w.Header().Set("Link", "<http://m.example/f>; rel=duplicate")
		http.Redirect(w, r, file.URL+"/f", http.StatusFound)
	}
	secure, plain := httptest.NewTLSServer(http.HandlerFunc(server)), httptest.NewServer(http.HandlerFunc(server))
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	careless := secure.Client().Transport.(*http.Transport).Clone()
	careless.TLSClientConfig.RootCAs, careless.TLSClientConfig.InsecureSkipVerify = nil, true
	for name, tt := range map[string]struct {
		url    string
		client *http.Client
		over   verify.Channel
	}{
		"https":     {secure.URL, secure.Client(), verify.HTTPS},
		"http":      {plain.URL, plain.Client(), verify.HTTP},
		"unchecked": {secure.URL, &http.Client{Transport: careless}, verify.HTTP},
	} {
		resp, err := tt.client.Get(tt.url + "/f")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		f, err := FromResponse(resp)
		if err != nil || f.Size != 8 || len(f.Claims) != 1 || f.Claims[0].Channel != tt.over || f.Claims[0].Digest != sum {
			t.Errorf("%s: %d bytes, %v, %v", name, f.Size, f.Claims, err)
		}
		if len(f.Mirrors) != 1 || f.Mirrors[0].URL.Host != "m.example" || f.IgnoredCount != 1 ||
			f.Server.String() != tt.url+"/f" {
			t.Errorf("%s: mirrors %v of %v, %v", name, f.Mirrors, f.Server, f.Ignored)
		}
	}
}

// TestFromResponseSize checks that a partial or encoded response gives no size, and that a response without a Request
// is accepted.
func TestFromResponseSize(t *testing.T) {
	for want, resp := range map[int64]*http.Response{
		8:  {StatusCode: 200, ContentLength: 8},
		0:  {StatusCode: 200},
		-1: {StatusCode: 206, ContentLength: 8},
	} {
		if f, err := FromResponse(resp); err != nil || f.Size != want {
			t.Errorf("%d: %d bytes, %v", resp.StatusCode, f.Size, err)
		}
	}
	coded := &http.Response{StatusCode: 200, ContentLength: 8, Header: http.Header{"Content-Encoding": {"gzip"}}}
	if f, err := FromResponse(coded); err != nil || f.Size != -1 {
		t.Errorf("coded: %d bytes, %v", f.Size, err)
	}
	if f, err := FromResponse(&http.Response{StatusCode: 200, ContentLength: 8, Uncompressed: true}); err != nil || f.Size != -1 {
		t.Errorf("uncompressed: %d bytes, %v", f.Size, err)
	}
	bad := &http.Response{StatusCode: 200, Header: http.Header{"Digest": {"SHA-256=" + strings.Repeat("x", 9)}}}
	if _, err := FromResponse(bad); err == nil {
		t.Error("a malformed digest is no error")
	}
}
