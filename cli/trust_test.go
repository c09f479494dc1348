package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// A certificate with its key in the same file or another one is shown to the user's server, and to no mirror. Proves rule 27.
func TestClientCert_Rule27(t *testing.T) {
	config, authority := mirrortest.Certify(t, nil)
	var shown, strangers atomic.Int32
	serve := func(count *atomic.Int32, link string) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			count.Add(int32(len(r.TLS.PeerCertificates)))
			if path.Base(r.URL.Path) == "SHA256SUMS" {
				io.WriteString(w, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9  a\n")
				return
			}
			if strings.Contains(r.URL.Path, "nothing") {
				http.Error(w, "", http.StatusNotFound)
				return
			}
			w.Header().Set("Digest", "SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=")
			w.Header().Set("Link", link)
			http.ServeContent(w, r, "a", time.Unix(1e9, 0), strings.NewReader("hello world"))
		}))
		s.TLS = config.Clone()
		s.TLS.ClientAuth = tls.RequestClientCert
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	mirror := serve(&strangers, "")
	origin := serve(&shown, "<"+mirror.URL+"/a>; rel=duplicate")
	dir := t.TempDir()
	write := func(name string, data ...[]byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Join(data, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	ca := write("ca.pem", authority)
	for i, words := range [][]string{
		{"--client-cert", write("both.pem", key, authority)}, {"--client-cert", ca, "--client-key", write("key.pem", key)}, {},
	} {
		shown.Store(0)
		var stderr bytes.Buffer
		words = append([]string{"braid", "get", "--overwrite", "-o", filepath.Join(dir, "a"), "--cacert", ca,
			origin.URL + "/a"}, words...)
		if code := run(t.Context(), words, streams{out: &bytes.Buffer{}, err: &stderr}); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr.String())
		}
		os.Remove(filepath.Join(dir, "a"))
		if (shown.Load() > 0) != (i < 2) || strangers.Load() != 0 {
			t.Errorf("%q: shown %d times to the origin, %d times to the mirror", words, shown.Load(), strangers.Load())
		}
	}
	// The server of a list, and mirrors that are asked for the name, are no origins, but where they are at the origin's.
	for _, tt := range []struct {
		words  []string
		origin bool
	}{
		{[]string{"-o", filepath.Join(dir, "a"), "--checksums", mirror.URL + "/SHA256SUMS", origin.URL + "/a"}, true},
		{[]string{"-d", dir, "--remote-name", "--mirror", mirror.URL + "/a",
			origin.URL + "/nothing"}, true},
		{[]string{"-o", filepath.Join(dir, "a"), "--checksums", origin.URL + "/SHA256SUMS", mirror.URL + "/a"}, false},
	} {
		var stderr bytes.Buffer
		os.Remove(filepath.Join(dir, "a"))
		shown.Store(0)
		strangers.Store(0)
		words := append([]string{"braid", "get", "--overwrite", "--cacert", ca, "--client-cert",
			filepath.Join(dir, "both.pem"), "--tries", "1"}, tt.words...)
		run(t.Context(), words, streams{out: &bytes.Buffer{}, err: &stderr})
		if (shown.Load() > 0) != tt.origin || (strangers.Load() > 0) == tt.origin {
			t.Errorf("%q: shown %d times to the origin, %d times to the mirror: %s", words, shown.Load(),
				strangers.Load(), stderr.String())
		}
	}
}
