package verify

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func claim(t testing.TB, a Algorithm, digits, field string, over Channel) Claim {
	return Claim{Digest: mustHex(t, a, digits), Field: field, Channel: over}
}

// check gives body to a Checker, in pieces of a few bytes.
func check(body string, size int64, claims ...Claim) (Proof, error) {
	c := NewChecker(size, claims)
	for p := range slices.Chunk([]byte(body), 4) {
		c.Write(p)
	}
	return c.Proof()
}

func TestProofOfStrongClaim(t *testing.T) {
	claims := []Claim{
		claim(t, MD5, md5Hex, "Digest", HTTP),
		claim(t, SHA256, sha256Hex, "Digest", HTTPS),
		claim(t, SHA512, sha512Hex, "Repr-Digest", HTTP),
		claim(t, SHA256, sha256Hex, "--sha256", User),
	}
	for _, size := range []int64{int64(len(content)), -1, -7} {
		p, err := check(content, size, claims...)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Valid() || !p.Verified() || p.Size() != int64(len(content)) {
			t.Errorf("valid %v, verified %v, size %d", p.Valid(), p.Verified(), p.Size())
		}
		if got, want := p.String(), "sha-256 from --sha256"; got != want { // rule 64
			t.Errorf("got %s, want %s", got, want)
		}
	}
	p, err := check(content, -1, claims[:3]...)
	if err != nil {
		t.Fatal(err)
	}
	var evidence []string
	for _, c := range p.Evidence() {
		evidence = append(evidence, c.String())
	}
	want := "sha-256 from Digest over https, sha-512 from Repr-Digest over http, md5 from Digest over http"
	if got := strings.Join(evidence, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var sums []string
	for _, d := range p.Digests() {
		sums = append(sums, d.Hex())
	}
	if !slices.Equal(sums, []string{sha512Hex, sha256Hex, md5Hex}) {
		t.Errorf("computed %v", p.Digests())
	}
}

// Proves C9 and rule 32: each claimed digest is checked, and the error names both values and who said so.
func TestMismatch(t *testing.T) {
	zeros := strings.Repeat("0", 128)
	tests := map[string]struct {
		claims []Claim
		want   string
	}{
		"strong": {
			[]Claim{claim(t, SHA256, zeros[:64], "Digest", HTTPS)},
			"sha-256 is " + sha256Hex + ", want " + zeros[:64] + " (from Digest over https)",
		},
		"the user's": {
			[]Claim{claim(t, SHA256, zeros[:64], "--sha256", User)},
			"sha-256 is " + sha256Hex + ", want " + zeros[:64] + " (from --sha256)",
		},
		"weak beside a strong one that holds": {
			[]Claim{claim(t, SHA256, sha256Hex, "Digest", HTTPS), claim(t, MD5, zeros[:32], "Digest", HTTPS)},
			"md5 is " + md5Hex + ", want " + zeros[:32] + " (from Digest over https)",
		},
		"weak alone (rule 31)": {
			[]Claim{claim(t, SHA1, zeros[:40], "Digest", HTTP)},
			"sha-1 is " + sha1Hex + ", want " + zeros[:40] + " (from Digest over http)",
		},
		"the strongest is named": {
			[]Claim{claim(t, MD5, zeros[:32], "Digest", HTTP), claim(t, SHA512, zeros, "Repr-Digest", HTTP)},
			"sha-512 is " + sha512Hex + ", want " + zeros + " (from Repr-Digest over http)",
		},
		"one of two values": {
			[]Claim{claim(t, SHA256, sha256Hex, "Digest", HTTP), claim(t, SHA256, zeros[:64], "--sha256", User)},
			"sha-256 is " + sha256Hex + ", want " + zeros[:64] + " (from --sha256)",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := check(content, -1, tt.claims...)
			if _, ok := errors.AsType[*MismatchError](err); !ok {
				t.Fatalf("error %v, want a *MismatchError", err)
			}
			if err.Error() != tt.want || p.Valid() {
				t.Errorf("got  %v, proof %v\nwant %s", err, p, tt.want)
			}
		})
	}
	// A claim of nothing cannot hold: whoever made it meant something.
	if p, err := check(content, -1, Claim{Field: "--sha256", Channel: User}); err == nil || p.Valid() {
		t.Errorf("a claim without a digest: proof %v, error %v", p, err)
	}
}

func TestSize(t *testing.T) {
	for size, want := range map[int64]string{
		int64(len(content)) - 1: "longer than the 5 bytes expected",
		int64(len(content)) + 1: "ends after 6 of 7 bytes",
		0:                       "longer than the 0 bytes expected",
	} {
		p, err := check(content, size, claim(t, SHA256, sha256Hex, "Digest", HTTPS))
		if _, ok := errors.AsType[*SizeError](err); !ok || err.Error() != want || p.Valid() {
			t.Errorf("size %d: got %v, proof %v; want %s", size, err, p, want)
		}
	}
	if p, err := check("", 0); err != nil || !p.Valid() || p.Size() != 0 {
		t.Errorf("an empty file: proof %v, error %v", p, err)
	}
}

// Proves rule 64: a digest from a list that is signed is the signer's word, and the proof names whose.
func TestSignedClaim_Rule64(t *testing.T) {
	by := SignatureResult{Kind: "OpenPGP", From: "SUMS.asc", Key: "0123", Signer: `"Alice"`}
	signed := func(c Claim) Claim { c.By = by; return c }
	https := claim(t, SHA256, sha256Hex, "Digest", HTTPS)
	p, err := check(content, -1, https, signed(claim(t, SHA256, sha256Hex, "line 3 of SUMS", Signed)))
	if err != nil || !p.Signed() || !p.Verified() || !slices.Equal(p.Signatures(), []SignatureResult{by}) {
		t.Fatalf("%v %v, signed by %v", p, err, p.Signatures())
	}
	if want := `sha-256 from line 3 of SUMS, OpenPGP signature by 0123, "Alice"`; p.String() != want {
		t.Errorf("%v, want %s", p, want)
	}
	for name, c := range map[string]Claim{"by nobody who counts": signed(https),
		"of a weak digest": signed(claim(t, MD5, md5Hex, "line 3 of SUMS", Signed))} {
		if p, err := check(content, -1, c); err != nil || p.Signed() {
			t.Errorf("%s: %v %v counts as signed", name, p, err)
		}
	}
}

// vouch is a SignatureChecker that says the same of every file.
type vouch struct {
	io.Writer
	SignatureResult
}

func (v vouch) Signatures() ([]SignatureResult, error) {
	return []SignatureResult{v.SignatureResult}, nil
}

// stranger is a SignatureChecker that knows the key of no signature.
type stranger struct{ io.Writer }

func (stranger) Signatures() ([]SignatureResult, error) {
	r := SignatureResult{Kind: "minisign", Code: SignatureUnknownKey, From: "a.minisig", Key: "4567"}
	return []SignatureResult{r}, &SignatureError{Code: r.Code, By: r.Key}
}

// Proves rule 64: a good signature counts, whether that of an unknown key stands before or behind it.
func TestStrangerBesideGood_Rule64(t *testing.T) {
	good := vouch{io.Discard, SignatureResult{Kind: "OpenPGP", Code: SignatureGood, From: "a.asc", Key: "0123"}}
	for _, all := range [][]SignatureChecker{{good, stranger{io.Discard}}, {stranger{io.Discard}, good}} {
		c := NewChecker(-1, nil, all...)
		io.WriteString(c, content)
		if p, err := c.Proof(); err != nil || !p.Signed() || len(p.Signatures()) != 1 {
			t.Errorf("%v, %v", p, err)
		}
	}
	c := NewChecker(-1, nil, stranger{io.Discard})
	io.WriteString(c, content)
	if p, err := c.Proof(); err == nil || p.Valid() {
		t.Errorf("only of an unknown key: %v, %v", p, err)
	}
}

// Proves rule 64: what the user said stands before a signature, which stands before what servers said.
func TestBestEvidenceFirst_Rule64(t *testing.T) {
	signature := vouch{io.Discard, SignatureResult{Kind: "OpenPGP", Code: SignatureGood, From: "a.asc", Key: "0123"}}
	for _, tt := range []struct {
		over Channel
		want string
	}{
		{User, "sha-256 from --sha256; OpenPGP signature by 0123"},
		{HTTPS, "OpenPGP signature by 0123; sha-256 from --sha256 over https"},
	} {
		c := NewChecker(-1, []Claim{claim(t, SHA256, sha256Hex, "--sha256", tt.over)}, signature)
		io.WriteString(c, content)
		if p, err := c.Proof(); err != nil || p.String() != tt.want {
			t.Errorf("%v, %v; want %s", p, err, tt.want)
		}
	}
}

// Digests of two algorithms that different fields gave over the same channel are both named.
func TestBothNamed_Rule64(t *testing.T) {
	a, b := claim(t, SHA256, sha256Hex, "SHA256SUMS", HTTPS), claim(t, SHA512, sha512Hex, "SHA512SUMS", HTTPS)
	both := "sha-512 from SHA512SUMS over https; sha-256 from SHA256SUMS over https"
	byUser := claim(t, SHA256, sha256Hex, "--sha256", User)
	of := func(c Claim, field string, over Channel) Claim { c.Field, c.Channel = field, over; return c }
	for _, tt := range []struct {
		claims []Claim
		want   string
	}{
		{[]Claim{a, b}, both},
		{[]Claim{a, b, of(a, "checksums.txt", HTTPS)}, both},
		{[]Claim{of(a, "Digest", HTTPS), of(b, "Digest", HTTPS), of(a, "Repr-Digest", HTTPS)}, "sha-512 from Digest over https"},
		{[]Claim{a, of(b, "SHA512SUMS", HTTP)}, "sha-256 from SHA256SUMS over https"},
		{[]Claim{byUser, a, b}, "sha-256 from --sha256"},
		{[]Claim{byUser, of(b, "--sha512", User)}, "sha-512 from --sha512; sha-256 from --sha256"},
		{[]Claim{byUser, of(a, "A", Signed), of(b, "B", Signed)}, "sha-256 from --sha256; sha-512 from B; sha-256 from A"},
	} {
		if p, err := check(content, -1, tt.claims...); err != nil || p.String() != tt.want {
			t.Errorf("%v, %v; want %s", p, err, tt.want)
		}
	}
}

// Proves rule 31 and C4: what MD5 and SHA-1 prove is said honestly.
func TestWeakClaimsDoNotVerify_Rule31(t *testing.T) {
	tests := []struct {
		claims []Claim
		want   string
	}{
		{nil, "unverified"},
		{
			[]Claim{claim(t, MD5, md5Hex, "Digest", HTTP)},
			"unverified (md5 from Digest over http matches, which proves nothing against an attacker)",
		},
		{
			[]Claim{claim(t, MD5, md5Hex, "Digest", HTTPS), claim(t, SHA1, sha1Hex, "Repr-Digest", HTTPS)},
			"unverified (sha-1 from Repr-Digest over https matches, which proves nothing against an attacker)",
		},
		{
			[]Claim{claim(t, SHA1, sha1Hex, "--checksum", User)},
			"unverified (sha-1 from --checksum matches, which proves nothing against an attacker)",
		},
	}
	for _, tt := range tests {
		p, err := check(content, -1, tt.claims...)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Valid() || p.Verified() || p.String() != tt.want {
			t.Errorf("valid %v, verified %v: %v; want %s", p.Valid(), p.Verified(), p, tt.want)
		}
		if !slices.Contains(p.Digests(), mustHex(t, SHA256, sha256Hex)) {
			t.Errorf("no sha-256 among %v", p.Digests())
		}
	}
}

func TestProofIsNotForged(t *testing.T) {
	if p := (Proof{}); p.Valid() || p.Verified() || p.String() != "no proof" {
		t.Errorf("the zero value: valid %v, verified %v, %v", p.Valid(), p.Verified(), p)
	}
	if p := Unchecked(12); !p.Valid() || p.Verified() || p.Size() != 12 || p.String() != "unverified" || p.Digests() != nil {
		t.Errorf("Unchecked: valid %v, verified %v, size %d, %v", p.Valid(), p.Verified(), p.Size(), p)
	}
	if Unchecked(-1).Valid() {
		t.Error("a proof of no size")
	}
	weak := claim(t, MD5, md5Hex, "Digest", HTTP)
	p, err := check(content, -1, weak)
	if err != nil {
		t.Fatal(err)
	}
	p.Evidence()[0] = claim(t, SHA256, sha256Hex, "Digest", HTTP)
	p.Digests()[0] = Digest{}
	if p.Verified() || p.Digests()[0].IsZero() {
		t.Error("a proof was changed from outside")
	}
	claims := []Claim{weak}
	c := NewChecker(-1, claims)
	claims[0].Digest = Digest{}
	io.WriteString(c, content)
	if _, err := c.Proof(); err != nil {
		t.Errorf("claims were changed after the fact: %v", err)
	}
}

func TestCheckerGoesOn(t *testing.T) {
	c := NewChecker(-1, nil)
	c.Write([]byte(content[:2]))
	early, err := c.Proof()
	if err != nil {
		t.Fatal(err)
	}
	c.Write([]byte(content[2:]))
	late, err := c.Proof()
	if err != nil {
		t.Fatal(err)
	}
	if early.Size() != 2 || late.Size() != 6 || c.written != 6 || late.Digests()[0].Hex() != sha256Hex {
		t.Errorf("first %d bytes, then %d with %v", early.Size(), late.Size(), late.Digests())
	}
}

// Proves C5's comparison.
func TestAgree_C5(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	a := []Claim{claim(t, SHA256, sha256Hex, "Digest", HTTPS), claim(t, MD5, md5Hex, "Digest", HTTPS)}
	fine := []Claim{claim(t, SHA512, sha512Hex, "Digest", HTTP), claim(t, MD5, md5Hex, "Repr-Digest", HTTP), {}, {}}
	if err := Agree(a, fine); err != nil {
		t.Error(err)
	}
	bad := append(fine, claim(t, SHA256, zeros, "--sha256", User))
	want := "sha-256 is " + sha256Hex + " (from Digest over https) and " + zeros + " (from --sha256)"
	err := Agree(a, bad)
	if _, ok := errors.AsType[*ConflictError](err); !ok || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if Agree(nil, nil) != nil || Agree(nil, append(a, bad...)) == nil || Agree(append(a, bad...), nil) == nil {
		t.Error("a contradiction within one side is one too")
	}
	if Strong(nil) || Strong(a[1:]) || !Strong(a) {
		t.Error("only sha-256 and better are strong")
	}
}

// FuzzChecker compares a Checker, fed in any pieces, with the standard library's hashes.
func FuzzChecker(f *testing.F) {
	f.Add([]byte(content), int64(6), uint8(0), uint8(3), true)
	f.Add([]byte(content), int64(5), uint8(0), uint8(1), false)
	f.Add([]byte(content), int64(-1), uint8(9), uint8(0), true)
	f.Fuzz(func(t *testing.T, body []byte, size int64, flip, chunk uint8, weak bool) {
		sum, weakSum := sha256.Sum256(body), md5.Sum(body)
		sum[0] ^= flip
		strong, _ := NewDigest(SHA256, sum[:])
		claims := []Claim{{Digest: strong, Field: "Digest", Channel: HTTP}}
		if weak {
			d, _ := NewDigest(MD5, weakSum[:])
			claims = append(claims, Claim{Digest: d, Field: "Digest", Channel: HTTP})
		}
		c := NewChecker(size, claims)
		for p := range slices.Chunk(body, int(chunk)+1) {
			c.Write(p)
		}
		p, err := c.Proof()
		right := flip == 0 && (size < 0 || size == int64(len(body)))
		if right != (err == nil) || right != p.Valid() || right && (p.Size() != int64(len(body)) || !p.Verified()) {
			t.Fatalf("error %v, proof %v; the file is right: %v", err, p, right)
		}
	})
}

// A claim of which little is said reads like a sentence all the same.
func TestClaimWords(t *testing.T) {
	d := mustHex(t, SHA256, sha256Hex)
	for want, c := range map[string]Claim{
		"sha-256 from Digest over http":             {Digest: d, Field: "Digest", Channel: HTTP},
		"sha-256 from --sha256":                     {Digest: d, Field: "--sha256", Channel: User},
		"sha-256 from the user":                     {Digest: d, Channel: User},
		"sha-256 from Digest":                       {Digest: d, Field: "Digest"},
		"sha-256 from an unknown source":            {Digest: d},
		"sha-256 from an unknown source over https": {Digest: d, Channel: HTTPS},
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}

// Of two digests both have to hold, however strong the one that does.
func TestBothDigests_Rule32(t *testing.T) {
	right, wrong := claim(t, SHA512, sha512Hex, "Digest", HTTPS), claim(t, SHA256, strings.Repeat("0", 64), "Repr-Digest", HTTPS)
	for _, claims := range [][]Claim{{right, wrong}, {wrong, right}} {
		p, err := check(content, -1, claims...)
		if e, ok := errors.AsType[*MismatchError](err); !ok || e.Claim != wrong || p.Valid() {
			t.Errorf("%v, %v", p, err)
		}
	}
}

// A good signature does not outweigh a digest that is wrong.
func TestSignatureAndWrongDigest_Rule50(t *testing.T) {
	signature := vouch{io.Discard, SignatureResult{Kind: "OpenPGP", Code: SignatureGood, From: "a.asc", Key: "0123"}}
	c := NewChecker(-1, []Claim{claim(t, SHA512, sha512Hex, "Digest", HTTPS), claim(t, SHA256, strings.Repeat("0", 64),
		"Digest", HTTPS)}, signature)
	io.WriteString(c, content)
	p, err := c.Proof()
	if _, ok := errors.AsType[*MismatchError](err); !ok || p.Valid() {
		t.Errorf("%v, %v", p, err)
	}
}
