package smime

import (
	"crypto/x509"
	"errors"
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

// A rule is a row of the table: a message, roots and policy, and what must come of them.
type rule struct {
	name  string
	sig   string // name of what openssl made
	roots string // names of certificates; "" is none
	file  string // "" is the file that was signed, "-" an empty one
	days  int    // from the day on which all was made
	code  bool   // Policy.CodeSigning
	want  Kind
	says  string // in the result or the error
}

var rules = []rule{
	// Rule 49, C10, C11, S7: what counts.
	{name: "49 RSA, intermediate in the message", sig: "chain", roots: "root", want: Good,
		says: `good signature by "CN=rsa,O=braid test <alice@example.org> <a@example.net>", certificate {rsa}, RSA 2048 with SHA-256, signed {day}`},
	{name: "49 RSA, the intermediate is a root", sig: "rsa", roots: "inter", want: Good},
	{name: "49 P-256", sig: "p-256", roots: "root", want: Good, says: "ECDSA P-256 with SHA-256"},
	{name: "49 P-384", sig: "p-384", roots: "root", want: Good, says: "ECDSA P-384 with SHA-384"},
	{name: "49 P-521", sig: "p-521", roots: "root", want: Good, says: "ECDSA P-521 with SHA-512"},
	{name: "49 SHA-384", sig: "sha384", roots: "root", want: Good, says: "RSA 2048 with SHA-384"},
	{name: "49 SHA-512", sig: "sha512", roots: "root", want: Good, says: "RSA 2048 with SHA-512"},
	{name: "49 PSS", sig: "pss", roots: "root", want: Good, says: "RSA-PSS 2048 with SHA-256"},
	{name: "49 PSS, salt as long as the digest", sig: "pss-digest", roots: "root", want: Good},
	{name: "49 PSS, longest salt", sig: "pss-max", roots: "root", want: Good},
	{name: "49 PSS, salt of 20 bytes", sig: "pss-20", roots: "root", want: Good},
	{name: "49 by key identifier", sig: "keyid", roots: "root", want: Good},
	{name: "49 certificate hash in the attributes", sig: "cades", roots: "root", want: Good},
	{name: "49 several roots", sig: "p-256", roots: "elsewhere root", want: Good},
	{name: "49 root in the message", sig: "fullchain", roots: "elsewhere", want: Good},
	{name: "49 self-signed, and a root", sig: "self", roots: "self", want: Good},
	{name: "49 no certificates, and a root", sig: "nocerts", roots: "root self", want: Good},
	{name: "49 an authority that may sign", sig: "signca", roots: "root", want: Good},
	{name: "49 no extended key usage", sig: "noeku", roots: "root", want: Good},
	{name: "49 any extended key usage", sig: "any", roots: "root", want: Good},
	{name: "49 contentCommitment", sig: "nonrep", roots: "root", want: Good},
	{name: "49 code signing, if the policy says so", sig: "code", roots: "root", code: true, want: Good},
	{name: "49 mail, if code signing counts too", sig: "p-256", roots: "root", code: true, want: Good},
	{name: "49 not expired yet", sig: "ten", roots: "root", days: 9, want: Good},

	// Rule 49: forms.
	{name: "49 PEM", sig: "pem", roots: "root", want: Good},
	{name: "49 PEM of PKCS #7", sig: "pkcs7", roots: "root", want: Good},
	{name: "49 mail", sig: "mail", roots: "root", want: Good},
	{name: "49 mail, opaque", sig: "mail-opaque", roots: "root", want: Good},
	{name: "49 mail, opaque, old names", sig: "mail-old", roots: "root", want: Good},
	{name: "49 mail, opaque, CRLF", sig: "mail-crlf", roots: "root", want: Good},
	{name: "49 BER", sig: "stream", roots: "root", want: Good},
	{name: "49 BER, opaque", sig: "stream-opaque", roots: "root", want: Good},
	{name: "49 opaque", sig: "opaque", roots: "root", want: Good},

	// Rule 49: exit 10.
	{name: "49 another file", sig: "p-256", roots: "root", file: "braid!\n", want: Bad, says: `signature by "CN=p-256,O=braid test": bad: it is not of this file`},
	{name: "49 an empty file", sig: "p-256", roots: "root", file: "-", want: Bad},
	{name: "49 message about another file", sig: "other", roots: "root", want: Bad},
	{name: "49 opaque message about another file", sig: "other-opaque", roots: "root", want: Bad, says: "the message holds another file"},
	{name: "49 opaque, and another file", sig: "opaque", roots: "root", file: "braid!\n", want: Bad, says: "the message holds another file"},
	{name: "49 opaque, and an empty file", sig: "opaque", roots: "root", file: "-", want: Bad, says: "the message holds another file"},
	{name: "49 intermediate missing", sig: "rsa", roots: "root", want: NoChain, says: `issued by "CN=inter,O=braid test"`},
	{name: "49 intermediate expired", sig: "outlives", roots: "root", days: 30, want: NoChain, says: "expired"},
	{name: "49 intermediate not expired yet", sig: "outlives", roots: "root", days: 10, want: Good},
	{name: "49 intermediate weak", sig: "underweak", roots: "root", want: NoChain},
	{name: "49 intermediate is no authority", sig: "underleaf", roots: "p-256", want: NoChain},
	{name: "49 root not ours", sig: "stranger", roots: "root", want: NoChain},
	{name: "49 root in the message, and not ours", sig: "fullchain", roots: "root", want: NoChain},
	{name: "49 self-signed, and no root", sig: "self", roots: "root", want: NoChain},
	{name: "49 no certificates", sig: "nocerts", roots: "root", want: NoCertificate, says: `"serial number `},
	{name: "49 TLS server", sig: "server", roots: "root", want: Unfit, says: "extended key usage"},
	{name: "49 TLS server, code signing counts too", sig: "server", roots: "root", code: true, want: Unfit},
	{name: "49 TLS server, self-signed, and a root", sig: "selfserver", roots: "selfserver", want: Unfit},
	{name: "49 code signing", sig: "code", roots: "root", want: Unfit, says: "extended key usage"},
	{name: "49 an unknown extended key usage", sig: "odd", roots: "root", want: Unfit},
	{name: "49 key usage is encryption", sig: "encipher", roots: "root", want: Unfit, says: "digitalSignature"},
	{name: "49 no key usage", sig: "noku", roots: "root", want: Unfit, says: "digitalSignature"},
	{name: "49 an authority", sig: "root", roots: "root", want: Unfit, says: "digitalSignature"},
	{name: "49 an unknown critical extension", sig: "critical", roots: "root", want: Unsupported, says: "critical extension"},
	{name: "49 expired", sig: "ten", roots: "root", days: 10, want: Expired, says: "since "},
	{name: "49 not yet valid", sig: "ten", roots: "root", days: -1, want: NotYetValid, says: "not before "},
	{name: "49 SHA-1", sig: "sha1", roots: "root", want: Weak, says: "its digest is SHA-1"},
	{name: "49 MD5", sig: "md5", roots: "root", want: Weak, says: "its digest is MD5"},
	{name: "49 SHA-224", sig: "sha224", roots: "root", want: Weak, says: "its digest is SHA-224"},
	{name: "49 SHA3", sig: "sha3-256", roots: "root", want: Unsupported, says: "2.16.840.1.101.3.4.2.8"},
	{name: "49 PSS with SHA-1", sig: "pss-sha1", roots: "root", want: Weak},
	{name: "49 PSS, mask with SHA-1", sig: "pss-mgf1", roots: "root", want: Weak, says: "SHA-1"},
	{name: "49 PSS, mask with another hash", sig: "pss-mgf384", roots: "root", want: Unsupported},
	{name: "49 PSS without salt", sig: "pss-0", roots: "root", want: Unsupported, says: "without salt"},
	{name: "49 RSA of 1024 bits", sig: "short", roots: "root", want: Weak, says: "an RSA key of 1024 bits"},
	{name: "49 P-224", sig: "p-224", roots: "root", want: Weak, says: "P-224"},
	{name: "49 secp256k1", sig: "secp256k1", roots: "root", want: NoCertificate, says: "elliptic curve"},
	{name: "49 no signed attributes", sig: "noattr", roots: "root", want: NotSigned, says: "-noattr"},
	{name: "49 signed as something else", sig: "econtent", roots: "root", want: NotSigned, says: "1.2.3.4"},
	{name: "49 mail with what it signs", sig: "mail-multi", roots: "root", want: NotSigned, says: "smime.p7s"},
	{name: "49 not signed: data", sig: "data", roots: "root", want: NotSigned, says: "1.2.840.113549.1.7.1"},
	{name: "49 not signed: digest", sig: "digest", roots: "root", want: NotSigned},
	{name: "49 not signed: encrypted", sig: "encrypted", roots: "root", want: NotSigned},
	{name: "49 certificates only", sig: "certificates", roots: "root", want: NotSigned, says: "no signer"},

	// Rule 51.
	{name: "51 no anchor", sig: "chain", want: Unchecked, says: "signature present, not validated: no anchor"},
	{name: "51 no anchor and another file", sig: "chain", file: "x", want: Unchecked, says: "signature present, not validated: no anchor"},

	// Rule 48: several.
	{name: "48 two good ones", sig: "both", roots: "root", want: Good, says: `; and "CN=p-384,O=braid test" (good)`},
	{name: "48 good and unknown", sig: "p-256+stranger", roots: "root", want: Good, says: `; and "CN=stranger,O=braid test" (no chain to a root)`},
	{name: "48 unknown and good", sig: "stranger+p-256", roots: "root", want: Good, says: `good signature by "CN=p-256,`},
	{name: "48 unknown ones only", sig: "stranger+p-256", roots: "self", want: NoChain, says: "(one of 2 signatures)"},
	{name: "48 unfit and good", sig: "server+p-256", roots: "root", want: Good, says: `; and "CN=server,O=braid test" (certificate may not sign files)`},
	{name: "48 two signers, another file", sig: "both", roots: "root", file: "x", want: Bad},
	{name: "48 unknown and bad", sig: "stranger+p-256", roots: "root", file: "x", want: Bad, says: `by "CN=p-256,`},
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
		"{rsa}", fingerprint(certificateOf(t, made, "rsa")),
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
			policy := Policy{Now: day.AddDate(0, 0, r.days), CodeSigning: r.code}
			got, err := check(made[r.sig+".p7"], roots, policy, strings.NewReader(file))
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
func check(sig []byte, roots []*x509.Certificate, policy Policy, file io.Reader) (Result, error) {
	c, err := New(sig, roots, policy)
	if err != nil {
		return Result{}, err
	}
	if _, err := io.Copy(c, iotest.OneByteReader(file)); err != nil {
		return Result{}, err
	}
	return c.Result()
}

// expect says what is wrong with a verdict.
func expect(t *testing.T, got Result, err error, want Kind, says string) {
	t.Helper()
	kind, text := Unchecked, got.String()
	switch refused, ok := errors.AsType[*Error](err); {
	case ok:
		kind, text = refused.Kind, refused.Error()
	case err != nil:
		t.Fatalf("error of type %T: %v", err, err)
	case got.Validated:
		kind = Good
	}
	if kind != want || !strings.Contains(text, says) {
		t.Errorf("%v: %s\nwant %v: %s", kind, text, want, says)
	}
	if _, ok := got.Signer(); ok != (want == Good) {
		t.Errorf("there is a good signer: %v", ok)
	}
}

// A reason stands behind what a signature says of itself.
func TestSignatureString(t *testing.T) {
	s := Signature{Kind: Bad, Subject: "CN=Alice"}
	plain := s.String()
	s.Reason = "it is cut off"
	if got := s.String(); got != plain+": it is cut off" || strings.HasSuffix(plain, ": ") {
		t.Errorf("%q and %q", plain, got)
	}
}
