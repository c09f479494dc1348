package metalink

import (
	"errors"
	"net/url"
	"testing"

	"braid/verify"
)

// TestWrongDigests_C5_Rule31_Rule32 checks that a malformed or conflicting digest is an error, and that FromHops still
// returns what the responses before it said (C5, rules 31 and 32).
func TestWrongDigests_C5_Rule31_Rule32(t *testing.T) {
	const link = "Link: <https://one.example/f>; rel=duplicate\n"
	server := hop(t, "https://a.example/f", 302, link+"Digest: SHA-256="+shaA)
	afterwards := "server https://a.example/f\nsha-256 from Digest over https: 1ed1d1a4\n" +
		"mirror https://one.example/f pri=999999 pref=false geo= depth=0"
	tests := map[string]struct {
		hops []Hop
		at   int
		want string // expected file
		text string // expected error
	}{
		"malformed": {
			[]Hop{hop(t, "https://a.example/f?key=secret", 200, link+"Digest: SHA-256=x")}, 0, "",
			`response of "https://a.example": Digest "SHA-256=x": sha-256 has 1 characters, want 44 of base64`,
		},
		"contradicts itself": {
			[]Hop{hop(t, "https://a.example/f", 200, link+"Digest: SHA-256="+shaA+",SHA-256="+shaB)}, 0, "", "",
		},
		"another digest at a mirror": {
			[]Hop{server, hop(t, "https://b.example/f", 200, "Digest: SHA-256="+shaB)}, 1, afterwards,
			`response of "https://b.example": sha-256 is ` + shaA + " (from Digest over https) and " + shaB +
				" (from Digest over https)",
		},
		"two mirrors": {
			[]Hop{server, hop(t, "https://b.example/f", 302, "Digest: MD5="+md5A), hop(t, "https://c.example/f", 200,
				"Digest: MD5="+shaA[:32])},
			2, afterwards, "",
		},
		"a host that would paint the terminal": {
			[]Hop{{URL: &url.URL{Scheme: "http", Host: "\u202e\x1b[2J"},
				Header: map[string][]string{"Digest": {"MD5=x"}}}}, 0, "",
			`response of "http://\u202e\x1b[2J": Digest "MD5=x": md5 has 1 characters, want 24 of base64`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := FromHops(tt.hops, false)
			he, ok := errors.AsType[*HopError](err)
			if !ok || he.Hop != tt.at {
				t.Fatalf("error %v, want a *HopError at answer %d", err, tt.at)
			}
			_, malformed := errors.AsType[*verify.DigestError](err)
			_, conflict := errors.AsType[*verify.ConflictError](err)
			if !malformed && !conflict {
				t.Errorf("%v wraps neither a DigestError nor a ConflictError", err)
			}
			if tt.text != "" && err.Error() != tt.text {
				t.Errorf("got  %v\nwant %s", err, tt.text)
			}
			wantFile(t, f, tt.want)
		})
	}
}

// TestMalformedIsANote_Rule31 checks that a malformed digest is only noted if another response or the user gave a
// strong one (rule 31).
func TestMalformedIsANote_Rule31(t *testing.T) {
	good, bad := "Digest: SHA-256="+shaA, "Digest: SHA-256=x"
	runHops(t, map[string]hopTest{
		"at a mirror": {
			hops: []Hop{hop(t, "https://a.example/f", 302, good), hop(t, "https://b.example/f", 200, "Digest: MD5=x")},
			want: "sha-256 from Digest over https: 1ed1d1a4\nignored Digest: MD5=x: md5 has 1 characters, want 24 of base64",
		},
		"beside the user's": {
			hops: []Hop{hop(t, "https://a.example/f", 200, bad)}, trusted: true,
			want: "ignored Digest: SHA-256=x: sha-256 has 1 characters, want 44 of base64",
		},
	})
}
