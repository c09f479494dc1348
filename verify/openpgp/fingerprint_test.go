package openpgp

import (
	"strings"
	"testing"
)

func TestParseFingerprint(t *testing.T) {
	const v4 = "0123456789ABCDEF0123456789ABCDEF01234567"
	v6 := strings.Repeat("0123456789ABCDEF", 4)
	for s, want := range map[string]string{
		v4:                  v4,
		strings.ToLower(v4): v4,
		"0x" + v4:           v4,
		"0X" + v4:           v4,
		"0123 4567 89AB CDEF 0123  4567 89AB CDEF 0123 4567\n": v4,
		v6: v6,
	} {
		f, err := ParseFingerprint(s)
		if err != nil || f.String() != want || f.IsZero() {
			t.Errorf("%q: got %v, %v", s, f, err)
		}
	}
	for s, want := range map[string]string{
		"":                        "has 0 digits, want 40 or 64",
		v4[:8]:                    "is a key ID",
		v4[:16]:                   "is a key ID",
		"0x" + v4[24:]:            "is a key ID",
		v4[:32]:                   "has 32 digits",
		v4[1:]:                    "has 39 digits",
		v4 + "0":                  "has 41 digits",
		v6 + "00":                 "has 66 digits",
		"g" + v4[1:]:              "is not hexadecimal",
		"Ann <ann@example.org>":   "is not hexadecimal",
		strings.Repeat("\x1b", 9): `"\x1b`,
	} {
		f, err := ParseFingerprint(s)
		if err == nil || !strings.Contains(err.Error(), want) || !f.IsZero() {
			t.Errorf("%q: got %v, %v, want an error with %s", s, f, err, want)
		}
	}
	if none := (Fingerprint{}); none.String() != "no key" || none.keyID() != 0 {
		t.Error("the zero value names a key")
	}
}

// Proves rule 61's half of this package: a stranger's words are short and on one line.
func TestStrangersWords_Rule61(t *testing.T) {
	text := quote("Ann\n\x1b[31m\u202egpj.exe \xff" + strings.Repeat("é", 500))
	if len(text) > 230 || strings.ContainsAny(text, "\n\x1b\u202e") || !strings.Contains(text, "é") {
		t.Errorf("got %s", text)
	}
}
