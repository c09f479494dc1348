//go:build realservers

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A certificate is a server's certificate for 127.0.0.1, as PEM files, with the authority that signed it.
type certificate struct{ cert, key, authority string }

// templates are what an authority and a certificate for 127.0.0.1 say, both valid today.
func templates() (authority, leaf *x509.Certificate) {
	now := time.Now()
	authority = &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "braid test authority"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	leaf = &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "127.0.0.1"},
		NotBefore:    authority.NotBefore,
		NotAfter:     authority.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	return authority, leaf
}

// newCertificate makes an authority of this test alone and a certificate under it. A command trusts it
// when SSL_CERT_FILE names the authority's file.
func newCertificate(t testing.TB) *certificate {
	t.Helper()
	authority, leaf := templates()
	authorityKey, leafKey := newKey(t), newKey(t)
	dir := publicDir(t)
	c := &certificate{
		cert:      filepath.Join(dir, "cert.pem"),
		key:       filepath.Join(dir, "key.pem"),
		authority: filepath.Join(dir, "authority.pem"),
	}
	sign := func(cert *x509.Certificate, key *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, cert, authority, &key.PublicKey, authorityKey)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	writePEM(t, c.authority, "CERTIFICATE", sign(authority, authorityKey))
	writePEM(t, c.cert, "CERTIFICATE", sign(leaf, leafKey))
	der, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, c.key, "PRIVATE KEY", der)
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
}
