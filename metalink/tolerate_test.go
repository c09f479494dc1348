package metalink

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// list returns a pieces element of Metalink 4.
func list(length, alg string, sums ...string) string {
	var b strings.Builder
	for _, s := range sums {
		b.WriteString("<hash>" + s + "</hash>")
	}
	return fmt.Sprintf(`<pieces length="%s" type="%s">%s</pieces>`, length, alg, b.String())
}

// TestPiecesIgnored_Rule42 checks that Parse ignores pieces that cannot be right, with a warning, and keeps the file
// (rule 42).
func TestPiecesIgnored_Rule42(t *testing.T) {
	numbered := func(sums ...string) string {
		s := `<verification><pieces length="4" type="sha1">`
		for i := 0; i < len(sums); i += 2 {
			s += `<hash piece="` + sums[i] + `">` + sums[i+1] + "</hash>"
		}
		return doc3("<size>12</size>" + s + "</pieces></verification>")
	}
	sized := func(pieces string) string { return doc("\n" + pieces + "\n<size>12</size>") }
	for name, tt := range map[string]struct{ document, warning string }{
		"length 0":  {sized(list("0", "sha-1", sha1Zero)), "the piece length must be positive, not 0"},
		"negative":  {sized(list("-4", "sha-1", sha1Zero)), `their length "-4" is not a number of bytes`},
		"no number": {sized(list("4 KiB", "sha-1", sha1Zero)), `their length "4 KiB" is not a number of bytes`},
		"no length": {sized(list("", "sha-1", sha1Zero)), `their length "" is not a number of bytes`},
		"2^63":      {sized(list("9223372036854775808", "sha-1", sha1Zero)), "is not a number of bytes"},
		"too few": {sized(list("4", "sha-1", sha1Zero, sha1One)),
			"2 digests, want 3 for a file of 12 bytes in pieces of 4"},
		"too many": {sized(list("6", "sha-1", sha1Zero, sha1One, sha1One)),
			"3 digests, want 2 for a file of 12 bytes in pieces of 6"},
		"none":             {sized(list("4", "sha-1")), "0 digests, want 3"},
		"digest, short":    {sized(list("6", "sha-1", sha1Zero, sha1One[1:])), "sha-1 has 39 characters, want 40"},
		"digest, alphabet": {sized(list("6", "sha-1", sha1Zero, "x"+sha1One[1:])), "sha-1 is not hexadecimal"},
		"algorithm":        {sized(list("6", "tiger", "00", "00")), `their algorithm "tiger" is not known`},
		"no algorithm":     {sized(list("6", "", sha1Zero, sha1One)), "they have no type, which names their algorithm"},
		"no size":          {doc("\n" + list("4", "sha-1", sha1Zero)), "the size of the file is not known"},
		"empty file": {doc("\n" + list("4", "sha-1", sha1Zero) + "<size>0</size>"),
			"the size of the file must be positive, not 0"},
		"number twice":   {numbered("0", sha1Zero, "1", sha1Zero, "1", sha1Zero), "piece 2 is missing or appears twice"},
		"number missing": {numbered("0", sha1Zero, "1", sha1Zero, "3", sha1Zero), "piece 2 is missing or appears twice"},
		"not a number":   {numbered("0", sha1Zero, "one", sha1Zero, "2", sha1Zero), "invalid syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.document)
			if len(d.Files) != 1 || len(d.Files[0].Pieces) != 0 || len(d.Warnings) != 1 {
				t.Fatalf("got %s", textOf(d))
			}
			line := "line 2: "
			if strings.Contains(tt.document, namespace3) {
				line = "line 1: "
			}
			if w := d.Warnings[0]; !strings.HasPrefix(w, line+`pieces of "f" ignored: `) || !strings.Contains(w, tt.warning) {
				t.Errorf("warning %q, want %s with %s", w, line, tt.warning)
			}
		})
	}
	// The pieces of Metalink 3 have numbers and may come in any order.
	d := parse(t, numbered("2", sha1One, "0", sha1Zero, "1", sha1Zero))
	if p := d.Files[0].BestPieces(); p.Count() != 3 || p.Digest(2).Hex() != sha1One || p.Digest(0).Hex() != sha1Zero {
		t.Errorf("got %s", textOf(d))
	}
}

// TestBestPieces checks that a bad list of pieces does not prevent the use of a good one.
func TestBestPieces(t *testing.T) {
	d := parse(t, doc("<size>8</size>"+
		list("8", "md5", md5Zero)+list("4", "sha-256", sha256Zero)+list("4", "sha-1", sha1Zero, sha1One)+
		list("8", "sha-1", sha1Zero)+list("8", "sha-1", sha1Zero)))
	wantText(t, d, `
		file f
		size 8
		pieces 2 of 4 sha-1 00000000
		pieces 1 of 8 sha-1 00000000
		pieces 1 of 8 md5 00000000
		warning line 1: pieces of "f" ignored: 1 digests, want 2 for a file of 8 bytes in pieces of 4`)
	f := d.Files[0]
	if best := f.BestPieces(); best.Length() != 4 || best != f.Pieces[0] {
		t.Errorf("the best are %d of %d", best.Count(), best.Length())
	}
	f.Pieces[0], f.Pieces[2] = f.Pieces[2], f.Pieces[0]
	if best := f.BestPieces(); best != f.Pieces[2] {
		t.Error("the best depend on the order")
	}
	var many strings.Builder
	for i := range maxPieceLists + 1 {
		many.WriteString(list(fmt.Sprint(8+i), "sha-1", sha1Zero))
	}
	d = parse(t, doc("<size>8</size>"+many.String()))
	if n := len(d.Files[0].Pieces); n != maxPieceLists || len(d.Warnings) != 1 ||
		!strings.Contains(d.Warnings[0], "more than 16 lists") {
		t.Errorf("%d lists, warnings %q", n, d.Warnings)
	}
	if !(File{}).BestPieces().IsZero() {
		t.Error("pieces of a file without any")
	}
}

// TestURLs_Rule45 checks that Parse ignores URLs that cannot be downloaded, and counts them (rule 45).
func TestURLs_Rule45(t *testing.T) {
	var urls strings.Builder
	for _, u := range []string{
		"file:///etc/passwd", "data:,x", "javascript:alert(1)", "rsync://h/f", "magnet:?xt=urn:x", "sftp://h/f", "ed2k://h/",
		"", "f", "/f", "//h/f", "http:f", "http:///f", "http://h/%zz", "http://h /", "http://h/\u0080",
		"https://h/" + strings.Repeat("x", 8<<10),
		"https://h/" + strings.Repeat("\u00e9", 3000), "HTTP://H/a", " \n ftp://h/b\t", "https://u:p@h/c?q#f",
		"http://h/%7Ea b?c d", "http://[::1]:80/x", "http://h/'\"",
	} {
		urls.WriteString("<url>" + u + "</url>")
	}
	d := parse(t, doc(urls.String()))
	f := d.Files[0]
	var got []string
	for _, m := range f.Mirrors {
		got = append(got, m.URL.String())
	}
	want := "http://h/%C2%80 http://H/a ftp://h/b https://h/c?q http://h/~a%20b?c d http://[::1]:80/x http://h/%27%22"
	if s := strings.Join(got, " "); s != want || f.IgnoredCount != 17 || len(f.Ignored) != 17 {
		t.Errorf("got  %s\nwant %s\nignored %d: %v", s, want, f.IgnoredCount, f.Ignored)
	}
	roundTrip(t, d)
}

// TestOtherNamespaces checks that Parse ignores elements and attributes of other namespaces, whatever their names.
func TestOtherNamespaces(t *testing.T) {
	wantText(t, parse(t, `<metalink xmlns="`+namespace4+`" xmlns:x="x" xmlns:y="`+namespace3+`">
		<x:generator>x</x:generator><x:file name="x"/><y:file name="y"/><y:files><y:file name="y"/></y:files>
		<file x:name="x" y:name="y" name="f"><x:version>x</x:version><y:version>y</y:version><y:size>-1</y:size>
			<x:url>http://x/</x:url><y:url>http://y/</y:url><y:resources><y:url>http://y/</y:url><url>http://y/</url></y:resources>
			<pieces length="1" type="md5"><x:hash>x</x:hash></pieces></file>
	</metalink>`), `
		file f
		warning line 5: pieces of "f" ignored: the size of the file is not known`)
	wantText(t, parse(t, `<metalink xmlns="`+namespace3+`" xmlns:x="x"><x:files><file name="x"/></x:files>
		<files><x:file name="x"/><file name="f"><x:resources><url>http://x/</url></x:resources><resources><x:url>http://x/</x:url></resources>
		<verification><x:hash type="md5">x</x:hash><other/></verification></file></files></metalink>`), "file f")
}

func TestPriorityAndCountry(t *testing.T) {
	for s, want := range map[string]string{
		`priority="1"`: "1 ", `priority="999999"`: "999999 ", `priority="1000000"`: "999999 ", `priority="0"`: "999999 ",
		`priority="-1"`: "999999 ", `priority=" 07 "`: "7 ", `priority="x"`: "999999 ", ``: "999999 ",
		`location="de"`: "999999 DE", `location="GB"`: "999999 GB", `location="deu"`: "999999 ", `location="d1"`: "999999 ",
		`location="ß"`: "999999 ", `preference="100"`: "999999 ",
	} {
		m := parse(t, doc("<url "+s+">http://h/</url>")).Files[0].Mirrors[0]
		if got := fmt.Sprintf("%d %s", m.Pri, m.Geo); got != want {
			t.Errorf("%s: got %s, want %s", s, got, want)
		}
	}
	for s, want := range map[string]int{
		`preference="100"`: 1, `preference="1"`: 100, `preference="50"`: 51, `preference="0"`: NoPriority,
		`preference="101"`: NoPriority, `preference=""`: NoPriority, `priority="1"`: NoPriority,
	} {
		d := parse(t, doc3("<resources><url "+s+">http://h/</url><url type='bittorrent' "+s+">http://h/t</url></resources>"))
		if f := d.Files[0]; f.Mirrors[0].Pri != want || f.Documents[0].Pri != want {
			t.Errorf("%s: got %s", s, textOf(d))
		}
	}
}

// TestMetaURLs_Rule45 checks that the URLs and names of metaurl elements are checked like others (rule 45).
func TestMetaURLs_Rule45(t *testing.T) {
	wantText(t, parse(t, doc(`
		<metaurl mediatype="torrent" name="a/b">http://h/1</metaurl>
		<metaurl mediatype="Application/X; y=z" priority="3">http://h/2</metaurl>
		<metaurl mediatype="torrent" name="../b">http://h/3</metaurl>
		<metaurl mediatype="torrent">magnet:?xt=urn:btih:x</metaurl>
		<metaurl>http://h/5</metaurl>
		<metaurl mediatype="a b">http://h/6?secret</metaurl>`)), `
		file f
		metaurl http://h/2 application/x name= pri=3
		metaurl http://h/1 application/x-bittorrent name=a/b pri=999999
		ignored http://h/3: its file name is not safe
		ignored magnet:?...: its scheme is not http, https or ftp
		ignored http://h/5: a document without a type
		ignored http://h/6?...: a document without a type
		ignored 4`)
}

func TestSignatures(t *testing.T) {
	wantText(t, parse(t, doc(`
		<signature mediatype="application/pgp-signature">a`+"\n"+
		`b</signature><signature mediatype="Application/PKCS7-Signature; x=y">c</signature>
		<signature>d</signature>
		<signature mediatype="application/pgp-signature"> </signature>`)), `
		file f
		signature application/pgp-signature a
		b, 3 bytes
		signature application/pkcs7-signature c, 1 bytes
		warning line 4: signature ignored: it has no media type or no content
		warning line 5: signature ignored: it has no media type or no content`)
}

func TestOrigin(t *testing.T) {
	root := func(inside string) string { return strings.Replace(doc(""), "<file", inside+"<file", 1) }
	wantText(t,
		parse(t, root(`<published>yesterday</published><origin dynamic="1">ftp://h/a</origin><origin>ftp://h/b</origin>`)), `
		origin ftp://h/a dynamic=true
		file f`)
	wantText(t, parse(t, root(`<origin dynamic="yes">file:///x</origin><origin dynamic="yes">http://h/</origin>`)), `
		origin http://h/ dynamic=false
		file f
		warning line 1: origin ignored: its scheme is not http, https or ftp`)
}

func TestLooks(t *testing.T) {
	for s, want := range map[string]bool{
		doc(""):              true,
		doc("")[:60]:         true,
		doc("")[:20]:         false,
		doc3(""):             true,
		"\ufeff\n" + doc(""): true,
		"<?xml version='1.0' encoding='UTF-8'?><!-- x --><!DOCTYPE metalink>" + doc(""): true,
		`<?xml version="1.0" encoding="UTF-16"?>` + doc(""):                             true,
		`<m:metalink xmlns:m="` + namespace4 + `">`:                                     true,
		"":                                   false,
		"\x00\x01\x02":                       false,
		"x" + doc(""):                        false,
		"<metalink>":                         false,
		"<!DOCTYPE html><html><metalink>":    false,
		"<rss xmlns='" + namespace4 + "'>":   false,
		`<html xmlns="` + namespace4 + `"/>`: false,
		strings.Repeat("A", 1<<20):           false,
	} {
		if got := Looks([]byte(s)); got != want {
			t.Errorf("%.80q: got %v", s, got)
		}
	}
	for _, name := range documents {
		if data, err := os.ReadFile(filepath.Join("testdata", name)); err != nil || !Looks(data[:512]) {
			t.Errorf("%s is not recognised (%v)", name, err)
		}
	}
	for s, want := range map[string]bool{
		"application/metalink4+xml": true, " Application/Metalink+XML ; charset=utf-8": true, "application/xml": false, "": false,
		"application/metalink4+xmlx": false, "text/html": false,
	} {
		if IsMediaType(s) != want {
			t.Errorf("%q: got %v", s, !want)
		}
	}
}
