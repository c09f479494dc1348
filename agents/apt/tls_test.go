package apt

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a new client certificate and its key to one file.
func writeCertificate(t *testing.T, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestMethodTLS checks that only certificates in CaInfo are trusted, and that the certificate in SslCert is sent.
func TestMethodTLS(t *testing.T) {
	dir := t.TempDir()
	ca, client := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "client.pem")
	server := httptest.NewUnstartedServer(serving(body))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
	server.TLS.ClientCAs.AddCert(writeCertificate(t, client))
	server.StartTLS()
	defer server.Close()
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		items string
		code  int
		want  string
	}{
		{"", 400, "certificate"},
		{"Acquire::https::CaInfo=" + ca, 400, "certificate"}, // without a client certificate
		{"Acquire::https::CaInfo=" + ca + "\nConfig-Item: Acquire::https::SslCert=" + client, 201, ""},
		{"Acquire::https::127.0.0.1::Verify-Peer=false\nConfig-Item: Acquire::http::SslCert=" + client +
			"\nConfig-Item: Acquire::braid::SslKey=" + client, 201, ""},
		{"Acquire::https::other.example::CaInfo=" + ca + "\nConfig-Item: Acquire::https::SslCert=" + client, 400, "certificate"},
		{"Acquire::AllowTLS=false", 400, "AllowTLS"},
	} {
		k := newTalk(t, "Config-Item: "+tt.items)
		m, data := k.acquire(strings.Replace(server.URL, "https", "braid+https", 1)+"/x", demanded())
		if m.Code != tt.code || !strings.Contains(m.Get("Message"), tt.want) || tt.code == 201 && data != string(body) {
			t.Errorf("%s: %v", tt.items, m)
		}
	}
}

// FuzzNewItem checks that only a file with a strong digest has mirrors, that every URL is http or https, and that no
// file exceeds the size that apt allows.
func FuzzNewItem(f *testing.F) {
	s := configured("Acquire::braid::Mirrors::=http://a.example/d", "Acquire::braid::Mirrors::=https://b.example/",
		"Acquire::Send-URI-Encoded=1")
	f.Add("braid+http://a.example/d/x", "Filename: /x\n"+demanded())
	f.Add("https://b.example/InRelease", "Filename: x\nMaximum-Size: 10\nLast-Modified: Mon, 10 Sep 2001 01:46:40 "+
		"GMT\nExpected-MD5Sum: 0\n")
	f.Add("mirror+file:/etc/hostname/x", "")
	f.Fuzz(func(t *testing.T, uri, fields string) {
		m, err := NewReader(strings.NewReader("600 URI Acquire\nURI: " + uri + "\n" + fields + "\n\n")).Next()
		if err != nil {
			return
		}
		x, err := s.newItem(m)
		if err != nil {
			if a := x.failed(err); a.Code != 400 || a.Get("Message") == "" {
				t.Fatalf("%v", a)
			}
			return
		}
		if len(x.claims) == 0 && len(x.mirrors) > 0 || len(x.configured) == 0 || x.size > x.most {
			t.Fatalf("%q: %+v", m, x)
		}
		for _, u := range append(x.configured, x.mirrors...) {
			if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				t.Fatalf("%q: %s", m, u)
			}
			r := x.request(u, nil)
			if len(x.claims) == 0 && (!r.NoMetalink || len(r.Mirrors) > 0) || r.Name == "" {
				t.Fatalf("%q: %+v", m, r)
			}
		}
	})
}
