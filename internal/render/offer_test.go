package render

import (
	"net/url"
	"strings"
	"testing"

	"braid/download"
	"braid/metalink"
	"braid/verify"
)

// Proves C4 and rule 61 for what probe shows.
func TestProbeLines(t *testing.T) {
	u, _ := url.Parse("http://h/a%1b")
	lines := strings.Join(ProbeLines(download.Offer{
		Hops: []metalink.Hop{{URL: u, Status: 302}, {URL: u, Status: 799}},
		File: metalink.File{Size: -1, NoDigest: true, IgnoredCount: 150,
			Ignored: []metalink.Ignored{{Target: "\x1b", Reason: "scheme"}}},
	}, download.Evidence{}, download.RequireNothing, nil), "\n")
	for _, want := range []string{
		"302 Found  http://h/a%1b", "799  http", "size     unknown", "ranges   not announced", "etag     none", "digests  none",
		"mirrors: 0; those named by the server are not used", "--sha256", "ignored: 150", `\x1b  scheme`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

// Under a bound key, an unsigned list is not enough: get would end with exit code 12.
func TestProbeLinesWhereASignatureIsRequired(t *testing.T) {
	d, _ := verify.ParseHex(verify.SHA256, strings.Repeat("ab", 32))
	found := func(c verify.Channel) download.Offer {
		claim := verify.Claim{Digest: d, Field: "SHA256SUMS", Channel: c}
		return download.Offer{Looked: verify.Finding{
			Claims: []verify.Claim{claim}, Places: []verify.Place{{URL: "https://h/SHA256SUMS", Claims: []verify.Claim{claim}}},
		}}
	}
	for _, tt := range []struct {
		channel verify.Channel
		require download.Require
		want    string
	}{
		{verify.HTTPS, download.RequireNothing, "a download would be verified: sha-256"},
		{verify.HTTPS, download.RequireSignature, "a download also needs a signature: sha-256"},
		{verify.Signed, download.RequireSignature, "a download would be verified: sha-256"},
	} {
		lines := strings.Join(ProbeLines(found(tt.channel), download.Evidence{}, tt.require, nil), "\n")
		if !strings.Contains(lines, tt.want) ||
			strings.Contains(lines, "needed   a signature") != (tt.require == download.RequireSignature) {
			t.Errorf("%v, %v: no %q in\n%s", tt.channel, tt.require, tt.want, lines)
		}
	}
}
