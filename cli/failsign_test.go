package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"braid/download"
	"braid/source"
	"braid/source/httpsource"
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
	e := &download.Error{Kind: download.NoEvidence, What: "verify", Err: &smime.Error{Kind: smime.Missing}}
	if f := downloadFailure(t.Context(), e); !strings.Contains(f.hint, "--signature FILE") {
		t.Errorf("no signature: %q", f.hint)
	}
}

// TestHintsBeforeGoingOn: the same command goes on only when what stopped it is out of the way.
func TestHintsBeforeGoingOn(t *testing.T) {
	for want, err := range map[string]error{
		"--allow-downgrade follows it": httpsource.ErrDowngrade,
		"it is the proxy that asks":    &source.Error{Fault: source.FaultAuth, Status: 407, Err: errors.New("x")},
		"-u USER:PASSWORD":             &source.Error{Fault: source.FaultAuth, Status: 401, Err: errors.New("x")},
	} {
		for _, kept := range []int64{0, 1} {
			e := &download.Error{Kind: download.Auth, What: "download", Err: err, Kept: kept, Part: "a.part"}
			f := downloadFailure(t.Context(), e)
			if !strings.HasPrefix(f.hint, want) || strings.HasSuffix(f.hint, "; then the same command goes on") != (kept > 0) {
				t.Errorf("%v, %d bytes kept: %q", err, kept, f.hint)
			}
		}
	}
}
