package verify

import (
	"errors"
	"io"
	"slices"
	"testing"
)

// A signature that was not checked, or is not good, signs nothing.
func TestOnlyGoodSignaturesCount_C11_Rule51(t *testing.T) {
	for code := SignatureUnchecked; code <= SignatureLocked; code++ {
		c := NewChecker(-1, nil, vouch{io.Discard, SignatureResult{Kind: "S/MIME", Code: code, Key: "0123"}})
		io.WriteString(c, content)
		if p, err := c.Proof(); err != nil || p.Signed() != (code == SignatureGood) {
			t.Errorf("%v: %v, %v", code, p, err)
		}
	}
	if (SignatureResult{}).Code == SignatureGood {
		t.Error("the zero result is good")
	}
	if r, ok := GoodSignature([]SignatureResult{{}}); ok {
		t.Errorf("%v is good", r)
	}
}

// Of signatures that prove nothing the error names the one that says most: a bad one, then what is wrong with a key
// that is known, then keys that do not count. What cannot be read and names no key says least. Rule 48: a bad one
// beside a good one is an error.
func TestJudgeSignatures_Rule48(t *testing.T) {
	order := []SignatureResult{
		{Code: SignatureBad, Key: "k"}, {Code: SignatureUnsupported, Key: "k"}, {Code: SignatureNotPinned, Key: "k"},
		{Code: SignatureUnknownKey, Key: "k"}, {Code: SignatureUnsupported},
	}
	key := func(r SignatureResult) string { return r.Key }
	for i, worst := range order {
		all := slices.Clone(order[i:])
		slices.Reverse(all)
		e, ok := errors.AsType[*SignatureError](JudgeSignatures(all, key))
		if !ok || e.Code != worst.Code || e.By != worst.Key || len(e.Signatures) != len(all) {
			t.Errorf("of %v: %v", all, e)
		}
		if err := JudgeSignatures(append(all, SignatureResult{Code: SignatureGood}),
			key); (err == nil) != (worst.Code != SignatureBad) {
			t.Errorf("%v and a good one: %v", all, err)
		}
	}
}

// Each verdict has words of its own, and a reason stands behind them.
func TestSignatureWords(t *testing.T) {
	seen := map[string]bool{"": true, "unknown verdict": true}
	for c := SignatureUnchecked; c <= SignatureLocked; c++ {
		if seen[c.String()] {
			t.Errorf("code %d is %q", c, c)
		}
		seen[c.String()] = true
	}
	if got := (SignatureLocked + 1).String(); got != "unknown verdict" {
		t.Errorf("beyond the last one: %q", got)
	}
	two := make([]SignatureResult, 2)
	for want, e := range map[string]*SignatureError{
		"signature: bad":                                 {Code: SignatureBad},
		"signature by 01: bad: it is not":                {Code: SignatureBad, By: "01", Reason: "it is not"},
		"secret key 01: key locked":                      {Code: SignatureLocked, Of: "secret key", By: "01"},
		"keyring: too large: over 9 bytes":               {Code: SignatureTooLarge, Of: "keyring", Reason: "over 9 bytes"},
		"signature by \"A\": weak (one of 2 signatures)": {Code: SignatureWeak, By: `"A"`, Signatures: two},
	} {
		if e.Error() != want {
			t.Errorf("%v, want %s", e, want)
		}
	}
}
