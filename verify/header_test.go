package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
)

// The file of most tests, and what other tools (md5sum, sha1sum ...) say about it.
const (
	content   = "braid\n"
	md5Hex    = "1f35b000325536f3a649de9ecc37fb11"
	sha1Hex   = "09cf149cc8abf597a69a207a84356df309d4ebf4"
	sha256Hex = "9ef7524217e82fe33982f0fafb753c52b2d554ab727012e0d8d15fe1232d7787"
	sha512Hex = "dedabbdbed969d9cf28838df8d10ece12c8e0ba783e287a7d9cdd05b48c931d844a7182c6852637d61410dc7504bd6b16661361e630bc8eee4cc4aa93698b3dc"
)

// rfc6249 is the Instance Digest of the examples in RFC 6249: base64 of hexadecimal digits.
const rfc6249 = "MWVkMWQxYTRiMzk5MDQ0MzI3NGU5NDEyZTk5OWY1ZGFmNzgyZTJlODYzYjRjYzFhOTlmNTQwYzI2M2QwM2U2MQ=="

func mustHex(t testing.TB, a Algorithm, s string) Digest {
	t.Helper()
	d, err := ParseHex(a, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// b64 is base64 of the raw digest, b64hex of its digits.
func b64(digits string) string {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func b64hex(digits string) string { return base64.StdEncoding.EncodeToString([]byte(digits)) }

func digests(claims []Claim) string {
	var s []string
	for _, c := range claims {
		s = append(s, c.Field+" "+c.Digest.String())
	}
	return strings.Join(s, ", ")
}

// Proves rule 33: each way to write a digest that real servers have.
func TestDigestForms_Rule33(t *testing.T) {
	tests := map[string]struct {
		lines []string
		want  string
	}{
		"RFC 6249's own example": {
			[]string{"SHA-256=" + rfc6249},
			"Digest sha-256=1ed1d1a4b3990443274e9412e999f5daf782e2e863b4cc1a99f540c263d03e61",
		},
		"base64 of the raw digest": {[]string{"SHA-256=" + b64(sha256Hex)}, "Digest sha-256=" + sha256Hex},
		"base64 of the digits":     {[]string{"SHA-256=" + b64hex(sha256Hex)}, "Digest sha-256=" + sha256Hex},
		"base64 of capital digits": {[]string{"SHA-256=" + b64hex(strings.ToUpper(sha256Hex))}, "Digest sha-256=" + sha256Hex},
		"bare digits":              {[]string{"sha-256=" + sha256Hex}, "Digest sha-256=" + sha256Hex},
		"bare capital digits":      {[]string{"sha-256=" + strings.ToUpper(sha256Hex)}, "Digest sha-256=" + sha256Hex},
		"without padding": {[]string{"SHA-256=" + strings.TrimRight(b64(sha256Hex), "=")},
			"Digest sha-256=" + sha256Hex},
		"digits without padding": {[]string{"SHA-512=" + strings.TrimRight(b64hex(sha512Hex), "=")},
			"Digest sha-512=" + sha512Hex},
		"md5 without padding":   {[]string{"MD5=" + strings.TrimRight(b64(md5Hex), "=")}, "Digest md5=" + md5Hex},
		"sha-512 raw":           {[]string{"SHA-512=" + b64(sha512Hex)}, "Digest sha-512=" + sha512Hex},
		"sha-512 of the digits": {[]string{"SHA-512=" + b64hex(sha512Hex)}, "Digest sha-512=" + sha512Hex},
		"sha-512 bare":          {[]string{"SHA-512=" + sha512Hex}, "Digest sha-512=" + sha512Hex},
		"sha-1 raw":             {[]string{"SHA=" + b64(sha1Hex)}, "Digest sha-1=" + sha1Hex},
		"sha-1 of the digits":   {[]string{"sha=" + b64hex(sha1Hex)}, "Digest sha-1=" + sha1Hex},
		"sha-1 bare":            {[]string{"Sha=" + sha1Hex}, "Digest sha-1=" + sha1Hex},
		"md5 raw":               {[]string{"MD5=" + b64(md5Hex)}, "Digest md5=" + md5Hex},
		"md5 of the digits":     {[]string{"md5=" + b64hex(md5Hex)}, "Digest md5=" + md5Hex},
		"md5 bare":              {[]string{"mD5=" + md5Hex}, "Digest md5=" + md5Hex},
		"MirrorBrain's three lines": {
			[]string{"MD5=" + b64(md5Hex), "SHA=" + b64(sha1Hex), "SHA-256=" + b64(sha256Hex)},
			"Digest sha-256=" + sha256Hex + ", Digest sha-1=" + sha1Hex + ", Digest md5=" + md5Hex,
		},
		"several in one line, loosely written": {
			[]string{" MD5=" + b64(md5Hex) + " ,\t,SHA-256 = " + b64(sha256Hex) + ","},
			"Digest sha-256=" + sha256Hex + ", Digest md5=" + md5Hex,
		},
		"unknown algorithms": {
			[]string{"UNIXsum=30637, adler32=03da0195, id-sha-256=x, crc32c=????, SHA-256=" + b64(sha256Hex)},
			"Digest sha-256=" + sha256Hex,
		},
		"only unknown ones": {[]string{"UNIXsum=30637"}, ""},
		"the same twice": {[]string{"SHA-256=" + b64(sha256Hex) + ",sha-256=" + sha256Hex},
			"Digest sha-256=" + sha256Hex},
		"the same under another name":  {[]string{"SHA=" + b64(sha1Hex) + ",SHA-1=" + sha1Hex}, "Digest sha-1=" + sha1Hex},
		"an empty list (RFC 9110 5.6)": {[]string{""}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claims, err := FromHeader(map[string][]string{"Digest": tt.lines}, HTTPS)
			if err != nil {
				t.Fatal(err)
			}
			if got := digests(claims); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Proves rules 31 and 33: what is not one of the forms is an error and never the same as no digest.
func TestMalformedDigest_Rule31(t *testing.T) {
	raw := b64(sha256Hex)
	tests := map[string]struct{ value, why string }{
		"empty":              {"SHA-256=", "sha-256 has 0 characters"},
		"no value":           {"SHA-256", "no value"},
		"a character less":   {"SHA-256=" + raw[1:], "sha-256 has 43 characters"},
		"a character more":   {"SHA-256=" + raw + "=", "sha-256 has 45 characters"},
		"digits of sha-1":    {"SHA-256=" + sha1Hex, "sha-256 has 40 characters"},
		"base64 of 31 bytes": {"SHA-256=" + base64.StdEncoding.EncodeToString(make([]byte, 31)), "sha-256 has 31 bytes"},
		"of 33 bytes":        {"SHA-256=" + base64.StdEncoding.EncodeToString(make([]byte, 33)), "sha-256 has 33 bytes"},
		"url alphabet":       {"SHA-256=" + strings.Repeat("-", 43) + "=", "sha-256 is not base64"},
		"bits after the end": {"SHA-256=" + strings.Repeat("A", 42) + "B=", "sha-256 is not base64"},
		"not digits":         {"SHA-256=" + strings.Repeat("g", 64), "sha-256 is not hexadecimal"},
		"base64 of no digits": {"SHA-256=" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("g"), 64)),
			"sha-256 is not hexadecimal"},
		"base64 of 65 digits": {"SHA-256=" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0"), 65)),
			"sha-256 has 65 characters"},
		"quoted":               {`SHA-256="` + raw + `"`, "sha-256 has 46 characters"},
		"RFC 9530 in Digest":   {"SHA-256=:" + raw + ":", "sha-256 has 46 characters"},
		"weak ones too":        {"MD5=AAAA", "md5 has 4 characters"},
		"sha-512 of 256 bits":  {"SHA-512=" + raw, "sha-512 has 44 characters"},
		"beside a weak one":    {"MD5=" + b64(md5Hex) + ", SHA-256=x", "sha-256 has 1 characters"},
		"an element of no use": {"MD5=" + b64(md5Hex) + ", what?", "no value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claims, err := FromHeader(map[string][]string{"Digest": {tt.value}}, HTTPS)
			wantDigestError(t, claims, err, "Digest", tt.why)
		})
	}
}

// Proves rule 31: a malformed value is no error where a strong one is left, and is given back to those who know more.
func TestMalformedBesideAGoodOne_Rule31(t *testing.T) {
	for _, header := range []map[string][]string{
		{"Digest": {"SHA-512=" + b64(sha512Hex) + ", SHA-256=x"}},
		{"Digest": {"SHA-512=" + b64(sha512Hex) + ", what?"}},
		{"Digest": {"MD5=x"}, "Repr-Digest": {"sha-512=:" + b64(sha512Hex) + ":"}},
		{"Digest": {"SHA-512=" + b64(sha512Hex)}, "Repr-Digest": {"sha-256=abc"}},
		{"Digest": {"SHA-512=" + b64(sha512Hex)}, "Repr-Digest": {"(("}},
	} {
		claims, err := FromHeader(header, HTTPS)
		if got := digests(claims); err != nil || !strings.Contains(got, sha512Hex) {
			t.Errorf("%v: got %s, %v", header, got, err)
		}
		if claims, malformed, err := ReadHeader(header, HTTPS); err != nil || len(malformed) != 1 || len(claims) != 1 {
			t.Errorf("%v: got %v, %v, %v", header, claims, malformed, err)
		}
	}
	contradiction := map[string][]string{"Digest": {"SHA-512=" + b64(sha512Hex) + ", MD5=x, SHA-256=" + sha256Hex +
		", SHA-256=" + strings.Repeat("0", 64)}}
	if _, err := FromHeader(contradiction, HTTPS); err == nil {
		t.Error("two values of one algorithm are no error")
	}
}

func wantDigestError(t *testing.T, claims []Claim, err error, field, why string) {
	t.Helper()
	de, ok := errors.AsType[*DigestError](err)
	if !ok {
		t.Fatalf("got %v and error %v, want a *DigestError", digests(claims), err)
	}
	if claims != nil || de.Field != field || !strings.Contains(de.Why, why) {
		t.Errorf("got %v, %q; want only an error about %s: %s", digests(claims), err, field, why)
	}
}

func TestReprDigest(t *testing.T) {
	tests := map[string]struct {
		lines []string
		want  string
	}{
		"one": {[]string{"sha-256=:" + b64(sha256Hex) + ":"}, "Repr-Digest sha-256=" + sha256Hex},
		"several": {[]string{"sha-256=:" + b64(sha256Hex) + ":,  sha-512=:" + b64(sha512Hex) + ":"},
			"Repr-Digest sha-512=" + sha512Hex + ", Repr-Digest sha-256=" + sha256Hex},
		"two lines": {[]string{"md5=:" + b64(md5Hex) + ":", "sha=:" + b64(sha1Hex) + ":"},
			"Repr-Digest sha-1=" + sha1Hex + ", Repr-Digest md5=" + md5Hex},
		"no padding": {[]string{"sha-256=:" + strings.TrimRight(b64(sha256Hex), "=") + ":, sha-512=:" +
			strings.TrimRight(b64(sha512Hex), "=") + `:;a=":";b=:AA:, c=":AA", d=(:AA: :AA==:), e=a:b:c`},
			"Repr-Digest sha-512=" + sha512Hex + ", Repr-Digest sha-256=" + sha256Hex},
		"a parameter": {[]string{"sha-256=:" + b64(sha256Hex) + `:;a="x,y"`}, "Repr-Digest sha-256=" + sha256Hex},
		"the same 2x": {[]string{"sha-256=:" + b64(sha256Hex) + ":", "sha-256=:" + b64(sha256Hex) + ":"},
			"Repr-Digest sha-256=" + sha256Hex},
		"unknown ones": {[]string{`crc32c=:AAAA:, unixsum=1, a="q\",", b=(1 "x,"), c=%"\", d, sha-256=:` +
			b64(sha256Hex) + ":"}, "Repr-Digest sha-256=" + sha256Hex},
		"nothing": {[]string{""}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claims, err := FromHeader(map[string][]string{"Repr-Digest": tt.lines}, HTTP)
			if err != nil {
				t.Fatal(err)
			}
			if got := digests(claims); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Proves rule 31 for RFC 9530: a value must be a byte sequence of the right length.
func TestMalformedReprDigest_Rule31(t *testing.T) {
	tests := map[string]struct{ value, why string }{
		"a token":                {"sha-256=abc", "sha-256 is not a byte sequence"},
		"bare digits":            {"sha-256=a" + sha256Hex[1:], "sha-256 is not a byte sequence"},
		"a string":               {`sha-256="abc"`, "sha-256 is not a byte sequence"},
		"no value, that is true": {"sha-256", "sha-256 is not a byte sequence"},
		"an inner list":          {"sha-256=(:AAAA:)", "sha-256 is not a byte sequence"},
		"too short":              {"sha-256=:AAAA:", "sha-256 has 3 bytes, want 32"},
		"base64 of the digits":   {"sha-256=:" + b64hex(sha256Hex) + ":", "sha-256 has 64 bytes, want 32"},
		"capital key":            {"SHA-256=:" + b64(sha256Hex) + ":", "not a dictionary"},
		"RFC 3230 in it":         {"sha-256=" + b64(sha256Hex), ""},
		"trailing comma":         {"sha-256=:" + b64(sha256Hex) + ":,", "not a dictionary"},
		"open byte sequence":     {"sha-256=:" + b64(sha256Hex), "not a dictionary"},
		"garbage beside it":      {"sha-256=:" + b64(sha256Hex) + ":, ???", "not a dictionary"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claims, err := FromHeader(map[string][]string{"Repr-Digest": {tt.value}}, HTTPS)
			wantDigestError(t, claims, err, "Repr-Digest", tt.why)
		})
	}
}

// Proves rule 32: one answer that says two things is an error, wherever it says them.
func TestContradiction_Rule32(t *testing.T) {
	other := strings.Repeat("0", 64)
	good, bad := ":"+b64(sha256Hex)+":", ":"+b64(other)+":"
	tests := map[string]map[string][]string{
		"in one line":        {"Digest": {"SHA-256=" + sha256Hex + ",SHA-256=" + other}},
		"in two lines":       {"Digest": {"SHA-256=" + sha256Hex, "sha-256=" + b64(other)}},
		"weak":               {"Digest": {"MD5=" + md5Hex + ",MD5=" + strings.Repeat("0", 32)}},
		"Digest and Repr":    {"Digest": {"SHA-256=" + sha256Hex}, "Repr-Digest": {"sha-256=" + bad}},
		"one dictionary":     {"Repr-Digest": {"sha-256=" + bad + ", sha-256=" + good}},
		"two lines of Repr":  {"Repr-Digest": {"sha-256=" + bad, "sha-256=" + good}},
		"behind an escape":   {"Repr-Digest": {`a="\"", sha-256=` + bad + ", sha-256=" + good}},
		"behind a backslash": {"Repr-Digest": {`a=%"\", sha-256=` + bad + ", sha-256=" + good}},
	}
	for name, header := range tests {
		t.Run(name, func(t *testing.T) {
			claims, err := FromHeader(header, HTTPS)
			if _, ok := errors.AsType[*DigestError](err); !ok {
				t.Fatalf("got %s and error %v, want a *DigestError", digests(claims), err)
			}
			if _, ok := errors.AsType[*ConflictError](err); !ok {
				t.Errorf("%v does not wrap a *ConflictError", err)
			}
		})
	}
}

func TestFieldsThatAgree(t *testing.T) {
	claims, err := FromHeader(map[string][]string{
		"Digest":         {"SHA-256=" + sha256Hex},
		"Repr-Digest":    {"sha-256=:" + b64(sha256Hex) + ":, sha-512=:" + b64(sha512Hex) + ":"},
		"Content-Digest": {"sha-256=:" + b64(strings.Repeat("0", 64)) + ":"}, // of a part: not read
	}, HTTPS)
	if err != nil {
		t.Fatal(err)
	}
	want := "Repr-Digest sha-512=" + sha512Hex + ", Digest sha-256=" + sha256Hex
	if got := digests(claims); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, c := range claims {
		if c.Channel != HTTPS {
			t.Errorf("%v: channel %v", c, c.Channel)
		}
	}
}

// Proves rule 61 for the one text of this package that strangers write.
func TestDigestErrorIsEscaped_Rule61(t *testing.T) {
	_, err := FromHeader(map[string][]string{"Digest": {"SHA-256=\x1b[2J\u202e" + strings.Repeat("x", 9000)}}, HTTP)
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("not escaped: %q", text)
	}
	if len(text) > 400 {
		t.Errorf("%d bytes of message", len(text))
	}
	if want := `Digest "SHA-256=\x1b[2J\u202exxx`; !strings.HasPrefix(text, want) {
		t.Errorf("got %s, want it to begin with %s", text, want)
	}
}

// FuzzFromHeader: what is read is well formed, and written in either way it reads the same.
func FuzzFromHeader(f *testing.F) {
	f.Add("SHA-256="+rfc6249, "")
	f.Add("MD5="+b64(md5Hex)+",SHA="+b64hex(sha1Hex)+", SHA-512="+sha512Hex, "sha-256=:"+b64(sha256Hex)+":")
	f.Add("", `a="x,\"", b=(1 2), c=%"\", sha=:`+b64(sha1Hex)+":;p")
	f.Fuzz(func(t *testing.T, digest, repr string) {
		claims, err := FromHeader(map[string][]string{"Digest": {digest}, "Repr-Digest": {repr}}, HTTPS)
		if err != nil {
			wantDigestError(t, claims, err, err.(*DigestError).Field, "")
			return
		}
		var ds []Digest
		for i, c := range claims {
			if len(c.Digest.Bytes()) != c.Digest.Algorithm().Size() || c.Digest.IsZero() {
				t.Fatalf("%v is not a digest", c.Digest)
			}
			if i > 0 && claims[i-1].Digest.Algorithm() <= c.Digest.Algorithm() {
				t.Fatalf("not in order: %s", digests(claims))
			}
			ds = append(ds, c.Digest)
		}
		for field, value := range map[string]string{"Digest": Field(ds...), "Repr-Digest": ReprField(ds...)} {
			again, err := FromHeader(map[string][]string{field: {value}}, HTTPS)
			if err != nil {
				t.Fatalf("%s: %s: %v", field, value, err)
			}
			same := func(a, b Claim) bool { return a.Digest == b.Digest && b.Field == field }
			if !slices.EqualFunc(claims, again, same) {
				t.Fatalf("%s: %s became %s", field, digests(claims), digests(again))
			}
		}
	})
}

// FuzzConsumeMember: the members of a dictionary, put together again, are the dictionary.
func FuzzConsumeMember(f *testing.F) {
	f.Add(`a=1, b="x,\"y" ,c=(1 "2,3");d=%"\",e`)
	f.Fuzz(func(t *testing.T, s string) {
		var members []string
		for rest := s; rest != ""; {
			var m string
			m, rest = consumeMember(rest)
			members = append(members, m)
		}
		if got := strings.Join(members, ","); got != s && got+"," != s {
			t.Fatalf("%q became %q", s, members)
		}
	})
}

func TestField(t *testing.T) {
	sum := sha256.Sum256([]byte(content))
	d, err := NewDigest(SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	weak := mustHex(t, SHA1, sha1Hex)
	if got, want := Field(d, Digest{}, weak), "SHA-256="+b64(sha256Hex)+",SHA="+b64(sha1Hex); got != want {
		t.Errorf("Field: got %s, want %s", got, want)
	}
	if got, want := ReprField(d, Digest{}, weak), "sha-256=:"+b64(sha256Hex)+":, sha=:"+b64(sha1Hex)+":"; got != want {
		t.Errorf("ReprField: got %s, want %s", got, want)
	}
	if Field() != "" || ReprField() != "" {
		t.Error("nothing to say, but said")
	}
}

// Base64 has one form: bits that belong to no octet are zero (RFC 4648, section 3.5).
func TestDigestPadding_Rule33(t *testing.T) {
	good := b64(sha256Hex)
	for _, odd := range []string{good[:42] + string(good[42]+1) + "=", good + "=", good + " x", "!" + good[1:],
		good[:42] + string(good[42]+1), good[:42]} {
		if claims, err := FromHeader(map[string][]string{"Digest": {"SHA-256=" + odd}}, HTTP); err == nil {
			t.Errorf("%q is %v", odd, claims)
		}
	}
}

// What an answer has of nonsense is remembered in part: each of 200 mirrors may send 256 KiB of it. Proves rule 20.
func TestMalformedIsBounded_Rule20(t *testing.T) {
	for name, lines := range map[string][]string{
		"long": {"sha-256=" + strings.Repeat("x", 200<<10)},
		"many": {strings.Repeat("x,", 100<<10)},
	} {
		_, malformed, err := ReadHeader(map[string][]string{"Digest": lines}, HTTP)
		n := 0
		for _, m := range malformed {
			n += len(m.Value) + 100
		}
		if err != nil || len(malformed) == 0 || n > 8<<10 {
			t.Errorf("%s: %d errors hold %d bytes, %v", name, len(malformed), n, err)
		}
	}
}
