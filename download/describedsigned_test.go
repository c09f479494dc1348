package download_test

import (
	"errors"
	"testing"

	"braid/download"
	"braid/metalink"
)

// Proves rules 47 and 50 for a document of the user: its signature is checked in addition to its digest. If a
// signature is required and it has none, nothing is transferred.
func TestDescribedSigned_Rule47_Rule50(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	data, alice, bob := made(size, 7), newSigner(t, "alice"), newSigner(t, "bob")
	s := sized(t, size)
	signed := func(text []byte) metalink.Signature {
		return metalink.Signature{Type: "application/pgp-signature", Text: string(text)}
	}
	for name, tt := range map[string]struct {
		signatures []metalink.Signature
		want       download.Kind
	}{
		"good":         {[]metalink.Signature{{Type: "text/plain", Text: "x"}, signed(alice.sign(t, data))}, download.Other},
		"of a file":    {[]metalink.Signature{signed(alice.sign(t, made(size, 8)))}, download.BadSignature},
		"by a nobody":  {[]metalink.Signature{signed(bob.sign(t, data))}, download.NoKey},
		"none":         {nil, download.NoEvidence},
		"another kind": {[]metalink.Signature{{Type: "text/plain", Text: "x"}}, download.NoEvidence},
	} {
		t.Run(name, func(t *testing.T) {
			f := of(t, data)
			f.Signatures = tt.signatures
			r := following(t, f, s)
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
			before := s.Sent()
			if tt.want == download.Other {
				if res := r.right(s.Content); !res.Proof.Signed() || len(res.Proof.Evidence()) != 1 {
					t.Errorf("%v", res.Proof)
				}
				if res := r.right(s.Content); !res.AlreadyComplete || !res.Proof.Signed() {
					t.Errorf("once more: %+v", res)
				}
				return
			}
			e := r.wrong(tt.want)
			if tt.want == download.NoEvidence && s.Sent() != before {
				t.Errorf("%d bytes came", s.Sent()-before)
			}
			if errors.Unwrap(e) == nil {
				t.Errorf("%v has no cause", e)
			}
		})
	}
}
