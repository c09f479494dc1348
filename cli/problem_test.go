package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"braid/download"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// Each reason why a signature does not count has a next step of its own.
func TestSignatureHints(t *testing.T) {
	for want, err := range map[string]error{
		"--allow-expired-key": &verify.SignatureError{Code: verify.SignatureKeyExpired},
		"--smime-ca FILE":     &verify.SignatureError{Code: verify.SignatureNoChain},
		"no signature of":     &verify.SignatureError{Code: verify.SignatureMalformed},
		"--signature FILE":    &verify.SignatureError{Code: verify.SignatureNotOfFile},
		"clock":               &verify.SignatureError{Code: verify.SignatureCertificateExpired},
		"was changed":         &verify.SignatureError{Code: verify.SignatureBad},
		"SHA-256 or better":   &verify.SignatureError{Code: verify.SignatureWeak},
		"does not count any":  &verify.SignatureError{Code: verify.SignatureRevoked},
	} {
		e := &download.Error{Kind: download.BadSignature, What: "verify", Err: fmt.Errorf("x: %w", err)}
		if f := downloadProblem(t.Context(), e); f.Kind != download.BadSignature || !strings.Contains(f.Hint, want) {
			t.Errorf("%v: %q, want %q", err, f.Hint, want)
		}
	}
	e := &download.Error{Kind: download.NoEvidence, What: "verify", Err: &verify.SignatureError{Code: verify.SignatureMissing}}
	if f := downloadProblem(t.Context(), e); !strings.Contains(f.Hint, "--signature FILE") {
		t.Errorf("no signature: %q", f.Hint)
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
			f := downloadProblem(t.Context(), e)
			if !strings.HasPrefix(f.Hint, want) || strings.HasSuffix(f.Hint, "; then the same command goes on") != (kept > 0) {
				t.Errorf("%v, %d bytes kept: %q", err, kept, f.Hint)
			}
		}
	}
}
