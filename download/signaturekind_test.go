package download

import (
	"testing"

	"braid/verify/openpgp"
	"braid/verify/smime"
)

// TestKindOfSignature_Rule47_Rule48_Rule49: a signer that is not known is exit code 9 with either kind of signature, and does not
// stand in the way of a good signature; what is wrong does.
func TestKindOfSignature_Rule47_Rule48_Rule49(t *testing.T) {
	for _, tt := range []struct {
		err    error
		want   Kind
		severe bool
	}{
		{&openpgp.Error{Kind: openpgp.UnknownKey}, NoKey, false},
		{&openpgp.Error{Kind: openpgp.NotPinned}, NoKey, false},
		{&smime.Error{Kind: smime.NoChain}, NoKey, false},
		{&smime.Error{Kind: smime.NoCertificate}, NoKey, false},
		{&openpgp.Error{Kind: openpgp.Missing}, NoEvidence, false},
		{&smime.Error{Kind: smime.Missing}, NoEvidence, false},
		{&openpgp.Error{Kind: openpgp.Bad}, BadSignature, true},
		{&smime.Error{Kind: smime.Bad}, BadSignature, true},
		{&smime.Error{Kind: smime.Expired}, BadSignature, true},
		{&smime.Error{Kind: smime.Unfit}, BadSignature, true},
		{&smime.Error{Kind: smime.TooLarge}, Limit, true},
	} {
		if got := kindOfSignature(tt.err); got != tt.want || severe(tt.err) != tt.severe {
			t.Errorf("%v: kind %v, severe %v", tt.err, got, severe(tt.err))
		}
	}
}
