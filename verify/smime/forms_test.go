package smime

import (
	"braid/verify"
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// judged judges a message about the file.
func (w *workshop) judged(sig []byte) ([]verify.SignatureResult, error) {
	return check(sig, []*x509.Certificate{w.root.cert}, w.now, strings.NewReader(signed))
}

// TestForms shows what is taken as a message, and what is refused before anything in it is looked at (rules 47 and 49).
func TestForms(t *testing.T) {
	w := newWorkshop(t)
	der := w.message(w.signer("ecdsa")).der()
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: der}))
	_, body, _ := strings.Cut(text, "\n")
	base64, _, _ := strings.Cut(body, "-----")
	mail := func(kind, encoding, body string) string {
		return "Subject: a file\nContent-Type: " + kind + "\nContent-Transfer-Encoding: " + encoding + "\n\n" + body
	}
	const p7s = "application/pkcs7-signature"
	for _, tt := range []struct {
		name, sig string
		want      verify.SignatureCode
		says      string
	}{
		{"DER", string(der), verify.SignatureGood, ""},
		{"BER, detached", string(asBER(t, der)), verify.SignatureGood, ""},
		{"PEM", text, verify.SignatureGood, ""},
		{"PEM with blank lines around it", "\r\n \n" + text + "\n\n", verify.SignatureGood, ""},
		{"PEM, CRLF", strings.ReplaceAll(text, "\n", "\r\n"), verify.SignatureGood, ""},
		{"mail", mail(p7s+"; name=smime.p7s", "base64", base64), verify.SignatureGood, ""},
		{"mail, CRLF", strings.ReplaceAll(mail(p7s, "base64", base64), "\n", "\r\n"), verify.SignatureGood, ""},
		{"mail, folded and in capitals", mail("\n APPLICATION/X-PKCS7-MIME;\n\tname=\"smime.p7m\"", "BASE64", base64),
			verify.SignatureGood, ""},

		{"nothing", "", verify.SignatureMissing, "empty"},
		{"blank lines", " \r\n\n", verify.SignatureMissing, ""},
		{"too large", strings.Repeat("\x30", verify.MaxSignature+1), verify.SignatureTooLarge, "1048577 bytes"},
		{"too large, and blank", strings.Repeat(" ", verify.MaxSignature+1), verify.SignatureTooLarge, ""},
		{"not too large", strings.Repeat("\x30", verify.MaxSignature), verify.SignatureMalformed, ""},
		{"garbage", "\x01\x02\x03", verify.SignatureMalformed, "it is neither DER, PEM nor a mail"},
		{"a page", "<!DOCTYPE html>\n<p>404: never heard of it\n\n", verify.SignatureMalformed,
			"it is neither DER, PEM nor a mail"},
		{"trailing garbage", string(der) + "x", verify.SignatureMalformed, "1 unexpected bytes after its end"},
		{"a second message behind it", string(der) + string(der), verify.SignatureMalformed, "bytes after its end"},
		{"PEM, trailing garbage", text + "x", verify.SignatureMalformed, "1 unexpected bytes after its end"},
		{"PEM, a second one", text + text, verify.SignatureMalformed, "bytes after its end"},
		{"its PEM has no end", text[:len(text)-20], verify.SignatureMalformed, "its PEM has no end"},
		{"PEM with garbage", strings.Replace(text, "\nM", "\n!", 1), verify.SignatureMalformed, "garbage"},
		{"PEM, something behind the message in it",
			string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: append(slices.Clone(der), 0)})),
			verify.SignatureMalformed, "1 unexpected bytes after"},
		{"PEM of a certificate", string(w.rootPEM()), verify.SignatureNotOfFile, "not a signature, but: CERTIFICATE"},
		{"an OpenPGP signature", "-----BEGIN PGP SIGNATURE-----\n\naGVsbG8=\n-----END PGP SIGNATURE-----\n",
			verify.SignatureNotOfFile, "PGP SIGNATURE"},
		{"a certificate", string(w.root.cert.Raw), verify.SignatureMalformed, "no content type"},
		{"mail of something else", mail("text/plain", "base64", base64), verify.SignatureNotOfFile, "text/plain"},
		{"mail with what it signs", mail("multipart/signed; boundary=x", "base64", base64), verify.SignatureNotOfFile,
			"smime.p7s"},
		{"mail, not in base64", mail(p7s, "7bit", base64), verify.SignatureUnsupported, "base64"},
		{"mail, garbage", mail(p7s, "base64", base64+"!"), verify.SignatureMalformed, "not base64"},
		{"mail without a body", mail(p7s, "base64", ""), verify.SignatureMalformed, ""},
		{"mail, header only", "Content-Type: " + p7s, verify.SignatureMalformed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := w.judged([]byte(tt.sig))
			expect(t, got, err, tt.want, tt.says)
		})
	}
}

// TestCutAndChanged: no part of a message is good, and whatever byte is changed, the file is not another one.
func TestCutAndChanged(t *testing.T) {
	w := newWorkshop(t)
	der := w.message(w.signer("ecdsa")).der()
	for n := range len(der) {
		if got, err := w.judged(der[:n]); err == nil {
			t.Errorf("the first %d of %d bytes: %v", n, len(der), got)
		}
	}
	for n := range der {
		changed := slices.Clone(der)
		changed[n] ^= 1
		c, err := New(changed, []*x509.Certificate{w.root.cert}, w.now)
		if err != nil {
			continue
		}
		io.WriteString(c, "another\n")
		if got, err := c.Signatures(); err == nil {
			t.Errorf("byte %d changed, another file: %v", n, got)
		}
	}
}

// TestChecker shows the promises of the type: it hashes with what signatures need and nothing else, in any pieces, and
// can be asked again.
func TestChecker(t *testing.T) {
	w := newWorkshop(t)
	roots := []*x509.Certificate{w.root.cert}
	stranger := newWorkshop(t)
	stranger.serial = 100 // the roots have one name
	d := w.message(w.signer("ed25519"), w.signer("ed25519"), stranger.signer("ecdsa"))
	c, err := New(d.der(), roots, w.now)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.hashes) != 1 || c.hashes[crypto.SHA512] == nil {
		t.Errorf("hashes with %v, want SHA-512 alone", c.hashes)
	}
	if _, err := c.Signatures(); err == nil {
		t.Error("an empty file is good")
	}
	for _, piece := range []string{"", signed[:1], "", signed[1:]} {
		if n, err := io.WriteString(c, piece); n != len(piece) || err != nil {
			t.Errorf("Write(%q) = %d, %v", piece, n, err)
		}
	}
	first, err := c.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Signatures(); err != nil || !slices.Equal(again, first) {
		t.Errorf("asked again: %v, %v, want %v", again, err, first)
	}
	io.WriteString(c, "x")
	if got, err := c.Signatures(); err == nil {
		t.Errorf("a byte more: %v", got)
	}
	if _, ok := verify.GoodSignature(first); !ok {
		t.Errorf("the result has changed: %v", first)
	}
}

// TestNewFailsEarly: what no file could mend is known before the first byte of it.
func TestNewFailsEarly(t *testing.T) {
	w := newWorkshop(t)
	good, broken, bare := w.signer("ecdsa"), w.signer("ed25519"), w.signer("ecdsa")
	broken.key = newKey(t, "ed25519")
	bare.attributes = nil
	for name, d := range map[string]*draft{
		"no acceptable":               w.message(bare),
		"good, and broken by another": w.message(good, broken),
	} {
		if _, err := New(d.der(), []*x509.Certificate{w.root.cert}, w.now); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestZeroTime: package x509 takes the zero time for now; here it is before everything (rule 49).
func TestZeroTime(t *testing.T) {
	w := newWorkshop(t)
	s := w.signer("ecdsa")
	template := w.template("from the beginning of time")
	template.NotBefore = time.Time{}
	s.cert = w.issue(template, w.root, s.key.Public())
	s.sid = sequence(s.cert.RawIssuer, tlv(tagInteger, s.cert.SerialNumber.Bytes()))
	got, err := check(w.message(s).der(), []*x509.Certificate{w.root.cert}, time.Time{}, strings.NewReader(signed))
	expect(t, got, err, verify.SignatureCertificateNotYetValid, "it is not valid before 0001-01-01T00:00:00Z")
}

// TestUnanchored_C11_Rule51: without roots nothing is good, and a message that is none is still an error (rule 51).
func TestUnanchored_C11_Rule51(t *testing.T) {
	w := newWorkshop(t)
	broken := w.signer("ecdsa")
	broken.attributes = nil
	got, err := check(w.message(broken).der(), nil, w.now, strings.NewReader(signed))
	expect(t, got, err, verify.SignatureUnchecked, "")
	if len(got) != 1 || got[0].Signer != `"CN=ecdsa"` || got[0].Code != verify.SignatureUnchecked {
		t.Errorf("signatures are %v", got)
	}
	got, err = check([]byte("\x30\x00"), nil, w.now, strings.NewReader(signed))
	expect(t, got, err, verify.SignatureMalformed, "")
}

// TestParseRoots: no root is missing without a word.
func TestParseRoots(t *testing.T) {
	w := newWorkshop(t)
	root := string(w.rootPEM())
	weak := string(recordings(t)["weakca.crt"])
	key := "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n"
	for _, tt := range []struct {
		name, pem string
		n         int
		says      string
	}{
		{"one", root, 1, ""},
		{"several, with text around them", "# mine\n" + root + "and\n" + root + "that is all\n", 2, ""},
		{"CRLF", strings.ReplaceAll(root, "\n", "\r\n"), 1, ""},
		{"nothing", "", 0, "no certificate in PEM"},
		{"DER", string(w.root.cert.Raw), 0, "no certificate in PEM"},
		{"a key", root + key, 0, "root 2: the file has a PEM block of type PRIVATE KEY, not CERTIFICATE"},
		{"cut off", root + root[:len(root)-10], 0, "2 certificates begin, but only 1 can be read"},
		{"cut off, and another", root[:len(root)-50] + "\n" + root, 0, "2 certificates begin, but only 1 can be read"},
		{"garbage in it", strings.Replace(root, "\nM", "\n!", 1), 0, "1 certificates begin, but only 0 can be read"},
		{"not a certificate", strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE"), 0, "root 1: x509: malformed certificate"},
		{"a weak key", weak, 0, `root 1: "CN=weakca,O=braid test": weak: its RSA key has 1024 bits`},
		{"too many", strings.Repeat("-----BEGIN CERTIFICATE-----\n", maxRoots+1), 0,
			"the file has 2001 certificates, more than 2000"},
		{"too large", strings.Repeat(" ", maxRootsSize+1), 0, "4194305 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			roots, err := ParseRoots([]byte(tt.pem))
			if tt.says == "" && err != nil ||
				tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) || len(roots) != tt.n {
				t.Errorf("%d roots, %v, want %d, %q", len(roots), err, tt.n, tt.says)
			}
		})
	}
}

// asBER makes the outer elements of a message as long as they are.
func asBER(t *testing.T, der []byte) []byte {
	t.Helper()
	top := newReader(der)
	info := top.into(tagSequence, "")
	id, content := info.take(tagOID, ""), info.into(tagContext0, "").take(tagSequence, "")
	if err := top.err(); err != nil {
		t.Fatal(err)
	}
	open := func(tag byte, parts ...[]byte) []byte {
		return slices.Concat([]byte{tag, indefinite}, bytes.Join(parts, nil), []byte{0, 0})
	}
	return open(tagSequence, id.full, open(tagContext0, open(tagSequence, content.content)))
}
