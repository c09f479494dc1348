// Package prooftest makes proofs for tests of what is done with them.
//
//	result := download.Result{Path: "a", Size: 1, Proof: prooftest.Of(t, verify.SHA256)}
package prooftest

import (
	"testing"

	"braid/verify"
)

// Of returns the proof of a file of one byte that has these digests, as its server claimed.
func Of(t testing.TB, algorithms ...verify.Algorithm) verify.Proof {
	t.Helper()
	var claims []verify.Claim
	for _, a := range algorithms {
		h := a.New()
		h.Write([]byte("x"))
		d, err := verify.NewDigest(a, h.Sum(nil))
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, verify.Claim{Digest: d, Field: "Digest", Channel: verify.HTTPS})
	}
	c := verify.NewChecker(1, claims)
	c.Write([]byte("x"))
	p, err := c.Proof()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
