package metalink

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/verify"
)

// shownFile returns the fields of m that these tests compare, one fact a line.
func shownFile(m File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "size %d\n", m.Size)
	for _, c := range m.Claims {
		fmt.Fprintf(&b, "%v: %.8s\n", c, c.Digest.Hex())
	}
	for _, u := range m.Mirrors {
		fmt.Fprintf(&b, "mirror %s pri=%d pref=%v geo=%s\n", u.URL, u.Pri, u.Pref, u.Geo)
	}
	for _, d := range m.Documents {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintln("document", d.URL, d.Type, d.Name)))
	}
	for _, p := range m.Pieces {
		fmt.Fprintf(&b, "pieces %d of %d %v\n", p.Count(), p.Length(), p.Algorithm())
	}
	for _, s := range m.Signatures {
		fmt.Fprintf(&b, "signature %s\n", s.Type)
	}
	for _, i := range m.Ignored {
		fmt.Fprintf(&b, "ignored %s: %s\n", i.Target, i.Reason)
	}
	fmt.Fprintf(&b, "ignored %d, no digest %v\n", m.IgnoredCount, m.NoDigest)
	return b.String()
}

// over returns f with claims that came over channel.
func over(f File, channel verify.Channel) File {
	f.Claims = slices.Clone(f.Claims)
	d := Document{Files: []File{f}}
	d.From(channel, 0)
	return d.Files[0]
}

func wantShown(t *testing.T, m File, want string) {
	t.Helper()
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.TrimSpace(l)+"\n")
	}
	if got, want := shownFile(m), strings.Join(lines, ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMetalink_S5(t *testing.T) {
	d := parse(t, doc(`<size>8</size><hash type="md5">`+md5Zero+`</hash><hash type="sha-256">`+sha256Zero+`</hash>
		<signature mediatype="application/pgp-signature">x</signature>`+list("4", "sha-1", sha1Zero, sha1One)+`
		<url priority="5" location="de">http://a/f</url><url>http://z/f</url><url priority="1">https://b/f</url>
		<url priority="2">http://a:80/f#again</url><url priority="5">http://c/f</url><url>rsync://d/f</url>
		<metaurl mediatype="torrent" name="x/f" priority="9">http://a/2.torrent</metaurl>
		<metaurl mediatype="torrent" priority="3">http://a/1.torrent</metaurl>
		<metaurl mediatype="torrent" priority="7">http://a/1.torrent</metaurl>
		<metaurl mediatype="application/x" priority="8">http://a/x</metaurl>`))
	wantShown(t, over(d.Files[0], verify.HTTPS), `
		size 8
		sha-256 from metalink over https: 00000000
		md5 from metalink over https: 00000000
		mirror https://b/f pri=1 pref=false geo=
		mirror http://a:80/f pri=2 pref=false geo=
		mirror http://c/f pri=5 pref=false geo=
		mirror http://z/f pri=999999 pref=false geo=
		document http://a/1.torrent application/x-bittorrent
		document http://a/x application/x
		document http://a/2.torrent application/x-bittorrent x/f
		pieces 2 of 4 sha-1
		signature application/pgp-signature
		ignored rsync://d/f: its scheme is not http, https or ftp
		ignored http://a/f: listed before
		ignored http://a/1.torrent: listed before
		ignored 3, no digest false`)
	if got := over(d.Files[0], verify.User).Claims[0].String(); got != "sha-256 from metalink" {
		t.Errorf("a claim is %q", got)
	}
}

// TestNoStrongHash_Rule43 checks that NoDigest is set if a document has mirrors but no strong digest that shows that
// they have the same file (rule 43).
func TestNoStrongHash_Rule43(t *testing.T) {
	for inside, want := range map[string]bool{
		"<url>http://h/</url>": true,
		`<url>http://h/</url><hash type="sha-1">` + sha1Zero + `</hash>`:     true,
		`<url>http://h/</url><hash type="sha-256">` + sha256Zero + `</hash>`: false,
		"": false,
	} {
		if m := parse(t, doc(inside)).Files[0]; m.NoDigest != want {
			t.Errorf("%s: no digest %v", inside, m.NoDigest)
		}
	}
}

// header returns the file of 8 bytes that the server https://a.example/f describes with these fields.
func header(t testing.TB, fields ...string) File {
	t.Helper()
	u, err := url.Parse("https://a.example/f")
	if err != nil {
		t.Fatal(err)
	}
	h := Hop{URL: u, Status: 200, Header: map[string][]string{}}
	for i := 0; i < len(fields); i += 2 {
		h.Header[fields[i]] = append(h.Header[fields[i]], fields[i+1])
	}
	m, err := FromHops([]Hop{h}, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Size = 8
	return m
}

// TestMerge_Rule46 checks Merge of a header and a document that agree (rule 46).
func TestMerge_Rule46(t *testing.T) {
	sha := digest(t, verify.SHA256, sha256Zero)
	h := header(t, "Digest", verify.Field(sha), "Etag", `"e"`,
		"Link", "<https://m1.example/f>; rel=duplicate; pri=5; pref; geo=de",
		"Link", "<https://m2.example/f>; rel=duplicate; pri=5",
		"Link", "<https://a.example/f.meta4>; rel=describedby; type=application/metalink4+xml")
	h.Mirrors, h.Documents = slices.Grow(h.Mirrors, 9), slices.Grow(h.Documents, 9)
	before := shownFile(h)
	f := parse(t, doc(`<size>8</size><hash type="sha-256">`+sha256Zero+`</hash><hash type="md5">`+md5Zero+`</hash>
		<signature mediatype="application/pgp-signature">x</signature>`+list("4", "sha-1", sha1Zero, sha1One)+`
		<url priority="5">http://m3.example/f</url><url priority="1">https://m1.example:443/f</url>
		<url priority="4">ftp://m4.example/f</url><url>http://a.example/f</url><url>rsync://x/y</url>
		<metaurl mediatype="torrent">https://a.example/f.torrent</metaurl>`)).Files[0]
	m, err := Merge(h, over(f, verify.HTTP))
	if err != nil {
		t.Fatal(err)
	}
	wantShown(t, m, `
		size 8
		sha-256 from Digest over https: 00000000
		md5 from metalink over http: 00000000
		mirror https://m1.example/f pri=5 pref=true geo=DE
		mirror ftp://m4.example/f pri=4 pref=false geo=
		mirror https://m2.example/f pri=5 pref=false geo=
		mirror http://m3.example/f pri=5 pref=false geo=
		document https://a.example/f.meta4 application/metalink4+xml
		document https://a.example/f.torrent application/x-bittorrent
		pieces 2 of 4 sha-1
		signature application/pgp-signature
		ignored https://m1.example:443/f: listed before
		ignored http://a.example/f: the server itself
		ignored rsync://x/y: its scheme is not http, https or ftp
		ignored 3, no digest false`)
	if m.ETag != `"e"` || m.Server.String() != "https://a.example/f" {
		t.Errorf("ETag %s of %v", m.ETag, m.Server)
	}
	once := shownFile(m)
	other := parse(t, doc(`<metaurl mediatype="torrent">https://a.example/other</metaurl><url>http://m5.example/</url>`)).Files[0]
	if _, err := Merge(h, over(other, verify.HTTP)); err != nil || shownFile(h) != before || shownFile(m) != once {
		t.Errorf("what was there before was changed (%v)", err)
	}
	// Merge keeps the most trusted claim of each digest (rule 64).
	if m, err := Merge(h, over(f, verify.User)); err != nil || m.Claims[0].String() != "sha-256 from metalink" ||
		len(m.Claims) != 2 {
		t.Errorf("claims %v, %v", m.Claims, err)
	}
}

// TestMergeDisjoint_Rule46 checks that Merge takes from each side what the other does not have (rule 46).
func TestMergeDisjoint_Rule46(t *testing.T) {
	weak := parse(t, doc(`<url>http://m.example/f</url><hash type="md5">`+md5Zero+`</hash>`)).Files[0]
	strong := parse(t, doc(`<size>8</size><url>http://m.example/f</url><hash type="sha-256">`+sha256Zero+`</hash>`)).Files[0]
	silent := header(t)
	silent.Size = -1
	m, err := Merge(silent, over(strong, verify.HTTPS))
	if err != nil || m.Size != 8 || m.NoDigest || len(m.Mirrors) != 1 || !verify.Strong(m.Claims) {
		t.Errorf("got %s, %v", shownFile(m), err)
	}
	if m, err = Merge(silent, over(weak, verify.HTTPS)); err != nil || m.Size != -1 || !m.NoDigest {
		t.Errorf("got %s, %v", shownFile(m), err)
	}
	// The links came without a digest and were ignored (C4). A digest of the document does not bring them back.
	links := header(t, "Link", "<https://m1.example/f>; rel=duplicate")
	if m, err = Merge(links, over(weak, verify.HTTPS)); err != nil || !m.NoDigest || len(m.Mirrors) != 1 {
		t.Errorf("got %s, %v", shownFile(m), err)
	}
	sha512 := digest(t, verify.SHA512, strings.Repeat("0", 128))
	if m, err = Merge(header(t, "Digest", verify.Field(sha512)), over(strong, verify.HTTPS)); err != nil ||
		len(m.Claims) != 2 || m.Claims[0].Digest != sha512 {
		t.Errorf("got %s, %v", shownFile(m), err)
	}
}

// TestOtherFile_Rule46 checks that Merge returns an OtherFileError for a document about another file, and a
// ConflictError for a document without a strong digest that conflicts (rule 46).
func TestOtherFile_Rule46(t *testing.T) {
	h := header(t, "Digest", verify.Field(digest(t, verify.SHA256, sha256Zero)), "Digest",
		verify.Field(digest(t, verify.MD5, md5Zero)))
	for inside, want := range map[string]string{
		`<hash type="sha-256">` + sha256One +
			`</hash>`: "metalink document, file \"f\": not the file of the server: sha-256 is " + sha256Zero +
			" (from Digest over https) and " + sha256One + " (from metalink over https)",
		`<hash type="sha-256">` + sha256Zero + `</hash><hash type="md5">` + md5One + `</hash>`: "md5 is " + md5Zero,
		`<size>9</size><hash type="sha-256">` + sha256Zero +
			`</hash>`: "it has 9 bytes in the document and 8 at the server",
	} {
		m, err := Merge(h, over(parse(t, doc(inside)).Files[0], verify.HTTPS))
		if _, ok := errors.AsType[*OtherFileError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", inside, err, want)
		}
		if !reflect.DeepEqual(m, File{}) {
			t.Errorf("%s: a description all the same: %s", inside, shownFile(m))
		}
	}
	_, err := Merge(h, over(parse(t, doc(`<hash type="md5">`+md5One+`</hash>`)).Files[0], verify.HTTP))
	if _, ok := errors.AsType[*verify.ConflictError](err); !ok {
		t.Errorf("%v does not say what differs", err)
	}
}

func TestSelect(t *testing.T) {
	all := []string{"a.iso", "b.iso", "dir/a.iso", "dir/sub/c.txt", "README"}
	for patterns, want := range map[string]string{
		"":             "a.iso b.iso dir/a.iso dir/sub/c.txt README",
		"a.iso":        "a.iso dir/a.iso",
		"dir/a.iso":    "dir/a.iso",
		"dir/*":        "dir/a.iso",
		"*":            "a.iso b.iso dir/a.iso dir/sub/c.txt README",
		"*/*":          "dir/a.iso",
		"[ab].iso":     "a.iso b.iso dir/a.iso",
		"*.txt README": "dir/sub/c.txt README",
		"README a* a*": "a.iso dir/a.iso README",
		"nothing":      "",
		"/a.iso":       "a.iso",
		"/dir/a.iso":   "dir/a.iso",
		"/sub/c.txt":   "",
		"/*.iso":       "a.iso b.iso",
		"dir":          "",
		"readme":       "",
	} {
		chosen, err := Select(all, strings.Fields(patterns))
		var names []string
		for _, i := range chosen {
			names = append(names, all[i])
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", patterns, got, err, want)
		}
	}
	for _, bad := range []string{"[", "a[", `\`, "[]", "[a-]"} {
		for _, names := range [][]string{all, nil} {
			if chosen, err := Select(names, []string{"*", bad}); !errors.Is(err, path.ErrBadPattern) || chosen != nil {
				t.Errorf("%s: got %v, %v", bad, chosen, err)
			}
		}
	}
}
