package smime

import (
	"braid/verify"
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"time"
)

// usages are the accepted extended key usages (RFC 5280, section 4.2.1.12). Each certificate of a chain must have one.
// ExtKeyUsageAny must not be added. It accepts TLS server certificates and turned off policy checks (CVE-2025-22874).
var usages = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}

// anchors are the trusted roots, and the intermediate certificates of a message.
type anchors struct {
	roots         []*x509.Certificate
	pool          *x509.CertPool
	intermediates *x509.CertPool
	now           time.Time
}

func newAnchors(roots, intermediates []*x509.Certificate, now time.Time) anchors {
	return anchors{roots: roots, pool: pool(roots), intermediates: pool(intermediates), now: now}
}

// pool returns a pool of the certificates whose keys are neither weak nor so long that verification is slow.
func pool(certificates []*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range certificates {
		if strength(c.PublicKey) == nil {
			p.AddCert(c)
		}
	}
	return p
}

// find returns the signer's certificate from lists (RFC 5652, section 5.3, sid). It returns the first certificate that
// matches. Several match only if a forger or a faulty authority made them.
func (s signerInfo) find(lists ...[]*x509.Certificate) *x509.Certificate {
	fits := func(c *x509.Certificate) bool {
		if s.issuer != nil {
			return c.SerialNumber.Cmp(s.serial) == 0 && bytes.Equal(c.RawIssuer, s.issuer)
		}
		return len(s.keyID) > 0 && bytes.Equal(c.SubjectKeyId, s.keyID)
	}
	all := slices.Concat(lists...)
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i]
	}
	return nil
}

// judge returns the hash algorithm of the signature of s, or a fault if the signature is not accepted. It checks the
// chain before the signature: a bad signature matters only if its signer is trusted (rule 48).
func (a anchors) judge(s signerInfo, cert *x509.Certificate) (crypto.Hash, *verify.SignatureError) {
	if err := a.chain(cert); err != nil {
		return 0, err
	}
	if err := strength(cert.PublicKey); err != nil {
		return 0, err
	}
	m, err := s.method()
	switch {
	case err != nil:
		return 0, err
	case s.fault != nil:
		return 0, s.fault
	case !m.verify(cert.PublicKey, s.signed, s.value):
		return 0, fail(verify.SignatureBad, "it was made by a different key, or its attributes were changed")
	case len(s.messageDigest) != m.hash.Size():
		return 0, fail(verify.SignatureMalformed, "a digest of %d bytes is not a %s", len(s.messageDigest), m.name)
	}
	return m.hash, nil
}

// chain returns a fault unless cert may sign, and chains to a root at a.now (C11; RFC 5280, section 6).
func (a anchors) chain(cert *x509.Certificate) *verify.SignatureError {
	now := a.now
	switch {
	case now.IsZero() || now.Before(cert.NotBefore):
		return fail(verify.SignatureCertificateNotYetValid, "it is not valid before %s", moment(cert.NotBefore))
	case now.After(cert.NotAfter):
		return fail(verify.SignatureCertificateExpired, "since %s", moment(cert.NotAfter))
	}
	_, err := cert.Verify(x509.VerifyOptions{
		Roots:         a.pool,
		Intermediates: a.intermediates,
		CurrentTime:   now,
		KeyUsages:     usages,
	})
	if err != nil {
		return chainFault(err, cert)
	}
	// RFC 8550, section 4.4.2, allows both uses if the extension is missing. Here it must be present (rule 49).
	if cert.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0 {
		return fail(verify.SignatureKeyUnfit, "its key usage is not digitalSignature")
	}
	return nil
}

// chainFault returns the fault for err, an error of cert.Verify.
func chainFault(err error, cert *x509.Certificate) *verify.SignatureError {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		return fail(verify.SignatureKeyUnfit, "its extended key usage does not allow signing")
	case errors.As(err, &x509.UnhandledCriticalExtension{}):
		return fail(verify.SignatureUnsupported, "the certificate has a critical extension that is not known")
	}
	return fail(verify.SignatureNoChain, "issued by %q: %s", distinguishedName(cert.RawIssuer), printable(err.Error()))
}

// describe returns a result with the contents of s and of its certificate, without a verdict.
func (s signerInfo) describe(cert *x509.Certificate) verify.SignatureResult {
	r := verify.SignatureResult{Kind: kindName, Signer: strconv.Quote(s.name()), Time: s.signingTime}
	if cert == nil {
		return r
	}
	sum := sha256.Sum256(cert.Raw)
	r.Signer, r.Key = strconv.Quote(distinguishedName(cert.RawSubject)), hex.EncodeToString(sum[:])
	if m, err := s.method(); err == nil {
		r.Hash = m.describe(cert.PublicKey)
	}
	return r
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
