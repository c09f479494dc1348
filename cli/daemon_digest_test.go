package cli

import (
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestDaemonURLDigest checks that a digest in a URI of a client counts, at each place of the list.
func TestDaemonURLDigest(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1000, 1), mirrortest.Name("a.iso"))
	right, wrong := "#sha256="+s.Content.Digest().Hex(), "#sha256="+strings.Repeat("0", 64)
	d := newDaemonRun(t)
	d.start()
	for name, tt := range map[string]struct {
		uris   []string
		status string
	}{
		"right":        {[]string{s.URL + right}, "complete"},
		"wrong":        {[]string{s.URL + wrong}, "error"},
		"wrong mirror": {[]string{s.URL, s.URL + "?2" + wrong}, "error"},
		"two":          {[]string{s.URL + right, s.URL + "?2" + wrong}, "error"},
	} {
		gid, failure := d.call("aria2.addUri", tt.uris, map[string]string{"out": strings.ReplaceAll(name, " ", "")})
		if failure != "" {
			t.Fatal(failure)
		}
		if status := d.status(gid); status["status"] != tt.status {
			t.Errorf("%s: %v", name, status)
		}
	}
}
