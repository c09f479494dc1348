package metalink

import "testing"

// TestAskedHost_C2 checks that a host is scheme, host and port, and that http may become https on the default ports only:
// on others another server may listen. A redirect that has described the file makes each other host a mirror (C2).
func TestAskedHost_C2(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		same     bool
	}{
		{"http://a.example/f", "https://a.example/f", true},
		{"http://A.example:80/f", "https://a.example:443/g", true},
		{"http://a.example/f", "https://a.example:9443/f", false},
		{"http://a.example:8080/f", "https://a.example/f", false},
		{"http://a.example:8080/f", "https://a.example:9443/f", false},
		{"http://a.example:8080/f", "https://a.example:8080/f", false},
		{"http://a.example:443/f", "https://a.example:443/f", false},
		{"http://a.example/f", "https://b.example/f", false},
		{"http://[::1]/f", "https://[::1]:443/f", true},
		{"https://a.example/f", "http://a.example/f", false},
		{"http://a.example:8080/f", "http://a.example:8080/g", true},
		{"https://a.example/f", "https://a.example:443/f", true},
	} {
		hops := []Hop{
			hop(t, tt.from, 302, "Link: <https://m.example/f>; rel=duplicate"),
			hop(t, tt.to, 200, "Digest: SHA-256="+shaA),
		}
		own := 1
		if tt.same {
			own = 2
		}
		if got := Own(hops); got != own || AskedAt(hops, 1) != tt.same {
			t.Errorf("from %s to %s: %d answers are the asked server's, want %d", tt.from, tt.to, got, own)
		}
	}
}

// TestClaimsAfterTheServer checks that a digest of the asked server counts after a redirect of its own with links, as if
// HEAD was refused and the server was asked again by GET. Another file of that server, to which a mirror redirects, does
// not count.
func TestClaimsAfterTheServer(t *testing.T) {
	links := hop(t, "http://a.example/f", 302, "Link: <http://b.example/f>; rel=duplicate")
	mirror := hop(t, "http://b.example/f", 200, "Digest: SHA-256="+shaA+",MD5="+md5A)
	const named = "mirror http://b.example/f pri=999999 pref=false geo= depth=0"
	runHops(t, map[string]hopTest{
		"links, then a digest": {
			hops:    []Hop{links, hop(t, "http://a.example/f", 200, "Digest: SHA-256="+shaA), mirror},
			trusted: true,
			want:    "server http://a.example/f\nsha-256 from Digest over http: 1ed1d1a4\n" + named,
		},
		"links, a mirror, then a digest": {
			hops:    []Hop{links, mirror, hop(t, "http://a.example/f", 200, "Digest: SHA-256="+shaA)},
			trusted: true,
			want:    "server http://a.example/f\nsha-256 from Digest over http: 1ed1d1a4\n" + named,
		},
		"another file behind a mirror": {
			hops: []Hop{
				links, hop(t, "http://b.example/f", 302, ""), hop(t, "http://a.example/g", 200, "Digest: SHA-256="+shaA),
			},
			trusted: true,
			want:    "server http://a.example/f\n" + named,
		},
	})
}
