package verify_test

import (
	"net/url"
	"testing"

	"braid/verify"
)

// TestOfURL: a URL that names its file by its content states a digest; one that only looks so does not.
func TestOfURL(t *testing.T) {
	const (
		digits = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
		std    = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="
		safe   = "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"
	)
	for raw, want := range map[string]string{
		"https://h/f#sha256=" + digits:                       digits,
		"https://h/f#egg=x&sha256=" + digits:                 digits,
		"https://h/f#sha256-" + std:                          digits,
		"https://h/v2/a/b/blobs/sha256:" + digits:            digits,
		"https://h/dists/x/by-hash/SHA256/" + digits:         digits,
		"https://h/.well-known/ni/sha-256/" + safe:           digits,
		verify.WellKnownURL("ni://h/sha-256;" + safe):        digits,
		"https://h/f#section-2":                              "",
		"https://h/f#sha256":                                 "",
		"https://h/f":                                        "",
		"https://h/v2/a/manifests/sha256:" + digits:          "",
		"https://h/blobs/sha256:" + digits:                   "",
		"https://h/v2/a/blobs/uploads":                       "",
		"https://h/by-hash/SHA256/":                          "",
		"https://h/by-hash/CRC/" + digits:                    "",
		"https://h/x/.well-known/ni/sha-256/" + safe:         "",
		"https://h/f#share3=x&shadow:1&sha=off":              "error",
		"https://h/f#share3=x&shadow:1":                      "",
		"https://h/f#SHA256-" + std:                          digits,
		"https://h/f#sha256:" + digits:                       "error",
		"https://h/f#sha384=" + digits:                       "error",
		"https://h/f#sha3-256:" + digits:                     "error",
		"https://h/f#sha384-" + std:                          "error",
		"https://h/v2/a/blobs/sha256:12":                     "error",
		"https://h/by-hash/SHA256/12":                        "error",
		"https://h/.well-known/ni/sha-256/" + safe + "=":     "error",
		"https://h/.well-known/ni/sha-256/" + safe[1:]:       "error",
		verify.WellKnownURL("ni://h/sha-256;" + std):         "error",
		verify.WellKnownURL("ni://h/sha-256-32;" + "n4bQgY"): "error",
		verify.WellKnownURL("ni://h/sha-512;" + safe):        "error",
		"https://h/f#sha256=12":                              "error",
		"https://h/f#sha256-!":                               "error",
		"https://h/f#sha512-" + std:                          "error",
		"https://h/f#sha256=" + digits + "&sha512=" + "12":   "error",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		digests, err := verify.OfURL(u)
		got := ""
		switch {
		case err != nil:
			got = "error"
		case len(digests) == 1:
			got = digests[0].Hex()
		case len(digests) > 1:
			got = "several"
		}
		if got != want {
			t.Errorf("%s: %v, %v", raw, digests, err)
		}
	}
	for _, other := range []string{"https://h/f", "ni:///sha-256;x", "ni://h/x", "nis://h/sha-256;x"} {
		if got := verify.WellKnownURL(other); got != other {
			t.Errorf("%s became %s", other, got)
		}
	}
}
