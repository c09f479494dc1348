package render

import (
	"net/url"
	"strings"
	"testing"

	"braid/download"
	"braid/metalink"
)

// Proves C4 and rule 61 for what probe shows.
func TestProbeLines(t *testing.T) {
	u, _ := url.Parse("http://h/a%1b")
	lines := strings.Join(ProbeLines(download.Offer{
		Hops: []metalink.Hop{{URL: u, Status: 302}, {URL: u, Status: 799}},
		File: metalink.File{Size: -1, NoDigest: true, IgnoredCount: 150, Ignored: []metalink.Ignored{{Target: "\x1b", Reason: "scheme"}}},
	}, download.Evidence{}, nil), "\n")
	for _, want := range []string{
		"302 Found  http://h/a%1b", "799  http", "size     unknown", "ranges   not announced", "etag     none", "digests  none",
		"mirrors: 0; those that the server names are not used", "--sha256", "ignored links: 150", `\x1b  scheme`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}
