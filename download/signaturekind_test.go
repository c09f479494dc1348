package download

import (
	"braid/verify"
	"testing"
)

// TestKindOfSignature_Rule47_Rule48_Rule49: an unknown signer is exit code 9 with either kind of signature,
// and does not outweigh a good signature. A wrong signature does.
func TestKindOfSignature_Rule47_Rule48_Rule49(t *testing.T) {
	for _, tt := range []struct {
		err    error
		want   Kind
		severe bool
	}{
		{&verify.SignatureError{Code: verify.SignatureUnknownKey}, NoKey, false},
		{&verify.SignatureError{Code: verify.SignatureNotPinned}, NoKey, false},
		{&verify.SignatureError{Code: verify.SignatureNoChain}, NoKey, false},
		{&verify.SignatureError{Code: verify.SignatureNoCertificate}, NoKey, false},
		{&verify.SignatureError{Code: verify.SignatureMissing}, NoEvidence, false},
		{&verify.SignatureError{Code: verify.SignatureMissing}, NoEvidence, false},
		{&verify.SignatureError{Code: verify.SignatureBad}, BadSignature, true},
		{&verify.SignatureError{Code: verify.SignatureBad}, BadSignature, true},
		{&verify.SignatureError{Code: verify.SignatureCertificateExpired}, BadSignature, true},
		{&verify.SignatureError{Code: verify.SignatureKeyUnfit}, BadSignature, true},
		{&verify.SignatureError{Code: verify.SignatureTooLarge}, Limit, true},
	} {
		if got := kindOfSignature(tt.err); got != tt.want || severe(tt.err) != tt.severe {
			t.Errorf("%v: kind %v, severe %v", tt.err, got, severe(tt.err))
		}
	}
}
