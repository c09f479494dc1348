package render

import (
	"os"
	"testing"

	"braid/download"
	"braid/verify"
	"braid/verify/minisign"
)

// TestExpectedSignature: a signature is the only evidence of a plan, or one more.
func TestExpectedSignature(t *testing.T) {
	key, err := os.ReadFile("../../verify/minisign/testdata/key.pub")
	if err != nil {
		t.Fatal(err)
	}
	trust, err := minisign.Kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Name: "key.pub", Data: key}}})
	if err != nil {
		t.Fatal(err)
	}
	h := download.Plan{Signed: []download.Signed{{From: "x.minisig", By: []string{"minisign by 1"}}}}
	h.Request.Trust.Anchors = download.Anchors{trust}
	const want = "a signature, if a key or certificate that you trust made it"
	if got := expected(h); got != "verified: "+want {
		t.Errorf("alone: %s", got)
	}
	h.Claims = []verify.Claim{claim(t)}
	if got := expected(h); got != "verified: "+h.Claims[0].String()+", and "+want {
		t.Errorf("with a digest: %s", got)
	}
}
