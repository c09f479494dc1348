package verify

import (
	"strings"
	"testing"
)

// What an answer says of its content is read as RFC 9530, section 2, has it; a field that is malformed, or says two
// things, is none.
func TestOfContent(t *testing.T) {
	good := "sha-256=:" + b64(sha256Hex) + ":"
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"one": {[]string{good}, "Content-Digest sha-256=" + sha256Hex},
		"two": {[]string{good, "sha-512=:" + b64(sha512Hex) + ":"},
			"Content-Digest sha-512=" + sha512Hex + ", Content-Digest sha-256=" + sha256Hex},
		"no padding": {[]string{"sha-256=:" + strings.TrimRight(b64(sha256Hex), "=") + ":"},
			"Content-Digest sha-256=" + sha256Hex},
		"weak":          {[]string{"md5=:" + b64(md5Hex) + ":, " + good}, "Content-Digest sha-256=" + sha256Hex},
		"weak only":     {[]string{"sha=:" + b64(sha1Hex) + ":"}, ""},
		"unknown":       {[]string{"unixsum=:AAAA:"}, ""},
		"malformed":     {[]string{good + ", ???"}, ""},
		"wrong length":  {[]string{"sha-256=:AAAA:"}, ""},
		"contradictory": {[]string{good, "sha-256=:" + strings.Repeat("A", 43) + "=:"}, ""},
		"none":          {nil, ""},
	} {
		if got := digests(OfContent(map[string][]string{"Content-Digest": tt.lines, "Repr-Digest": {"sha-256=:AA:"}},
			HTTPS)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
