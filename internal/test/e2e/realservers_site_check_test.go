//go:build realservers

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRealSites shows that the configurations give what the scripts count on: ranges, one ETag for all nginx
// sites over a folder, MirrorBrain's and mirrorbits' redirects, https.
func TestRealSites(t *testing.T) {
	t.Parallel()
	root := publicDir(t)
	data := []byte(strings.Repeat("0123456789", 1000))
	if err := os.WriteFile(filepath.Join(root, "a.iso"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	cert := newCertificate(t)
	link := `Link: <http://mirror.example/a.iso>; rel=duplicate; pri=1; geo="de"; pref`
	ask := siteClient(t, cert)

	for name, p := range map[string]program{"nginx": nginx, "apache": apache} {
		t.Run(name, func(t *testing.T) {
			plain := ask(t, "http://"+p.start(t, site{root: root, headers: append(digestFields(data), link)}))
			wantAnswer(t, plain, 206, "bytes 10-19/10000")
			wantField(t, plain, "Link", strings.TrimPrefix(link, "Link: "))
			wantField(t, plain, "Repr-Digest", strings.TrimPrefix(digestFields(data)[1], "Repr-Digest: "))
			if plain.Header.Get("Etag") == "" {
				t.Error("no ETag")
			}
			bare := ask(t, "http://"+p.start(t, site{root: root, noETag: true, noRanges: true}))
			wantAnswer(t, bare, 200, "")
			wantField(t, bare, "Etag")

			brain := ask(t, "http://"+p.start(t, site{
				root: root, redirect: "http://mirror.example", headers: append(mirrorBrainFields(data), link)}))
			wantAnswer(t, brain, 302, "")
			wantField(t, brain, "Location", "http://mirror.example/a.iso")
			wantField(t, brain, "Link", strings.TrimPrefix(link, "Link: "))
			wantField(t, brain, "Etag")
			if got := brain.Header.Values("Digest"); len(got) != 3 {
				t.Errorf("Digest is %q, want three lines", got)
			}
		})
	}
	first := ask(t, "http://"+nginx.start(t, site{root: root}))
	second := ask(t, "https://"+nginx.start(t, site{root: root, tls: cert}))
	wantField(t, second, "Etag", first.Header.Get("Etag"))
}

// siteClient returns a function that asks a site for bytes 10 to 19 of a.iso and follows no redirect.
func siteClient(t *testing.T, cert *certificate) func(t *testing.T, base string) *http.Response {
	pem, err := os.ReadFile(cert.authority)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(t *testing.T, base string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/a.iso", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Range", "bytes=10-19")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
}

func wantAnswer(t *testing.T, r *http.Response, status int, contentRange string) {
	t.Helper()
	if got := r.Header.Get("Content-Range"); r.StatusCode != status || got != contentRange {
		t.Errorf("answer is %d with Content-Range %q, want %d with %q", r.StatusCode, got, status, contentRange)
	}
}

func wantField(t *testing.T, r *http.Response, name string, values ...string) {
	t.Helper()
	if got := r.Header.Values(name); !slices.Equal(got, values) {
		t.Errorf("%s is %q, want %q", name, got, values)
	}
}
