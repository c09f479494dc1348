package metalink

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"braid/verify"
)

// from returns the file that the Metalink server https://a.example/pub/f describes with these links.
func from(t testing.TB, links ...string) File {
	t.Helper()
	h := hop(t, "https://a.example/pub/f", 200, rfcDigest)
	h.Header["Link"] = links
	f, err := FromHops([]Hop{h}, false)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// urls returns the URLs of the mirrors of f.
func urls(f File) []string {
	var s []string
	for _, m := range f.Mirrors {
		s = append(s, m.URL.String())
	}
	return s
}

func wantMirrors(t *testing.T, f File, want ...string) {
	t.Helper()
	if got := urls(f); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestIgnoredLinks_Rule36 checks which links FromHops ignores, and that it counts each of them (rule 36).
func TestIgnoredLinks_Rule36(t *testing.T) {
	long := "https://m.example/" + strings.Repeat("x", maxURL)
	wide := "https://m.example/" + strings.Repeat("\u00e9", maxURL/3) // 3 bytes each once escaped, and more
	tests := map[string]struct{ link, reason string }{
		"itself":                {"<https://a.example/pub/f>", "the server itself"},
		"itself, relative":      {"<f>", "the server itself"},
		"itself, empty":         {"<>", "the server itself"},
		"itself, fragment":      {"<#top>", "the server itself"},
		"itself, port":          {"<https://a.example:443/pub/f>", "the server itself"},
		"itself, http":          {"<http://A.example./pub/f>", "the server itself"},
		"itself, user":          {"<https://me@a.example/pub/f>", "the server itself"},
		"itself, dots":          {"<https://a.example/x/../pub/./f>", "the server itself"},
		"anchor":                {`<https://m.example/f>; anchor="https://b.example/f"`, "its anchor is a different resource"},
		"anchor, relative":      {`<https://m.example/f>; anchor="g"`, "its anchor is a different resource"},
		"anchor, part":          {`<https://m.example/f>; anchor="#part"`, "its anchor is a different resource"},
		"anchor, scheme":        {`<https://m.example/f>; anchor="http://a.example/pub/f"`, "its anchor is a different resource"},
		"anchor, garbage":       {`<https://m.example/f>; anchor="%zz"`, "its anchor is a different resource"},
		"rsync":                 {"<rsync://m.example/f>", "its scheme is not http, https or ftp"},
		"file":                  {"<file:///etc/passwd>", "its scheme is not http, https or ftp"},
		"data":                  {"<data:,x>", "its scheme is not http, https or ftp"},
		"javascript":            {"<javascript:alert(1)>", "its scheme is not http, https or ftp"},
		"no host":               {"<http:///f>", "no host"},
		"only a port":           {"<http://:80/f>", "no host"},
		"opaque":                {"<http:f>", "no host"},
		"not a URL":             {"<https://m.example/%zz>", "not a URL"},
		"control":               {"<https://m.example/\x7f>", "Link field 0, offset 19: control character"},
		"broken":                {"<https://m.example/", "Link field 0, offset 0: want <reference>"},
		"too long":              {"<" + long + ">", "over 8 KiB"},
		"too long, cut or not":  {"<https://m.example/f#" + strings.Repeat("x", maxURL) + ">", "over 8 KiB"},
		"too long once escaped": {"<" + wide + ">", "over 8 KiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := from(t, tt.link+"; rel=duplicate", "<https://good.example/f>; rel=duplicate")
			wantMirrors(t, f, "https://good.example/f")
			if f.IgnoredCount != 1 || len(f.Ignored) != 1 || f.Ignored[0].Reason != tt.reason {
				t.Errorf("ignored %d: %v, want one: %s", f.IgnoredCount, f.Ignored, tt.reason)
			}
		})
	}
}

func TestUsableLinks(t *testing.T) {
	tests := map[string]struct{ link, want string }{
		"absolute":          {"<http://m.example/f>", "http://m.example/f"},
		"path":              {"</mirror/f>", "https://a.example/mirror/f"},
		"relative":          {"<../other/f>", "https://a.example/other/f"},
		"network path":      {"<//m.example/f>", "https://m.example/f"},
		"another port":      {"<https://a.example:8443/pub/f>", "https://a.example:8443/pub/f"},
		"ftp at the server": {"<ftp://a.example/pub/f>", "ftp://a.example/pub/f"},
		"query":             {"<https://a.example/pub/f?mirror=2>", "https://a.example/pub/f?mirror=2"},
		"no credentials":    {"<https://me:pw@m.example/f#x>", "https://m.example/f"},
		"anchor to itself":  {`<https://m.example/f>; anchor="f"`, "https://m.example/f"},
		"empty anchor":      {`<https://m.example/f>; anchor=""`, "https://m.example/f"},
		"international":     {"<https://m.example/\u00e9>", "https://m.example/%C3%A9"},
		"capitals":          {"<HTTPS://m.example/f>", "https://m.example/f"},
		"a comma":           {"<https://m.example/a,b;c>", "https://m.example/a,b;c"},
		"IPv6":              {"<http://[2001:db8::1]:8080/f>", "http://[2001:db8::1]:8080/f"},
		"8 KiB, and no more": {"<https://m.example/" + strings.Repeat("x", maxURL-18) + ">",
			"https://m.example/" + strings.Repeat("x", maxURL-18)},
		"several relations":   {`<https://m.example/f>; title="x"`, "https://m.example/f"},
		"no path":             {"<https://m.example>", "https://m.example"},
		"path of other bytes": {"<https://m.example/%ff>", "https://m.example/%ff"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := from(t, tt.link+`; rel="other DUPLICATE"`)
			wantMirrors(t, f, tt.want)
			if f.IgnoredCount != 0 {
				t.Errorf("ignored %v", f.Ignored)
			}
		})
	}
}

// TestSelfLinksOfAChain_C2 checks that a URL under which the Metalink server itself responded is no mirror, while the
// URL that it redirects to may be one (C2).
func TestSelfLinksOfAChain_C2(t *testing.T) {
	hops := []Hop{
		hop(t, "http://a.example/f", 301, ""),
		hop(t, "https://a.example/f", 302, rfcDigest+`
			Link: <http://a.example/f>; rel=duplicate
			Link: <https://a.example/f>; rel=duplicate
			Link: <https://a.example/long/f>; rel=duplicate
			Link: <https://a.example/third/f>; rel=duplicate
			Link: <https://m.example/f>; rel=duplicate`),
		hop(t, "https://a.example/long/f", 302, ""),
		hop(t, "https://m.example/f", 200, ""),
	}
	f, err := FromHops(hops, false)
	if err != nil {
		t.Fatal(err)
	}
	wantMirrors(t, f, "https://a.example/third/f", "https://m.example/f")
	if f.IgnoredCount != 3 {
		t.Errorf("ignored %v", f.Ignored)
	}
}

// TestRelativeToItsHop checks that a relative link is resolved against the URL of its own response, not against the
// first URL of the chain.
func TestRelativeToItsHop(t *testing.T) {
	hops := []Hop{
		hop(t, "https://a.example/deep/er/f", 302, ""),
		hop(t, "https://b.example/pub/f", 200, rfcDigest+`
			Link: <mirror/f>; rel=duplicate; anchor="/pub/f"
			Link: <f.meta4>; rel=describedby; type=application/metalink4+xml`),
	}
	f, err := FromHops(hops, false)
	if err != nil {
		t.Fatal(err)
	}
	wantMirrors(t, f, "https://b.example/pub/mirror/f")
	if len(f.Documents) != 1 || f.Documents[0].URL.String() != "https://b.example/pub/f.meta4" {
		t.Errorf("documents %v", f.Documents)
	}
}

func TestEqualMirrorsAreOne(t *testing.T) {
	f := from(t,
		"<https://m.example/f>; rel=duplicate; pri=5",
		"<https://M.example:443/f#x>; rel=duplicate; pri=1",
		"<http://m.example/f>; rel=duplicate; pri=9",
		"<https://m.example/f?>; rel=duplicate",
		"<https://m.example>; rel=duplicate",
		"<https://m.example/>; rel=duplicate")
	wantMirrors(t, f, "https://m.example/f", "http://m.example/f", "https://m.example")
	if f.Mirrors[0].Pri != 5 || f.IgnoredCount != 3 || f.Ignored[0].Reason != "listed before" {
		t.Errorf("pri %d, ignored %v", f.Mirrors[0].Pri, f.Ignored)
	}
}

// TestOrder_S5_Rule37 checks the order of mirrors (S5 and rule 37).
func TestOrder_S5_Rule37(t *testing.T) {
	f := from(t,
		"<https://1.example/f>; rel=duplicate; pri=2; geo=de",
		"<https://2.example/f>; rel=duplicate; geo=fr",
		"<https://3.example/f>; rel=duplicate; pri=0; geo=de",
		"<https://4.example/f>; rel=duplicate; pri=1000000",
		"<https://5.example/f>; rel=duplicate; pri=999999; geo=nonsense",
		"<https://6.example/f>; rel=duplicate; pri=high; pref=1; depth=-1",
		"<https://7.example/f>; rel=duplicate; pri=1; geo=FR",
		"<ftp://8.example/f>; rel=duplicate; pri=1; pref; geo=de",
		"<https://9.example/f>; rel=duplicate; pri=3; pref; depth=2",
	)
	order := func() string {
		var s strings.Builder
		for _, m := range f.Mirrors {
			s.WriteString(m.URL.Host[:1])
		}
		return s.String()
	}
	if got, want := order(), "967812345"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Countries near the user count more than pri and less than pref.
	Near(f.Mirrors, "FR")
	if got, want := order(), "967281345"; got != want {
		t.Errorf("near FR: got %s, want %s", got, want)
	}
	Near(f.Mirrors, "DE", "FR")
	if got, want := order(), "968137245"; got != want {
		t.Errorf("near DE, then FR: got %s, want %s", got, want)
	}
	Near(f.Mirrors, "")
	if got, want := order(), "968137245"; got != want {
		t.Errorf("near nowhere: got %s, want %s", got, want)
	}
	m := f.Mirrors[slices.IndexFunc(f.Mirrors, func(m Mirror) bool { return m.URL.Scheme == "ftp" })]
	if m.Pref {
		t.Error("RFC 6249, section 3.3: FTP mirrors are considered normal")
	}
	if f.Mirrors[0].Depth != 2 || f.Mirrors[1].Depth != 0 || f.Mirrors[1].Pri != 999999 {
		t.Errorf("got %+v", f.Mirrors[:2])
	}
}

// TestLimits_Rule36 checks that FromHops keeps the first 200 mirrors and counts all others as ignored (rule 36).
func TestLimits_Rule36(t *testing.T) {
	var links []string
	for i := range 3000 {
		links = append(links, fmt.Sprintf("<https://m%d.example/f>; rel=duplicate; pri=%d", i, 3000-i))
		links = append(links, fmt.Sprintf("<https://d.example/%d>; rel=describedby; type=text/plain", i))
	}
	f := from(t, links...)
	if len(f.Mirrors) != MaxMirrors || len(f.Documents) != maxDocuments || len(f.Ignored) != maxIgnored {
		t.Errorf("%d mirrors, %d documents, %d ignored", len(f.Mirrors), len(f.Documents), len(f.Ignored))
	}
	if want := 6000 - MaxMirrors - maxDocuments; f.IgnoredCount != want {
		t.Errorf("ignored %d, want %d", f.IgnoredCount, want)
	}
	if got := f.Mirrors[0].URL.Host; got != "m199.example" {
		t.Errorf("the best of the first 200 is %s", got)
	}
}

func TestDocuments(t *testing.T) {
	f := from(t,
		`<f.asc>; rel=describedby; type="Application/PGP-Signature ; x=y"`,
		`<f.asc>; rel=describedby; type="application/pgp-signature"`,
		`<schema>; rel=describedby`,
		`<all.torrent>; rel="describedby"; type=application/x-bittorrent; name="f"`,
		`<all.torrent>; rel="describedby"; type=application/x-bittorrent; name="g"`,
		`<magnet:?xt=urn:x>; rel=describedby; type=application/x-bittorrent`,
		`<https://m.example/both>; rel="duplicate describedby"; type=text/html`)
	wantFile(t, f, `
		server https://a.example/pub/f
		sha-256 from Digest over https: 1ed1d1a4
		mirror https://m.example/both pri=999999 pref=false geo= depth=0
		document https://a.example/pub/f.asc application/pgp-signature
		document https://a.example/pub/all.torrent application/x-bittorrent f
		document https://a.example/pub/all.torrent application/x-bittorrent g
		document https://m.example/both text/html
		ignored f.asc: listed before
		ignored schema: a document without a type
		ignored magnet:?...: its scheme is not http, https or ftp`)
}

// TestIgnoredShowsNoSecrets_Rule62 checks that the targets in Ignored have no passwords and queries (rule 62).
func TestIgnoredShowsNoSecrets_Rule62(t *testing.T) {
	for target, want := range map[string]string{
		"rsync://me:secret@m.example/f?key=secret": "rsync://***@m.example/f?...",
		"rsync://m.example/f@2":                    "rsync://m.example/f@2",
		"rsync://a@b@m.example":                    "rsync://***@m.example",
		"mailto:x":                                 "mailto:x",
		"x:" + strings.Repeat("y", 300):            "x:" + strings.Repeat("y", 198) + "...",
	} {
		f := from(t, "<"+target+">; rel=duplicate")
		if len(f.Ignored) != 1 || f.Ignored[0].Target != want {
			t.Errorf("%s: got %v, want %s", target, f.Ignored, want)
		}
	}
}

// FuzzFromHops checks that FromHops does not panic, and that its result is within the limits and in order, whatever
// servers send.
func FuzzFromHops(f *testing.F) {
	f.Add("http://a.example/f", rfcDigest[8:],
		"<http://b.example/f>; rel=duplicate; pri=1; geo=de; pref, </f.asc>; rel=describedby; type=x/y",
		"https://b.example/f", "", "<http://c.example/f>; rel=duplicate", true)
	f.Add(":", "SHA-256="+shaA, "<http://b.example/f>; rel=duplicate, </f>; rel=duplicate", ":", "", "", false)
	f.Add("", "MD5=x", "<>;rel=duplicate", "mailto:x", "SHA-256="+shaA,
		"<x:y>;rel=\"duplicate describedby\";anchor=\"//\"", false)
	f.Fuzz(func(t *testing.T, url1, digest1, link1, url2, digest2, link2 string, trusted bool) {
		u1, _ := url.Parse(url1) // nil is allowed
		u2, _ := url.Parse(url2)
		hops := []Hop{
			{URL: u1, Status: 302, Header: map[string][]string{"Digest": {digest1}, "Link": {link1}, "Etag": {url2}}},
			{URL: u2, Status: 200, Header: map[string][]string{"Digest": {digest2}, "Link": strings.Split(link2, "\n")}},
		}
		file, err := FromHops(hops, trusted)
		if _, ok := err.(*HopError); err != nil && !ok {
			t.Fatalf("error of type %T", err)
		}
		checkFile(t, file, trusted)
	})
}

func checkFile(t *testing.T, f File, trusted bool) {
	t.Helper()
	if len(f.Mirrors) > MaxMirrors || len(f.Documents) > maxDocuments || len(f.Ignored) > maxIgnored ||
		f.IgnoredCount < len(f.Ignored) {
		t.Fatalf("limits: %d mirrors, %d documents, %d of %d ignored", len(f.Mirrors), len(f.Documents), len(f.Ignored),
			f.IgnoredCount)
	}
	strong := slices.ContainsFunc(f.Claims, func(c verify.Claim) bool { return c.Digest.Algorithm().Strong() })
	if len(f.Mirrors)+len(f.Documents) > 0 && (f.Server == nil || !strong && !trusted) {
		t.Fatalf("links of a server without a strong digest:\n%s", text(f))
	}
	if f.Server == nil && f.ETag != "" || f.NoDigest && (f.Server != nil || trusted || f.IgnoredCount == 0) {
		t.Fatalf("contradicts itself:\n%s", text(f))
	}
	seen := map[string]bool{}
	for _, m := range f.Mirrors {
		if s := m.URL.String(); seen[s] || len(s) > maxURL || m.URL.Host == "" || m.URL.User != nil || m.URL.Fragment != "" {
			t.Fatalf("mirror %q", s)
		}
		seen[m.URL.String()] = true
		if !slices.Contains([]string{"http", "https", "ftp"}, m.URL.Scheme) || m.Pri < 1 || m.Pri > 999999 || m.Depth < 0 {
			t.Fatalf("mirror %+v", m)
		}
	}
	better := func(a, b Mirror) int {
		switch {
		case a.Pref != b.Pref && a.Pref, a.Pref == b.Pref && a.Pri < b.Pri:
			return -1
		case a.Pref == b.Pref && a.Pri == b.Pri:
			return 0
		}
		return +1
	}
	if !slices.IsSortedFunc(f.Mirrors, better) {
		t.Fatalf("not in order:\n%s", text(f))
	}
}

// TestSortWithoutPriority checks that Sort puts a mirror without a priority last (RFC 6249, section 3.1), like package
// serve.
func TestSortWithoutPriority(t *testing.T) {
	mirrors := []Mirror{{Geo: "none"}, {Geo: "two", Pri: 2}, {Geo: "last", Pri: 999999}, {Geo: "one", Pri: 1},
		{Geo: "preferred", Pref: true}}
	Sort(mirrors)
	var order []string
	for _, m := range mirrors {
		order = append(order, m.Geo)
	}
	if got := strings.Join(order, " "); got != "preferred one two none last" {
		t.Error(got)
	}
}
