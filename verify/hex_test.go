package verify

import (
	"strings"
	"testing"
)

func TestHex(t *testing.T) {
	for n, a := range map[int]Algorithm{32: MD5, 40: SHA1, 64: SHA256, 128: SHA512} {
		c, err := Hex(strings.Repeat("Aa", n/2))
		if err != nil || c.Digest.Algorithm() != a || c.Digest.Hex() != strings.Repeat("a", n) || c.Channel != User {
			t.Errorf("%d digits: %v, %v", n, c, err)
		}
	}
	for _, bad := range []string{"", "a", strings.Repeat("a", 63), strings.Repeat("g", 64),
		strings.Repeat("a", 63) + "\n", strings.Repeat("a", 65)} {
		if c, err := Hex(bad); err == nil || !c.Digest.IsZero() {
			t.Errorf("%q: %v, %v", bad, c, err)
		}
	}
}
