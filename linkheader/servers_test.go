package linkheader

import "testing"

// A seen has the parts of a link that matter for Metalink.
type seen struct {
	target          string
	duplicate       bool
	describedBy     bool
	pri             int
	geo             string
	pref            bool
	depth           int
	mediaType, name string
}

func seeAll(t *testing.T, lines []string) (all []seen) {
	t.Helper()
	links, problems := Parse(lines)
	if problems != nil {
		t.Fatal(problems)
	}
	for _, l := range links {
		all = append(all, seen{l.Target, l.Rel(Duplicate), l.Rel(DescribedBy), l.Pri(), l.Geo(), l.Pref(), l.Depth(),
			l.Type(), l.Name()})
	}
	return all
}

// TestServers checks the fields in the examples of RFC 6249 (sections 1.1, 3, 3.4, 4 and 5) and fields as current
// servers send them.
func TestServers(t *testing.T) {
	mirror := func(target string, pri int, geo string) seen {
		return seen{target: target, duplicate: true, pri: pri, geo: geo}
	}
	document := func(target, mediaType, name string) seen {
		return seen{target: target, describedBy: true, pri: LowestPri, mediaType: mediaType, name: name}
	}
	preferred := func(s seen) seen { s.pref = true; return s }
	deep := func(s seen, depth int) seen { s.depth = depth; return s }
	for _, tt := range []struct {
		name  string
		lines []string
		want  []seen
	}{
		{"RFC 6249, section 1.1", []string{
			`<http://www2.example.com/example.ext>; rel=duplicate`,
			`<ftp://ftp.example.com/example.ext>; rel=duplicate`,
			`<http://example.com/example.ext.torrent>; rel=describedby; type="application/x-bittorrent"`,
			`<http://example.com/example.ext.meta4>; rel=describedby; type="application/metalink4+xml"`,
			`<http://example.com/example.ext.asc>; rel=describedby; type="application/pgp-signature"`,
		}, []seen{
			mirror("http://www2.example.com/example.ext", LowestPri, ""),
			mirror("ftp://ftp.example.com/example.ext", LowestPri, ""),
			document("http://example.com/example.ext.torrent", "application/x-bittorrent", ""),
			document("http://example.com/example.ext.meta4", "application/metalink4+xml", ""),
			document("http://example.com/example.ext.asc", "application/pgp-signature", ""),
		}},
		{"RFC 6249, section 3", []string{
			`<http://www2.example.com/example.ext>; rel=duplicate; pri=1; pref`,
			`<ftp://ftp.example.com/example.ext>; rel=duplicate; pri=2; geo=gb; depth=1`,
		}, []seen{
			preferred(mirror("http://www2.example.com/example.ext", 1, "")),
			deep(mirror("ftp://ftp.example.com/example.ext", 2, "GB"), 1),
		}},
		{"RFC 6249, section 3.4", []string{
			`<http://www2.example.com/dir1/dir2/dir3/dir4/dir5/example.ext>; rel=duplicate; pri=1; pref; depth=4`,
		}, []seen{
			deep(preferred(mirror("http://www2.example.com/dir1/dir2/dir3/dir4/dir5/example.ext", 1, "")), 4),
		}},
		{"RFC 6249, section 4", []string{
			`<http://example.com/example.ext.torrent>; rel=describedby; type="application/x-bittorrent"; name="differentname.ext"`,
			`<http://example.com/example.ext.meta4>; rel=describedby; type="application/metalink4+xml"`,
		}, []seen{
			document("http://example.com/example.ext.torrent", "application/x-bittorrent", "differentname.ext"),
			document("http://example.com/example.ext.meta4", "application/metalink4+xml", ""),
		}},
		{"RFC 6249, section 5.2", []string{
			`<http://example.com/example.ext.p7m>; rel=describedby; type="application/pkcs7-mime"`,
		}, []seen{document("http://example.com/example.ext.p7m", "application/pkcs7-mime", "")}},
		{"MirrorBrain: one field line each, rel without quotes, pri 1 to 5", []string{
			`<http://origin.example/iso/dvd.iso.meta4>; rel=describedby; type="application/metalink4+xml"`,
			`<http://origin.example/iso/dvd.iso.torrent>; rel=describedby; type="application/x-bittorrent"`,
			`<http://mirror1.example/pub/iso/dvd.iso>; rel=duplicate; pri=1; geo=de`,
			`<http://mirror2.example/pub/iso/dvd.iso>; rel=duplicate; pri=2; geo=cz`,
			`<http://mirror3.example/~mirror/iso/dvd.iso>; rel=duplicate; pri=5; geo=us`,
		}, []seen{
			document("http://origin.example/iso/dvd.iso.meta4", "application/metalink4+xml", ""),
			document("http://origin.example/iso/dvd.iso.torrent", "application/x-bittorrent", ""),
			mirror("http://mirror1.example/pub/iso/dvd.iso", 1, "DE"),
			mirror("http://mirror2.example/pub/iso/dvd.iso", 2, "CZ"),
			mirror("http://mirror3.example/~mirror/iso/dvd.iso", 5, "US"),
		}},
		{"MirrorBrain of old: rel in quotes", []string{
			`<http://mirror1.example/pub/iso/dvd.iso>; rel="duplicate"; pri=1; geo=de`,
		}, []seen{mirror("http://mirror1.example/pub/iso/dvd.iso", 1, "DE")}},
		{"mirrorbits: an empty geo", []string{
			`<https://mirror1.example/kali/kali.iso>; rel=duplicate; pri=1; geo=fr`,
			`<https://mirror2.example/kali/kali.iso>; rel=duplicate; pri=2; geo=`,
			`<https://mirror3.example/kali/kali.iso>; rel=duplicate; pri=3; geo=be`,
		}, []seen{
			mirror("https://mirror1.example/kali/kali.iso", 1, "FR"),
			mirror("https://mirror2.example/kali/kali.iso", 2, ""),
			mirror("https://mirror3.example/kali/kali.iso", 3, "BE"),
		}},
		{"a proxy that joined the lines, with other links among them", []string{
			`<http://mirror1.example/a,b.iso>; rel=duplicate; pri=1; geo=fr, </style.css>; rel=preload; as=style, ` +
				`<dvd.iso.asc>; rel=describedby; type="application/pgp-signature"`,
		}, []seen{
			mirror("http://mirror1.example/a,b.iso", 1, "FR"),
			{target: "/style.css", pri: LowestPri},
			document("dvd.iso.asc", "application/pgp-signature", ""),
		}},
	} {
		got := seeAll(t, tt.lines)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %d links, want %d", tt.name, len(got), len(tt.want))
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: link %d is\n%+v, want\n%+v", tt.name, i, got[i], tt.want[i])
			}
		}
	}
}
