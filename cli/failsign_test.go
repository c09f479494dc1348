package cli

import (
	"fmt"
	"strings"
	"testing"

	"braid/download"
	"braid/verify/openpgp"
	"braid/verify/smime"
)

// Each reason why a signature does not count has a next step of its own.
func TestSignatureHints(t *testing.T) {
	for want, err := range map[string]error{
		"--allow-expired-key": &openpgp.Error{Kind: openpgp.KeyExpired},
		"--smime-ca FILE":     &smime.Error{Kind: smime.NoChain},
		"no signature of":     &openpgp.Error{Kind: openpgp.Malformed},
		"--signature FILE":    &smime.Error{Kind: smime.NotSigned},
		"clock":               &smime.Error{Kind: smime.Expired},
		"was changed":         &openpgp.Error{Kind: openpgp.Bad},
		"SHA-256 or better":   &openpgp.Error{Kind: openpgp.Weak},
		"does not count any":  &openpgp.Error{Kind: openpgp.Revoked},
	} {
		e := &download.Error{Kind: download.BadSignature, What: "verify", Err: fmt.Errorf("x: %w", err)}
		if f := downloadFailure(t.Context(), e); f.code != exitBadSignature || !strings.Contains(f.hint, want) {
			t.Errorf("%v: %q, want %q", err, f.hint, want)
		}
	}
}
