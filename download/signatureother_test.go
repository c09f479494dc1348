package download_test

import (
	"os"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
	"braid/verify/minisign"
	"braid/verify/signify"
	"braid/verify/sshsig"
)

// testdata returns a file of a package of signatures.
func testdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../verify/" + strings.Replace(name, "/", "/testdata/", 1))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// trustsFile returns anchors of a file of keys.
func trustsFile(t *testing.T, kind *verify.SignatureKind, name string) download.Anchors {
	t.Helper()
	trust, err := kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Name: name, Data: testdata(t, name)}}})
	if err != nil {
		t.Fatal(err)
	}
	return download.Anchors{trust}
}

// TestSignatureOfLargeFile_Rule20: a file that is too large for its signature, which covers the file itself, is an error
// before the file was received.
func TestSignatureOfLargeFile_Rule20(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind           *verify.SignatureKind
		key, signature string
		remedy         string
	}{
		"minisign": {minisign.Kind, "minisign/key.pub", "minisign/whole.minisig", "minisign -S -H"},
		"signify":  {signify.Kind, "signify/key.pub", "signify/tool.tar.sig", "list of digests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mirrortest.New(t, mirrortest.Generate(17*mib, 7), mirrortest.Name("tool.tar"), mirrortest.StallAfter(mib))
			r := newRun(t, s.URL)
			r.req.Trust.Anchors = trustsFile(t, tt.kind, tt.key)
			r.req.Trust.Signatures = []download.Signature{{From: "x.sig", Data: testdata(t, tt.signature)}}
			check := func(what string, err error) {
				t.Helper()
				if kindOfError(err) != download.BadSignature || !strings.Contains(err.Error(), "x.sig: ") ||
					!strings.Contains(err.Error(), "limited to files of 16 MiB") || !strings.Contains(err.Error(), tt.remedy) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := r.client.Plan(t.Context(), r.req)
			check("plan", err)
			_, err = r.client.Get(t.Context(), r.req)
			check("get", err)
		})
	}
}

// TestSignatureOfOtherKind_Rule47_Rule48: a signature of a kind without an anchor is by an unknown key. What is found and is
// no signature of a file is in the error.
func TestSignatureOfOtherKind_Rule47_Rule48(t *testing.T) {
	t.Parallel()
	const noFile = `/tool.tar.sig: signature: not a signature of a file: it is for the namespace "git"`
	for name, tt := range map[string]struct {
		kind *verify.SignatureKind
		key  string
		data []byte // of tool.tar.sig
		// named means that the user names the signature.
		named bool
		want  download.Kind
		says  string
	}{
		"the other format": {minisign.Kind, "minisign/key.pub", testdata(t, "signify/tool.tar.sig"), true,
			download.NoKey, "it is a signify signature"},
		"the other format, not named": {signify.Kind, "signify/key.pub", testdata(t, "minisign/hashed.minisig"), false,
			download.NoKey, "it is a minisign signature"},
		"SSH": {minisign.Kind, "minisign/key.pub", testdata(t, "sshsig/ed25519.sig"), true,
			download.NoKey, "it is an SSH signature"},
		"a page": {minisign.Kind, "minisign/key.pub", []byte("<html>"), true,
			download.NoEvidence, "/tool.tar.sig: signature: malformed"},
		"a commit": {sshsig.Kind, "sshsig/ed25519.pub", testdata(t, "sshsig/git.sig"), false,
			download.NoEvidence, noFile},
		"a commit, named": {sshsig.Kind, "sshsig/ed25519.pub", testdata(t, "sshsig/git.sig"), true,
			download.BadSignature, noFile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mirrortest.New(t, testdata(t, "minisign/tool.tar"), mirrortest.Name("tool.tar"))
			s.Set(mirrortest.Document("/tool.tar"+".sig", "text/plain", tt.data))
			r := newRun(t, s.URL)
			r.req.Trust.Anchors, r.req.Trust.Require = trustsFile(t, tt.kind, tt.key), download.RequireSignature
			if tt.named {
				r.req.Trust.Signatures = []download.Signature{download.Beside(r.req.URL, ".sig")}
			}
			check := func(what string, err error) {
				t.Helper()
				if kindOfError(err) != tt.want || !strings.Contains(err.Error(), tt.says) ||
					strings.Contains(err.Error(), "there is no signature") != (tt.want == download.NoEvidence) {
					t.Errorf("%s: %v, want kind %v and %q", what, err, tt.want, tt.says)
				}
			}
			_, err := r.client.Plan(t.Context(), r.req)
			check("plan", err)
			_, err = r.client.Get(t.Context(), r.req)
			check("get", err)
			r.onDisk(testdata(t, "minisign/tool.tar"))
			_, err = r.client.Verify(t.Context(), r.req)
			check("verify", err)
		})
	}
}

// TestEvidenceBeside_Rule78: where a signature is required and nothing names one, Evidence looks beside the file, as Get does.
func TestEvidenceBeside_Rule78(t *testing.T) {
	t.Parallel()
	s := mirrortest.New(t, testdata(t, "minisign/tool.tar"), mirrortest.Name("tool.tar"))
	s.Set(mirrortest.Document("/tool.tar.minisig", "text/plain", testdata(t, "minisign/hashed.minisig")))
	r := newRun(t, s.URL)
	r.req.Trust.Anchors = trustsFile(t, minisign.Kind, "minisign/key.pub")
	for require, want := range map[download.Require]int{download.RequireNothing: 0, download.RequireSignature: 1} {
		r.req.Trust.Require = require
		offer, err := r.client.Probe(t.Context(), r.req)
		if err != nil {
			t.Fatal(err)
		}
		all := r.client.Evidence(t.Context(), r.req, offer).Signatures
		if len(all) != want || want > 0 && !strings.HasSuffix(all[0].From, "/tool.tar.minisig") {
			t.Errorf("require %v: %+v", require, all)
		}
	}
}
