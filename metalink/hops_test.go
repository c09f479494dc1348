package metalink

import (
	"fmt"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
)

const (
	shaA = "1ed1d1a4b3990443274e9412e999f5daf782e2e863b4cc1a99f540c263d03e61" // from the examples of RFC 6249
	shaB = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	md5A = "d41d8cd98f00b204e9800998ecf8427e"
	sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	// shaA as RFC 6249 writes it
	rfcDigest = "Digest: SHA-256=MWVkMWQxYTRiMzk5MDQ0MzI3NGU5NDEyZTk5OWY1ZGFmNzgyZTJlODYzYjRjYzFhOTlmNTQwYzI2M2QwM2U2MQ=="
)

// hop returns a Hop whose header has the fields in header, one a line.
func hop(t testing.TB, rawURL string, status int, header string) Hop {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	h := Hop{URL: u, Status: status, Header: map[string][]string{}}
	for line := range strings.Lines(header) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		h.Header[name] = append(h.Header[name], strings.TrimSpace(value))
	}
	return h
}

// text returns f with one fact a line.
func text(f File) string {
	var b strings.Builder
	if f.Server != nil {
		fmt.Fprintf(&b, "server %v\n", f.Server)
	}
	if f.ETag != "" {
		fmt.Fprintf(&b, "etag %s\n", f.ETag)
	}
	for _, c := range f.Claims {
		fmt.Fprintf(&b, "%v: %.8s\n", c, c.Digest.Hex())
	}
	for _, m := range f.Mirrors {
		fmt.Fprintf(&b, "mirror %v pri=%d pref=%v geo=%s depth=%d\n", m.URL, m.Pri, m.Pref, m.Geo, m.Depth)
	}
	for _, d := range f.Documents {
		fmt.Fprintf(&b, "document %v %s %s\n", d.URL, d.Type, d.Name)
	}
	for _, i := range f.Ignored {
		fmt.Fprintf(&b, "ignored %s: %s\n", i.Target, i.Reason)
	}
	if f.NoDigest {
		b.WriteString("no digest\n")
	}
	return b.String()
}

// wantFile compares text(f) with want, ignoring indentation.
func wantFile(t *testing.T, f File, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	var got []string
	for line := range strings.Lines(text(f)) {
		got = append(got, strings.TrimSpace(line))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(lines, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if f.Size != -1 {
		t.Errorf("size %d from fields that do not have it", f.Size)
	}
}

type hopTest struct {
	hops    []Hop
	trusted bool
	want    string
}

func runHops(t *testing.T, tests map[string]hopTest) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := FromHops(tt.hops, tt.trusted)
			if err != nil {
				t.Fatal(err)
			}
			wantFile(t, f, tt.want)
		})
	}
}

// TestServers checks responses of well-known servers and the examples of the RFC.
func TestServers(t *testing.T) {
	mirrorBrain := hop(t, "http://download.example.org/pub/f.iso", 302, `
		Location: http://mirror.one.example/pub/f.iso
		Digest: MD5=1B2M2Y8AsgTpgAmY7PhCfg==
		Digest: SHA=2jmj7l5rSw0yVb/vlWAYkK/YBwk=
		Digest: SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
		Link: <http://download.example.org/pub/f.iso.meta4>; rel=describedby; type="application/metalink4+xml"
		Link: <http://download.example.org/pub/f.iso.torrent>; rel=describedby; type="application/x-bittorrent"
		Link: <http://mirror.one.example/pub/f.iso>; rel=duplicate; pri=1; geo=de
		Link: <http://mirror.two.example/f.iso>; rel=duplicate; pri=2; geo=fr
		Link: <ftp://mirror.two.example/f.iso>; rel=duplicate; pri=3; geo=fr`)
	mirrorBits := hop(t, "https://get.example.org/vlc.iso", 302, `
		Location: https://one.example/vlc.iso
		Link: <https://two.example/vlc.iso>; rel=duplicate; pri=1; geo=ch
		Link: <https://three.example/vlc.iso>; rel=duplicate; pri=2; geo=`)
	runHops(t, map[string]hopTest{
		"RFC 6249, section 7": {
			hops: []Hop{hop(t, "http://www.example.com/distribution/example.ext", 200, `
				Etag: "thvDyvhfIqlvFe+A9MYgxAfm1q5="
				Link: <http://www2.example.com/example.ext>; rel=duplicate; pref
				Link: <ftp://ftp.example.com/example.ext>; rel=duplicate
				Link: <http://example.com/example.ext.torrent>; rel=describedby; type="application/x-bittorrent"; name="differentname.ext"
				Link: <http://example.com/example.ext.meta4>; rel=describedby; type="application/metalink4+xml"
				Link: <http://example.com/example.ext.asc>; rel=describedby; type="application/pgp-signature"
				`+rfcDigest)},
			want: `
				server http://www.example.com/distribution/example.ext
				etag "thvDyvhfIqlvFe+A9MYgxAfm1q5="
				sha-256 from Digest over http: 1ed1d1a4
				mirror http://www2.example.com/example.ext pri=999999 pref=true geo= depth=0
				mirror ftp://ftp.example.com/example.ext pri=999999 pref=false geo= depth=0
				document http://example.com/example.ext.torrent application/x-bittorrent differentname.ext
				document http://example.com/example.ext.meta4 application/metalink4+xml
				document http://example.com/example.ext.asc application/pgp-signature`,
		},
		"RFC 6249, section 3": {
			hops: []Hop{hop(t, "http://www.example.com/example.ext", 200, `
				Link: <ftp://ftp.example.com/example.ext>; rel=duplicate; pri=2; geo=gb; depth=1
				Link: <http://www2.example.com/example.ext>; rel=duplicate; pri=1; pref
				`+rfcDigest)},
			want: `
				server http://www.example.com/example.ext
				sha-256 from Digest over http: 1ed1d1a4
				mirror http://www2.example.com/example.ext pri=1 pref=true geo= depth=0
				mirror ftp://ftp.example.com/example.ext pri=2 pref=false geo=GB depth=1`,
		},
		"MirrorBrain: all is on the 302": {
			hops: []Hop{mirrorBrain, hop(t, "http://mirror.one.example/pub/f.iso", 200, `ETag: "1-2-3"`)},
			want: `
				server http://download.example.org/pub/f.iso
				sha-256 from Digest over http: e3b0c442
				sha-1 from Digest over http: da39a3ee
				md5 from Digest over http: d41d8cd9
				mirror http://mirror.one.example/pub/f.iso pri=1 pref=false geo=DE depth=0
				mirror http://mirror.two.example/f.iso pri=2 pref=false geo=FR depth=0
				mirror ftp://mirror.two.example/f.iso pri=3 pref=false geo=FR depth=0
				document http://download.example.org/pub/f.iso.meta4 application/metalink4+xml
				document http://download.example.org/pub/f.iso.torrent application/x-bittorrent`,
		},
		"mirrorbits: links without a digest (C4, rule 30)": {
			hops: []Hop{mirrorBits, hop(t, "https://one.example/vlc.iso", 200, `ETag: "x"`)},
			want: `
				ignored https://two.example/vlc.iso: the response has no strong digest
				ignored https://three.example/vlc.iso: the response has no strong digest
				no digest`,
		},
		"mirrorbits and a digest from the user (C4)": {
			hops:    []Hop{mirrorBits, hop(t, "https://one.example/vlc.iso", 200, "Digest: SHA-256="+shaB)},
			trusted: true,
			want: `
				server https://get.example.org/vlc.iso
				mirror https://two.example/vlc.iso pri=1 pref=false geo=CH depth=0
				mirror https://three.example/vlc.iso pri=2 pref=false geo= depth=0`,
		},
		"Fedora: a redirect chain to a server with RFC 9530": {
			hops: []Hop{
				hop(t, "https://fedora.example/f.iso", 301, ``),
				hop(t, "https://dl.fedora.example/pub/f.iso", 200, `
					ETag: "abc"
					Repr-Digest: sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:
					Link: <https://m1.example/f.iso>; rel="duplicate"; pri=7; geo="US"; pref, <rsync://m1.example/f.iso>; rel=duplicate
					Link: </pub/f.iso.metalink>; rel="alternate describedby"; type="Application/Metalink+XML; charset=utf-8"`),
			},
			want: `
				server https://dl.fedora.example/pub/f.iso
				etag "abc"
				sha-256 from Repr-Digest over https: e3b0c442
				mirror https://m1.example/f.iso pri=7 pref=true geo=US depth=0
				document https://dl.fedora.example/pub/f.iso.metalink application/metalink+xml
				ignored rsync://m1.example/f.iso: its scheme is not http, https or ftp`,
		},
		"an ordinary server": {
			hops: []Hop{hop(t, "https://a.example/f", 200, "ETag: \"x\"\nLink: </style.css>; rel=preload")},
			want: ``,
		},
		"nothing": {},
		"answers without a URL": {
			hops: []Hop{{Header: map[string][]string{
				"Digest": {"SHA-256=" + shaA}, "Link": {"</f>; rel=duplicate", "<http://b.example/f>; rel=duplicate"},
			}}, {}},
			want: `
				server
				sha-256 from Digest over http: 1ed1d1a4
				mirror http://b.example/f pri=999999 pref=false geo= depth=0
				ignored /f: its scheme is not http, https or ftp`,
		},
	})
}

// TestWhichHopIsTheServer_C2_C4 checks which response of a redirect chain counts as that of the Metalink server, whose
// links are used (C2, C4 and rule 30).
func TestWhichHopIsTheServer_C2_C4(t *testing.T) {
	digest := "Digest: SHA-256=" + shaA
	first := func(header string) Hop { return hop(t, "https://a.example/f", 302, header) }
	second := func(header string) Hop { return hop(t, "https://b.example/f", 200, header) }
	const link1, link2 = "Link: <https://one.example/f>; rel=duplicate\n", "Link: <https://two.example/f>; rel=duplicate\n"
	server := func(host, mirror, more string) string {
		return "server https://" + host + "/f\nsha-256 from Digest over https: 1ed1d1a4\n" +
			"mirror https://" + mirror + "/f pri=999999 pref=false geo= depth=0\n" + more
	}
	runHops(t, map[string]hopTest{
		"the first of two": {
			hops: []Hop{first(link1 + digest), second(link2 + digest)},
			want: server("a.example", "one.example", "ignored https://two.example/f: listed by a mirror"),
		},
		"the second, the first has no links": {
			hops: []Hop{first("Link: </>; rel=preload\n" + digest), second(link2 + digest)},
			want: server("b.example", "two.example", ""),
		},
		"the second, the first has no digest": {
			hops: []Hop{first(link1), second(link2 + digest)},
			want: server("b.example", "two.example", "ignored https://one.example/f: the response has no strong digest"),
		},
		"none: the digest of a mirror does not bless links of the server": {
			hops: []Hop{first(link1), second(digest)},
			want: "sha-256 from Digest over https: 1ed1d1a4\nignored https://one.example/f: the response has no strong " +
				"digest\nno digest",
		},
		"none: MD5 and SHA-1 are no digest (rule 31)": {
			hops: []Hop{first(link1 + "Digest: MD5=" + md5A + ",SHA=" + sha1)},
			want: "sha-1 from Digest over https: da39a3ee\nmd5 from Digest over https: d41d8cd9\n" +
				"ignored https://one.example/f: the response has no strong digest\nno digest",
		},
		"none: unknown algorithms are no digest": {
			hops: []Hop{first(link1 + "Digest: sha-384=x")},
			want: "ignored https://one.example/f: the response has no strong digest\nno digest",
		},
		"with the user's digest it is the first with links": {
			hops: []Hop{first(""), second(link1), hop(t, "https://c.example/f", 200, link2+digest)}, trusted: true,
			want: "server https://b.example/f\nmirror https://one.example/f pri=999999 pref=false geo= depth=0\n" +
				"ignored https://two.example/f: listed by a mirror",
		},
		"an error page has no say": {
			hops: []Hop{hop(t, "https://a.example/f", 404, link1+"Digest: SHA-256="+shaB), second(link2 + digest)},
			want: server("b.example", "two.example", ""),
		},
		"links of another resource do not make a server": {
			hops: []Hop{first("Link: <https://one.example/f>; rel=duplicate; anchor=\"/g\"\n" + digest), second(link2 + digest)},
			want: server("b.example", "two.example", "ignored https://one.example/f: its anchor is a different resource"),
		},
	})
}

// TestClaimsOfAChain_Rule64 checks that FromHops keeps the most trusted claim of each digest, and trusts a response
// that came after plain http no more than plain http (rule 64).
func TestClaimsOfAChain_Rule64(t *testing.T) {
	const link = "Link: <https://one.example/f>; rel=duplicate\n"
	mirror := "mirror https://one.example/f pri=999999 pref=false geo= depth=0"
	runHops(t, map[string]hopTest{
		"https, then the Metalink server over http": {
			hops: []Hop{
				hop(t, "https://a.example/f", 302, "Digest: SHA-256="+shaA),
				hop(t, "http://a.example/f", 200, link+"Digest: MD5="+md5A+",SHA-256="+shaA),
			},
			want: "server http://a.example/f\nsha-256 from Digest over https: 1ed1d1a4\nmd5 from Digest over http: " +
				"d41d8cd9\n" + mirror,
		},
		"http, then https": {
			hops: []Hop{
				hop(t, "http://a.example/f", 301, ""),
				hop(t, "https://a.example/f", 200, link+"Digest: SHA-256="+shaA),
			},
			want: "server https://a.example/f\nsha-256 from Digest over http: 1ed1d1a4\n" + mirror,
		},
		"a mirror's digests are not the server's": {
			hops: []Hop{
				hop(t, "https://a.example/f", 302, link+"Digest: SHA-256="+shaA),
				hop(t, "https://b.example/f", 200, "Digest: SHA-256="+shaA+",MD5="+md5A),
			},
			want: "server https://a.example/f\nsha-256 from Digest over https: 1ed1d1a4\n" + mirror,
		},
		"no server: up to the first strong one": {
			hops: []Hop{
				hop(t, "https://a.example/f", 302, "Digest: MD5="+md5A),
				hop(t, "https://b.example/f", 302, "Digest: SHA-256="+shaA),
				hop(t, "https://c.example/f", 200, "Digest: SHA="+sha1),
			},
			want: "sha-256 from Digest over https: 1ed1d1a4\nmd5 from Digest over https: d41d8cd9",
		},
	})
}

func TestETag(t *testing.T) {
	tests := map[string]string{
		`ETag: "abc"`:                    `"abc"`,
		`ETag: ""`:                       "",             // allowed by RFC 9110, but the same for every version
		"ETag: \"\xfc\xff\"":             "\"\xfc\xff\"", // obs-text
		`ETag: W/"abc"`:                  "",
		`ETag: abc`:                      "",
		`ETag: "`:                        "",
		`ETag: "a"b"`:                    "",
		`ETag: "a b"`:                    "",
		"ETag: \"a\"\nETag: \"b\"":       "",
		`Last-Modified: whenever`:        "",
		"ETag: \"-6249\"\nLink: garbage": `"-6249"`,
	}
	for header, want := range tests {
		f, err := FromHops([]Hop{hop(t, "http://a.example/f", 200,
			header+"\nLink: <http://b.example/f>; rel=duplicate\n"+rfcDigest)}, false)
		if err != nil || f.ETag != want {
			t.Errorf("%q: got %q, %v; want %q", header, f.ETag, err, want)
		}
	}
}
