package download_test

import (
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/verify"
)

// TestSignedListBeside_Rule78: where a signature is demanded and none is named, a signed list beside the file proves it,
// also if its digest is known otherwise, and a plan and the check of a file on disk say the same as a download. Of a list by
// another key both keys are named.
func TestSignedListBeside_Rule78(t *testing.T) {
	file, alice, bob := book(), newSigner(t, "alice"), newSigner(t, "bob")
	list := sum256(file) + "  file.bin\n"
	byUser := func(file string) func(*folderSite, *download.Request) {
		return func(_ *folderSite, r *download.Request) {
			r.Claims = []verify.Claim{{Digest: digestOf([]byte(file)), Channel: verify.User, Field: "the user"}}
		}
	}
	for _, tt := range []struct {
		name   string
		signer *signer // of the list; nil: none
		change func(s *folderSite, r *download.Request)
		want   download.Kind
	}{
		{"no digest known", alice, nil, download.Other},
		{"by the user", alice, byUser(file), download.Other},
		{"by the server", alice, func(s *folderSite, _ *download.Request) { s.Config.Handler = digesting{s, file} }, download.Other},
		{"another by the user", alice, byUser("other"), download.Mismatch},
		{"by another key", bob, nil, download.NoKey},
		{"by another key, and by the user", bob, byUser(file), download.NoKey},
		{"unsigned", nil, nil, download.NoEvidence},
		{"unsigned, and by the user", nil, byUser(file), download.NoEvidence},
		{"no lookup", alice, func(_ *folderSite, r *download.Request) { r.Lookup = false }, download.NoEvidence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "file.bin", file, "SHA256SUMS", list)
			if tt.signer != nil {
				s.files["SHA256SUMS.asc"] = string(tt.signer.sign(t, []byte(list)))
			}
			r := lookingUp(t, s, "file.bin")
			r.req.Anchors, r.req.Require = trusts(t, alice), download.RequireSignature
			if tt.change != nil {
				tt.change(s, &r.req)
			}
			check := func(what string, signed bool, err error) {
				t.Helper()
				switch {
				case kindOfError(err) != tt.want || (err == nil) != (tt.want == download.Other):
					t.Errorf("%s: %v, want kind %v", what, err, tt.want)
				case err == nil && !signed:
					t.Errorf("%s: no signature", what)
				case tt.want == download.NoKey && (!strings.Contains(err.Error(), bob.fingerprint) ||
					!strings.HasSuffix(err.Error(), "; wanted is "+alice.fingerprint)):
					t.Errorf("%s: %v", what, err)
				}
			}
			plan, err := r.client.Plan(t.Context(), r.req)
			signed := func(c verify.Claim) bool { return c.Channel == verify.Signed }
			check("plan", slices.ContainsFunc(plan.Claims, signed), err)
			if (plan.Refused != nil) != (err != nil) && tt.want != download.Mismatch {
				t.Errorf("the plan is refused for %v, and its error is %v", plan.Refused, err)
			}
			res, err := r.client.Get(t.Context(), r.req)
			check("get", res.Proof.Signed(), err)
			r.onDisk([]byte(file))
			v, err := r.client.Verify(t.Context(), r.req)
			check("verify", v.Proof.Signed(), err)
			if err == nil {
				again, err := r.client.Get(t.Context(), r.req)
				check("get again", again.AlreadyComplete && again.Proof.Signed(), err)
			}
		})
	}
}
