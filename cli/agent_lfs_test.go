package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"braid/agents/lfs"
	"braid/download"
	"braid/internal/job"
	"braid/internal/test/mirrortest"
)

// The certificate in git's settings for the LFS server is shown to that server, and not to those that it names for
// objects. Proves rule 27.
func TestLFSCertificate_Rule27(t *testing.T) {
	config, authority := mirrortest.Certify(t, nil)
	key, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	file := filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(file, bytes.Join([][]byte{key, authority}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(shown *atomic.Int32) *url.URL {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown.Add(int32(len(r.TLS.PeerCertificates)))
			w.Write([]byte("hello world"))
		}))
		s.TLS = config.Clone()
		s.TLS.ClientAuth = tls.RequestClientCert
		s.StartTLS()
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, insecure := range []bool{false, true} {
		var here, there atomic.Int32
		server, other := serve(&here), serve(&there)
		l := &lfsCommand{Job: newDefaults(streams{})}
		l.Job.HTTP.Sites = job.NewSites(&job.Settings{})
		client, err := l.open(lfs.Settings{Endpoint: server, CAInfo: file, Cert: file, Insecure: insecure})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range []*url.URL{server.JoinPath("a"), other.JoinPath("b")} {
			if _, err := client.Get(t.Context(), download.Request{URL: u, Dir: t.TempDir(), Name: "x"}); err != nil {
				t.Error(err)
			}
		}
		if here.Load() == 0 || there.Load() != 0 {
			t.Errorf("shown %d times to the LFS server, %d times to another one", here.Load(), there.Load())
		}
		client.HTTP.CloseIdle()
	}
}
