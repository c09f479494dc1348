package download_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/verify"
	"braid/verify/signatures"
)

// TestSignedListBeside_Rule78: where a signature is demanded and none is named, a signed list beside the file proves it,
// also if its digest is known otherwise, and a plan and the check of a file on disk say the same as a download. Of a list by
// another key both keys are named.
func TestSignedListBeside_Rule78(t *testing.T) {
	file, alice, bob := book(), newSigner(t, "alice"), newSigner(t, "bob")
	list := sum256(file) + "  file.bin\n"
	byUser := func(file string) func(*folderSite, *download.Request) {
		return func(_ *folderSite, r *download.Request) {
			r.Trust.Claims = []verify.Claim{{Digest: digestOf([]byte(file)), Channel: verify.User, Field: "the user"}}
		}
	}
	// A signature of the file beside it, in a file of that name, which the server may name, too.
	beside := func(ending, signature, link string) func(*folderSite, *download.Request) {
		return func(s *folderSite, _ *download.Request) {
			if s.files["file.bin"+ending] = signature; signature == "" {
				delete(s.files, "file.bin"+ending)
			}
			if link != "" {
				s.Config.Handler = linking{s, "</pub/file.bin" + ending + ">; rel=describedby; type=\"application/" + link + "\""}
			}
		}
	}
	byBob, other := string(bob.sign(t, []byte(file))), string(alice.sign(t, []byte("other")))
	for _, tt := range []struct {
		name   string
		signer *signer // of the list; nil: none
		change func(s *folderSite, r *download.Request)
		want   download.Kind
	}{
		{"no digest known", alice, nil, download.Other},
		{"by the user", alice, byUser(file), download.Other},
		{"by the server", alice, func(s *folderSite, _ *download.Request) { s.Config.Handler = digesting{s, file} },
			download.Other},
		{"another by the user", alice, byUser("other"), download.Mismatch},
		{"by another key", bob, nil, download.NoKey},
		{"by another key, and by the user", bob, byUser(file), download.NoKey},
		{"unsigned", nil, nil, download.NoEvidence},
		{"unsigned, and by the user", nil, byUser(file), download.NoEvidence},
		{"the file by another key", alice, beside(".asc", byBob, ""), download.Other},
		{"the file by another key, as the server says", alice, beside(".asc", byBob, "pgp-signature"), download.Other},
		{"the file in another way, as the server says", alice, beside(".minisig", minisigned, "x-minisign"), download.Other},
		{"the file, as the server says, but it is missing", alice, beside(".asc", "", "pgp-signature"), download.Other},
		{"the file wrongly", alice, beside(".asc", other, "pgp-signature"), download.BadSignature},
		{"both by another key", bob, beside(".asc", byBob, "pgp-signature"), download.NoKey},
		{"the file alone by another key", nil, beside(".asc", byBob, ""), download.NoKey},
		{"the file by two keys", nil, func(s *folderSite, _ *download.Request) {
			s.files["file.bin.asc"], s.files["file.bin.gpg"] = byBob, string(alice.sign(t, []byte(file)))
		}, download.Other},
		{"the file by another key, and by the server", alice, func(s *folderSite, r *download.Request) {
			beside(".asc", byBob, "pgp-signature")(s, r)
			s.Config.Handler = digesting{s.Config.Handler, file}
		}, download.Other},
		{"the file in another way, and by the server", alice, func(s *folderSite, r *download.Request) {
			beside(".minisig", minisigned, "x-minisign")(s, r)
			s.Config.Handler = digesting{s.Config.Handler, file}
		}, download.Other},
		{"no lookup", alice, func(_ *folderSite, r *download.Request) { r.Trust.Lookup = false }, download.NoEvidence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "file.bin", file, "SHA256SUMS", list)
			if tt.signer != nil {
				s.files["SHA256SUMS.asc"] = string(tt.signer.sign(t, []byte(list)))
			}
			r := lookingUp(t, s, "file.bin")
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
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
					!strings.HasSuffix(err.Error(), "; want "+alice.fingerprint)):
					t.Errorf("%s: %v", what, err)
				}
			}
			plan, err := r.client.Plan(t.Context(), r.req)
			signed := func(c verify.Claim) bool { return c.Channel == verify.Signed }
			if tt.want != download.BadSignature { // only the bytes show that
				check("plan", len(plan.Signed) > 0 || slices.ContainsFunc(plan.Claims, signed), err)
			}
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

// TestSignatureInIndex_Rule78 checks that the signatures of the file that the index of the folder has are asked for,
// whatever their suffix, and no others. Without an index, the likely ones are asked for.
func TestSignatureInIndex_Rule78(t *testing.T) {
	alice := newSigner(t, "alice")
	const lists = "INDEX SHA256SUMS checksums.txt sha256sum.txt "
	pgp := trusts(t, alice)
	for _, tt := range []struct {
		of      string // folder of the file, its key and its signature
		key     string
		from    string // the signature; empty: none
		ending  string // of the signature
		noIndex bool
		want    string
		kind    download.Kind
	}{
		{"minisign", "", "alice", ".sign", false, "INDEX tool.tar.sign", download.Other},
		{"minisign", "key.pub", "hashed.minisig", ".minisig", false, "INDEX tool.tar.minisig", download.Other},
		{"sshsig", "ed25519.pub", "ed25519.sig", ".sig", false, "INDEX tool.tar.sig", download.Other},
		{"signify", "key.pub", "tool.tar.sig", ".sig", false, "INDEX tool.tar.sig", download.Other},
		{"signify", "key.pub", "", "", false, "INDEX", download.NoEvidence},
		{"minisign", "", "", "", false, "INDEX", download.NoEvidence},
		{"minisign", "", "alice", "too many", false, "INDEX tool.tar.asc tool.tar.gpg tool.tar.sig", download.NoKey},
		{"minisign", "", "alice", ".sign", true, lists + "tool.tar.asc tool.tar.gpg tool.tar.sha256 tool.tar.sig",
			download.NoEvidence},
		{"minisign", "key.pub", "hashed.minisig", ".minisig", true, lists + "tool.tar.minisig tool.tar.sha256", download.Other},
	} {
		t.Run(fmt.Sprint(tt.of, tt.ending, " ", !tt.noIndex), func(t *testing.T) {
			t.Parallel()
			file, keys := testdata(t, tt.of+"/tool.tar"), pgp
			if tt.key != "" {
				keys = trustsFile(t, signatures.OfKeys("keyring", testdata(t, tt.of+"/"+tt.key)), tt.of+"/"+tt.key)
			}
			s := newFolderSite(t, "tool.tar", string(file))
			switch tt.from {
			case "":
			case "alice":
				if tt.ending == "too many" { // the others are of something else
					for _, ending := range []string{".asc", ".sig", ".gpg"} {
						s.files["tool.tar"+ending] = minisigned
					}
					tt.ending = ".sign"
				}
				s.files["tool.tar"+tt.ending] = string(alice.sign(t, file))
			default:
				s.files["tool.tar"+tt.ending] = string(testdata(t, tt.of+"/"+tt.from))
			}
			s.index = !tt.noIndex
			r := lookingUp(t, s, "tool.tar")
			r.req.Trust.Anchors, r.req.Trust.Require = keys, download.RequireSignature
			check := func(what string, err error) {
				t.Helper()
				if got := s.requests("tool.tar"); got != tt.want || kindOfError(err) != tt.kind {
					t.Errorf("%s: asked for %s; %v", what, got, err)
				}
				s.asked = nil
			}
			_, err := r.client.Plan(t.Context(), r.req)
			check("plan", err)
			_, err = r.client.Get(r.ctx, r.req)
			check("get", err)
			r.onDisk(file)
			_, err = r.client.Verify(t.Context(), r.req)
			check("verify", err)
		})
	}
}

// TestSignatureOfFoundList_Rule47_Rule78 checks that if the signature of a list beside the file does not count, the
// error says on one line whose signature it is, and why it does not count, as for a signature of the file.
func TestSignatureOfFoundList_Rule47_Rule78(t *testing.T) {
	made := time.Now().AddDate(-2, 0, 0)
	file, alice, bob, old := book(), newSigner(t, "alice"), newSigner(t, "bob"), newSignerAt(t, "old", made, time.Hour)
	list := sum256(file) + "  file.bin\n"
	for name, tt := range map[string]struct {
		ending    string
		signature string
		want      download.Kind
		says      string
	}{
		"of another kind": {".sig", minisigned, download.NoKey, "signature by 9938A77EEDFBA44B: unknown key: " +
			"it is a minisign signature, and no key or certificate for that kind is trusted"},
		"by an unknown key": {".asc", string(bob.sign(t, []byte(list))), download.NoKey,
			"signature: unknown key: " + bob.fingerprint + " is not in the keyring; want " +
				alice.fingerprint + " or " + old.fingerprint},
		"by an expired key": {".asc", string(old.signAt(t, []byte(list), made)), download.BadSignature,
			"signature by " + old.fingerprint + ": key expired"},
		"of other bytes": {".asc", string(alice.sign(t, []byte("other"))), download.BadSignature,
			"signature by " + alice.fingerprint + ": bad"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "file.bin", file, "SHA256SUMS", list, "SHA256SUMS"+tt.ending, tt.signature)
			r := lookingUp(t, s, "file.bin")
			r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice, old), download.RequireSignature
			check := func(what string, err error) {
				t.Helper()
				if says := "/SHA256SUMS" + tt.ending + ": " + tt.says; kindOfError(err) != tt.want ||
					!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v, want kind %v and %q", what, err, tt.want, says)
				}
			}
			_, err := r.client.Plan(t.Context(), r.req)
			check("plan", err)
			_, err = r.client.Get(r.ctx, r.req)
			check("get", err)
			r.onDisk([]byte(file))
			_, err = r.client.Verify(t.Context(), r.req)
			check("verify", err)
		})
	}
}

// minisigned is a signature of another kind.
const minisigned = `untrusted comment: signature from minisign secret key
RURLpPvtfqc4mUDVPJQEqn2S/ZwgJ9nCrPCkfu7vsc2ZZrRJPI+C8RBQD4LlW5094EsTe5V5tLbtSo+6heP8RixrT3OevYJYLAc=
trusted comment: timestamp:1700000000	file:tool.tar	hashed
sRHopO56XV1N6laBd5z/0pJB8Li6qLSIwnBDFmY7a6zKMMVx5ZUNELPBltHtakojQtod2hoF2wCUJM1S2uqoCw==
`
