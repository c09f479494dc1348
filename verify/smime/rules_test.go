package smime

import (
	"braid/verify"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// recorded has what openssl 3.0 made; go test -tags realservers -run TestRealOpenSSL -record makes it anew.
const recorded = "testdata/openssl"

// signed is the file that most messages are about.
const signed = "braid\n"

// A rule is a row of the table: a message, roots and a time, and what must come of them.
type rule struct {
	name  string
	sig   string // name of what openssl made
	roots string // names of certificates; "" is none
	file  string // "" is the file that was signed, "-" an empty one
	days  int    // from the day on which all was made
	want  verify.SignatureCode
	says  string // in the result or the error
}

var rules = []rule{
	// Rule 49, C10, C11, S7: what counts.
	{name: "49 RSA, intermediate in the message", sig: "chain", roots: "root", want: verify.SignatureGood,
		says: `good signature by "CN=rsa,O=braid test", certificate {rsa}, RSA 2048 with SHA-256, signed {day}`},
	{name: "49 RSA, the intermediate is a root", sig: "rsa", roots: "inter", want: verify.SignatureGood},
	{name: "49 P-256", sig: "p-256", roots: "root", want: verify.SignatureGood, says: "ECDSA P-256 with SHA-256"},
	{name: "49 P-384", sig: "p-384", roots: "root", want: verify.SignatureGood, says: "ECDSA P-384 with SHA-384"},
	{name: "49 P-521", sig: "p-521", roots: "root", want: verify.SignatureGood, says: "ECDSA P-521 with SHA-512"},
	{name: "49 SHA-384", sig: "sha384", roots: "root", want: verify.SignatureGood, says: "RSA 2048 with SHA-384"},
	{name: "49 SHA-512", sig: "sha512", roots: "root", want: verify.SignatureGood, says: "RSA 2048 with SHA-512"},
	{name: "49 PSS", sig: "pss", roots: "root", want: verify.SignatureGood, says: "RSA-PSS 2048 with SHA-256"},
	{name: "49 PSS, salt as long as the digest", sig: "pss-digest", roots: "root", want: verify.SignatureGood},
	{name: "49 PSS, longest salt", sig: "pss-max", roots: "root", want: verify.SignatureGood},
	{name: "49 PSS, salt of 20 bytes", sig: "pss-20", roots: "root", want: verify.SignatureGood},
	{name: "49 by key identifier", sig: "keyid", roots: "root", want: verify.SignatureGood},
	{name: "49 certificate hash in the attributes", sig: "cades", roots: "root", want: verify.SignatureGood},
	{name: "49 several roots", sig: "p-256", roots: "elsewhere root", want: verify.SignatureGood},
	{name: "49 root in the message", sig: "fullchain", roots: "elsewhere", want: verify.SignatureGood},
	{name: "49 self-signed, and a root", sig: "self", roots: "self", want: verify.SignatureGood},
	{name: "49 no certificates, and a root", sig: "nocerts", roots: "root self", want: verify.SignatureGood},
	{name: "49 an authority that may sign", sig: "signca", roots: "root", want: verify.SignatureGood},
	{name: "49 no extended key usage", sig: "noeku", roots: "root", want: verify.SignatureGood},
	{name: "49 any extended key usage", sig: "any", roots: "root", want: verify.SignatureGood},
	{name: "49 contentCommitment", sig: "nonrep", roots: "root", want: verify.SignatureGood},
	{name: "49 not expired yet", sig: "ten", roots: "root", days: 9, want: verify.SignatureGood},

	// Rule 49: forms.
	{name: "49 PEM", sig: "pem", roots: "root", want: verify.SignatureGood},
	{name: "49 PEM of PKCS #7", sig: "pkcs7", roots: "root", want: verify.SignatureGood},
	{name: "49 mail", sig: "mail", roots: "root", want: verify.SignatureGood},
	{name: "49 mail, opaque", sig: "mail-opaque", roots: "root", want: verify.SignatureGood},
	{name: "49 mail, opaque, old names", sig: "mail-old", roots: "root", want: verify.SignatureGood},
	{name: "49 mail, opaque, CRLF", sig: "mail-crlf", roots: "root", want: verify.SignatureGood},
	{name: "49 BER", sig: "stream", roots: "root", want: verify.SignatureGood},
	{name: "49 BER, opaque", sig: "stream-opaque", roots: "root", want: verify.SignatureGood},
	{name: "49 opaque", sig: "opaque", roots: "root", want: verify.SignatureGood},

	// Rule 49: exit 10.
	{name: "49 another file", sig: "p-256", roots: "root", file: "braid!\n", want: verify.SignatureBad,
		says: `signature by "CN=p-256,O=braid test": bad: it is not a signature of this file`},
	{name: "49 an empty file", sig: "p-256", roots: "root", file: "-", want: verify.SignatureBad},
	{name: "49 message about another file", sig: "other", roots: "root", want: verify.SignatureBad},
	{name: "49 opaque message about another file", sig: "other-opaque", roots: "root", want: verify.SignatureBad,
		says: "the message contains another file"},
	{name: "49 opaque, and another file", sig: "opaque", roots: "root", file: "braid!\n", want: verify.SignatureBad,
		says: "the message contains another file"},
	{name: "49 opaque, and an empty file", sig: "opaque", roots: "root", file: "-", want: verify.SignatureBad,
		says: "the message contains another file"},
	{name: "49 intermediate missing", sig: "rsa", roots: "root", want: verify.SignatureNoChain,
		says: `issued by "CN=inter,O=braid test"`},
	{name: "49 intermediate expired", sig: "outlives", roots: "root", days: 30, want: verify.SignatureNoChain, says: "expired"},
	{name: "49 intermediate not expired yet", sig: "outlives", roots: "root", days: 10, want: verify.SignatureGood},
	{name: "49 intermediate weak", sig: "underweak", roots: "root", want: verify.SignatureNoChain},
	{name: "49 intermediate is no authority", sig: "underleaf", roots: "p-256", want: verify.SignatureNoChain},
	{name: "49 root not ours", sig: "stranger", roots: "root", want: verify.SignatureNoChain},
	{name: "49 root in the message, and not ours", sig: "fullchain", roots: "root", want: verify.SignatureNoChain},
	{name: "49 self-signed, and no root", sig: "self", roots: "root", want: verify.SignatureNoChain},
	{name: "49 no certificates", sig: "nocerts", roots: "root", want: verify.SignatureNoCertificate, says: `"serial number `},
	{name: "49 TLS server", sig: "server", roots: "root", want: verify.SignatureKeyUnfit, says: "extended key usage"},
	{name: "49 TLS server, self-signed, and a root", sig: "selfserver", roots: "selfserver", want: verify.SignatureKeyUnfit},
	{name: "49 code signing", sig: "code", roots: "root", want: verify.SignatureKeyUnfit, says: "extended key usage"},
	{name: "49 an unknown extended key usage", sig: "odd", roots: "root", want: verify.SignatureKeyUnfit},
	{name: "49 key usage is encryption", sig: "encipher", roots: "root", want: verify.SignatureKeyUnfit,
		says: "digitalSignature"},
	{name: "49 no key usage", sig: "noku", roots: "root", want: verify.SignatureKeyUnfit, says: "digitalSignature"},
	{name: "49 an authority", sig: "root", roots: "root", want: verify.SignatureKeyUnfit, says: "digitalSignature"},
	{name: "49 an unknown critical extension", sig: "critical", roots: "root", want: verify.SignatureUnsupported,
		says: "critical extension"},
	{name: "49 expired", sig: "ten", roots: "root", days: 10, want: verify.SignatureCertificateExpired, says: "since "},
	{name: "49 not yet valid", sig: "ten", roots: "root", days: -1, want: verify.SignatureCertificateNotYetValid,
		says: "it is not valid before "},
	{name: "49 SHA-1", sig: "sha1", roots: "root", want: verify.SignatureWeak, says: "its digest is SHA-1"},
	{name: "49 MD5", sig: "md5", roots: "root", want: verify.SignatureWeak, says: "its digest is MD5"},
	{name: "49 SHA-224", sig: "sha224", roots: "root", want: verify.SignatureWeak, says: "its digest is SHA-224"},
	{name: "49 SHA3", sig: "sha3-256", roots: "root", want: verify.SignatureUnsupported, says: "2.16.840.1.101.3.4.2.8"},
	{name: "49 PSS with SHA-1", sig: "pss-sha1", roots: "root", want: verify.SignatureWeak},
	{name: "49 PSS, mask with SHA-1", sig: "pss-mgf1", roots: "root", want: verify.SignatureWeak, says: "SHA-1"},
	{name: "49 PSS, mask with another hash", sig: "pss-mgf384", roots: "root", want: verify.SignatureUnsupported},
	{name: "49 PSS without salt", sig: "pss-0", roots: "root", want: verify.SignatureUnsupported, says: "have no salt"},
	{name: "49 RSA of 1024 bits", sig: "short", roots: "root", want: verify.SignatureWeak, says: "its RSA key has 1024 bits"},
	{name: "49 P-224", sig: "p-224", roots: "root", want: verify.SignatureWeak, says: "P-224"},
	{name: "49 secp256k1", sig: "secp256k1", roots: "root", want: verify.SignatureNoCertificate, says: "elliptic curve"},
	{name: "49 no signed attributes", sig: "noattr", roots: "root", want: verify.SignatureNotOfFile, says: "-noattr"},
	{name: "49 signed as something else", sig: "econtent", roots: "root", want: verify.SignatureNotOfFile, says: "1.2.3.4"},
	{name: "49 mail with what it signs", sig: "mail-multi", roots: "root", want: verify.SignatureNotOfFile, says: "smime.p7s"},
	{name: "49 not signed: data", sig: "data", roots: "root", want: verify.SignatureNotOfFile, says: "1.2.840.113549.1.7.1"},
	{name: "49 not signed: digest", sig: "digest", roots: "root", want: verify.SignatureNotOfFile},
	{name: "49 not signed: encrypted", sig: "encrypted", roots: "root", want: verify.SignatureNotOfFile},
	{name: "49 certificates only", sig: "certificates", roots: "root", want: verify.SignatureNotOfFile, says: "no signer"},

	// Rule 51.
	{name: "51 no anchor", sig: "chain", want: verify.SignatureUnchecked, says: "(not validated)"},
	{name: "51 no anchor and another file", sig: "chain", file: "x", want: verify.SignatureUnchecked, says: "(not validated)"},

	// Rule 48: several.
	{name: "48 two good ones", sig: "both", roots: "root", want: verify.SignatureGood,
		says: `; and "CN=p-384,O=braid test" (good)`},
	{name: "48 good and unknown", sig: "p-256+stranger", roots: "root", want: verify.SignatureGood,
		says: `; and "CN=stranger,O=braid test" (no chain to a root)`},
	{name: "48 unknown and good", sig: "stranger+p-256", roots: "root", want: verify.SignatureGood,
		says: `good signature by "CN=p-256,`},
	{name: "48 unknown ones only", sig: "stranger+p-256", roots: "self", want: verify.SignatureNoChain,
		says: "(one of 2 signatures)"},
	{name: "48 unfit and good", sig: "server+p-256", roots: "root", want: verify.SignatureGood,
		says: `; and "CN=server,O=braid test" (key may not sign files)`},
	{name: "48 two signers, another file", sig: "both", roots: "root", file: "x", want: verify.SignatureBad},
	{name: "48 unknown and bad", sig: "stranger+p-256", roots: "root", file: "x", want: verify.SignatureBad,
		says: `by "CN=p-256,`},
}

// TestRules_Rule49_S7 proves rules 48, 49 and 51 with what openssl made once.
func TestRules_Rule49_S7(t *testing.T) { checkRules(t, recordings(t)) }

func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(recorded)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string][]byte{}
	for _, e := range entries {
		if made[e.Name()], err = os.ReadFile(filepath.Join(recorded, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

func checkRules(t *testing.T, made map[string][]byte) {
	used := map[string]bool{}
	day := certificateOf(t, made, "root").NotBefore.Add(time.Minute)
	words := strings.NewReplacer(
		"{rsa}", fmt.Sprintf("%x", sha256.Sum256(certificateOf(t, made, "rsa").Raw)),
		"{day}", day.Format("2006-01-02T"),
	)
	for _, r := range rules {
		used[r.sig+".p7"] = true
		t.Run(r.name, func(t *testing.T) {
			var roots []*x509.Certificate
			for _, name := range strings.Fields(r.roots) {
				roots = append(roots, certificateOf(t, made, name))
			}
			file := map[string]string{"": signed, "-": ""}[r.file]
			if file == "" && r.file != "-" {
				file = r.file
			}
			now := day.AddDate(0, 0, r.days)
			got, err := check(made[r.sig+".p7"], roots, now, strings.NewReader(file))
			expect(t, got, err, r.want, words.Replace(r.says))
		})
	}
	for name := range made {
		if strings.HasSuffix(name, ".p7") && !used[name] {
			t.Errorf("%s: in no row", name)
		}
	}
}

func certificateOf(t testing.TB, made map[string][]byte, name string) *x509.Certificate {
	t.Helper()
	list, err := ParseRoots(made[name+".crt"])
	if err != nil {
		t.Fatal(name, err)
	}
	return list[0]
}

// check judges a file that comes in many small pieces.
func check(sig []byte, roots []*x509.Certificate, now time.Time, file io.Reader) ([]verify.SignatureResult, error) {
	c, err := New(sig, roots, now)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(c, iotest.OneByteReader(file)); err != nil {
		return nil, err
	}
	return c.Signatures()
}

// expect says what is wrong with a verdict.
func expect(t *testing.T, got []verify.SignatureResult, err error, want verify.SignatureCode, says string) {
	t.Helper()
	good, ok := verify.GoodSignature(got)
	code, text := good.Code, describe(good, got)
	if err != nil {
		refused, isOurs := errors.AsType[*verify.SignatureError](err)
		if !isOurs {
			t.Fatalf("error of type %T: %v", err, err)
		}
		code, text = refused.Code, refused.Error()
	}
	if code != want || !strings.Contains(text, says) {
		t.Errorf("%v: %s\nwant %v: %s", code, text, want, says)
	}
	if ok != (want == verify.SignatureGood) {
		t.Errorf("there is a good signer: %v", ok)
	}
}

// describe has all that a good signature says, and the others beside it.
func describe(s verify.SignatureResult, all []verify.SignatureResult) string {
	line := fmt.Sprintf("%v signature by %s, certificate %s, %s", s.Code, s.Signer, s.Key, s.Hash)
	if !s.Time.IsZero() {
		line += ", signed " + moment(s.Time)
	}
	for _, other := range all {
		if other != s {
			line += fmt.Sprintf("; and %s (%v)", other.Signer, other.Code)
		}
	}
	return line
}
