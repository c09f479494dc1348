package metalink

import (
	"bytes"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"braid/verify"
)

func format(t testing.TB, d Document) []byte {
	t.Helper()
	b, err := Format(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// written returns d without the fields that Format does not write.
func written(d Document) Document {
	d.Refused, d.Warnings = nil, nil
	files := make([]File, len(d.Files))
	for i, f := range d.Files {
		f.Ignored, f.IgnoredCount = nil, 0
		files[i] = f
	}
	d.Files = files
	return d
}

// roundTrip checks that Format writes a valid document that Parse reads back to the same Document and that Format
// writes again byte by byte.
func roundTrip(t *testing.T, d Document) []byte {
	t.Helper()
	out := format(t, d)
	if problems := checkSchema(out); len(problems) > 0 {
		t.Fatalf("not as RFC 5854 has it: %q\n%s", problems, out)
	}
	again, err := Parse(bytes.NewReader(out))
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if again.Refused != nil || again.Warnings != nil {
		t.Fatalf("not all of it is read: %s\n%s", textOf(again), out)
	}
	if want := written(d); !reflect.DeepEqual(again, want) {
		t.Fatalf("got\n%s\nwant\n%s\nfrom\n%s", textOf(again), textOf(want), out)
	}
	if twice := format(t, again); !bytes.Equal(twice, out) {
		t.Fatalf("first\n%s\nthen\n%s", out, twice)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	for _, name := range documents {
		t.Run(name, func(t *testing.T) { roundTrip(t, read(t, name)) })
	}
}

// TestFormat compares a formatted document with its expected text.
func TestFormat(t *testing.T) {
	d := read(t, "aria2.metalink")
	d.Files = d.Files[:1]
	d.Files[0].Pieces = nil
	d.Generator = "A <tool> & \"more\"\nof\tit\u202e\u0085"
	d.Dynamic = true
	want := `<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink">
  <generator>A &lt;tool&gt; &amp; "more"
of&#x9;it&#x202E;&#x85;</generator>
  <origin dynamic="true">http://example.org/all.metalink</origin>
  <file name="tools/tool-1.2.tar.bz2">
    <size>100000</size>
    <hash type="sha-256">` + d.Files[0].Claims[0].Digest.Hex() + `</hash>
    <hash type="sha-1">` + d.Files[0].Claims[1].Digest.Hex() + `</hash>
    <signature mediatype="application/pgp-signature">
` + d.Files[0].Signatures[0].Text + `
</signature>
    <metaurl priority="21" mediatype="torrent">http://example.org/tool-1.2.tar.bz2.torrent</metaurl>
    <url location="jp" priority="1">ftp://ftp.example.jp/tool-1.2.tar.bz2</url>
    <url location="us" priority="11">http://us.example.com/tool-1.2.tar.bz2</url>
    <url>http://last.example.com/tool-1.2.tar.bz2</url>
  </file>
</metalink>
`
	if got := string(roundTrip(t, d)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func mirror(t testing.TB, u string, pri int) Mirror {
	t.Helper()
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	return Mirror{URL: parsed, Pri: pri}
}

// TestFormatIsCanonical checks that the order of digests, pieces and mirrors does not change the output.
func TestFormatIsCanonical(t *testing.T) {
	sha, md := digest(t, verify.SHA256, sha256Zero), digest(t, verify.MD5, md5One)
	short, err := verify.NewPieces(8, 4, []verify.Digest{md, md})
	if err != nil {
		t.Fatal(err)
	}
	long, err := verify.NewPieces(8, 8, []verify.Digest{sha})
	if err != nil {
		t.Fatal(err)
	}
	f := File{
		Name: "f", Size: 8, Claims: claimed(sha, md), Pieces: []verify.Pieces{long, short},
		Mirrors: []Mirror{mirror(t, "http://a/", 1), mirror(t, "http://b/", 2), mirror(t, "http://c/", 0)},
	}
	g := f
	g.Claims = claimed(md, sha)
	g.Pieces = []verify.Pieces{short, long}
	g.Mirrors = []Mirror{f.Mirrors[1], f.Mirrors[0], f.Mirrors[2]}
	g.Mirrors[2].Pri, f.Mirrors[2].Pri = NoPriority, NoPriority
	if a, b := roundTrip(t, Document{Files: []File{f}}), format(t, Document{Files: []File{g}}); !bytes.Equal(a, b) {
		t.Errorf("%s\nand\n%s", a, b)
	}
	if g.Claims[0].Digest != md || g.Mirrors[0].Pri != 2 || g.Pieces[0] != short {
		t.Error("the document was changed")
	}
	f.Mirrors[2].Pri = 0 // zero also means no priority
	if out := string(format(t, Document{Files: []File{f}})); !strings.Contains(out, "<url>http://c/</url>") {
		t.Errorf("got %s", out)
	}
}

// TestNotWritten checks that Format refuses documents that Parse would refuse (rules 10 and 41 to 44).
func TestNotWritten(t *testing.T) {
	sha, other := digest(t, verify.SHA256, sha256Zero), digest(t, verify.SHA256, sha256One)
	pieces, err := verify.NewPieces(8, 8, []verify.Digest{sha})
	if err != nil {
		t.Fatal(err)
	}
	good := func() File { return File{Name: "f", Size: 8} }
	file := func(change func(*File)) Document {
		f := good()
		change(&f)
		return Document{Files: []File{f}}
	}
	for name, tt := range map[string]struct {
		document Document
		kind     Kind
		message  string
	}{
		"no file":       {Document{}, Foreign, "metalink document: it describes no file"},
		"too many":      {Document{Files: make([]File, maxFiles+1)}, TooMuch, "more than 10000 files"},
		"name":          {file(func(f *File) { f.Name = "../f" }), Invalid, `file "../f": a part of the name begins with a dot`},
		"name twice":    {Document{Files: []File{good(), good()}}, Conflict, `file "f": two files have this name`},
		"too many URLs": {file(func(f *File) { f.Mirrors = make([]Mirror, maxURLs+1) }), TooMuch, "more than 5000 URLs"},
		"no URL":        {file(func(f *File) { f.Mirrors = make([]Mirror, 1) }), Invalid, "a mirror has no usable URL"},
		"URL": {file(func(f *File) { f.Mirrors = []Mirror{mirror(t, "file:///f", 1)} }), Invalid,
			"a mirror has no usable URL"},
		"priority": {file(func(f *File) { f.Mirrors = []Mirror{mirror(t, "http://h/", NoPriority+1)} }), Invalid,
			"invalid priority"},
		"no priority": {file(func(f *File) { f.Mirrors = []Mirror{mirror(t, "http://h/", -1)} }), Invalid, "invalid priority"},
		"country": {file(func(f *File) {
			f.Mirrors = []Mirror{{URL: mirror(t, "http://h/", 1).URL,
				Geo: "Germany"}}
		}), Invalid, "priority or country"},
		"document": {file(func(f *File) { f.Documents = []MetaURL{{URL: mirror(t, "http://h/", 1).URL}} }), Invalid,
			"a document has no usable URL, type"},
		"document's name": {file(func(f *File) {
			f.Documents = []MetaURL{{URL: mirror(t, "http://h/", 1).URL, Type: "torrent", Name: "/"}}
		}), Invalid, "a document has no"},
		"signature": {file(func(f *File) { f.Signatures = []Signature{{Type: "a/b", Text: " "}} }), Invalid,
			"no type or no text"},
		"type": {file(func(f *File) { f.Signatures = []Signature{{Type: "A/b;c", Text: "x"}} }), Invalid,
			"no type or no text"},
		"two digests": {file(func(f *File) { f.Claims = claimed(sha, other) }), Conflict, "two digests of one algorithm"},
		"no digest": {file(func(f *File) { f.Claims = make([]verify.Claim, 1) }), Conflict,
			"or a digest without an algorithm"},
		"pieces": {file(func(f *File) { f.Size, f.Pieces = 9, []verify.Pieces{pieces} }), Conflict,
			"it has 9 bytes, but its pieces cover 8"},
		"no pieces": {file(func(f *File) { f.Pieces = make([]verify.Pieces, 1) }), Conflict, "its pieces cover 0"},
		"only piece": {file(func(f *File) { f.Claims, f.Pieces = claimed(other), []verify.Pieces{pieces} }), Conflict,
			"but its only piece has"},
		"many lists": {file(func(f *File) { f.Pieces = make([]verify.Pieces, maxPieceLists+1) }), TooMuch,
			"more than 16 lists"},
		"origin": {Document{Origin: &url.URL{Scheme: "file", Path: "/x"}, Files: []File{good()}}, Invalid,
			"its origin is not a usable URL"},
		"NUL":          {Document{Generator: "a\x00", Files: []File{good()}}, Charset, `"a\x00" cannot be written in XML`},
		"no character": {Document{Generator: "a\uffff", Files: []File{good()}}, Charset, `"a\uffff" cannot be written in XML`},
		"not UTF-8":    {Document{Generator: "a\xff", Files: []File{good()}}, Charset, `"a\xff" cannot be written in XML`},
		"too large":    {Document{Generator: strings.Repeat("x", MaxSize), Files: []File{good()}}, TooMuch, "larger than 8 MiB"},
	} {
		out, err := Format(tt.document)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != tt.kind || !strings.Contains(err.Error(), tt.message) || out != nil {
			t.Errorf("%s: got %v, want %v: %s", name, err, tt.kind, tt.message)
		}
	}
	if _, err := Format(Document{Files: []File{good()}}); err != nil {
		t.Error(err)
	}
}

// claimed returns claims with these digests, as a document has them.
func claimed(digests ...verify.Digest) (claims []verify.Claim) {
	for _, d := range digests {
		claims = append(claims, verify.Claim{Digest: d, Field: claimField})
	}
	return claims
}
