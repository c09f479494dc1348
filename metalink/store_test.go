package metalink

import "testing"

// TestStoreDigests: a digest in a store's field proves the file, also where it stands on the redirect, and makes no Links usable
// (RFC 6249, section 6).
func TestStoreDigests(t *testing.T) {
	redirect := "X-Linked-Etag: \"" + shaA + "\"\nX-Linked-Size: 4\nLocation: https://cas.example/1"
	for name, tt := range map[string]struct {
		hops []Hop
		want string
	}{
		"on the redirect": {
			[]Hop{hop(t, "https://h.example/f", 302, redirect), hop(t, "https://cas.example/1", 200, "Content-Length: 4")},
			"sha-256 from X-Linked-Etag over https: 1ed1d1a4\n",
		},
		"the target's": { // where the redirect said something of the file, the target is a mirror
			[]Hop{hop(t, "https://h.example/f", 302, redirect), hop(t, "https://cas.example/1", 200,
				"Content-Length: 4\nX-Checksum-Sha512: "+shaA+shaA)},
			"sha-256 from X-Linked-Etag over https: 1ed1d1a4\n",
		},
		"with Links": {
			[]Hop{hop(t, "https://h.example/f", 200, "X-Checksum-Sha256: "+shaA+"\nLink: <https://m.example/f>; rel=duplicate")},
			"sha-256 from X-Checksum-Sha256 over https: 1ed1d1a4\nignored https://m.example/f: the response has no " +
				"strong digest\nno digest\n",
		},
		"malformed": {
			[]Hop{hop(t, "https://h.example/f", 200, "X-Checksum-Sha256: x")},
			"ignored X-Checksum-Sha256: x: sha-256 has 1 characters, want 64 hexadecimal digits\n",
		},
	} {
		file, err := FromHops(tt.hops, false)
		if got := text(file); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
		if own := Own(tt.hops); own != 1 {
			t.Errorf("%s: %d answers are the asked server's", name, own)
		}
	}
}
