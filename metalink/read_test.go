package metalink

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/verify"
)

// documents lists the documents in testdata.
var documents = []string{"mirrorcache.meta4", "mirrorbrain.meta4", "fedora.metalink", "aria2.metalink", "aria2.meta4"}

// read parses a document in testdata.
func read(t testing.TB, name string) Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// content returns the first n bytes of the files that the documents in testdata describe.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 ^ i>>8 ^ (i>>16)*31)
	}
	return b
}

// textOf returns the fields of d that are set, one a line.
func textOf(d Document) string {
	var b strings.Builder
	line := func(there bool, format string, args ...any) {
		if there {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	line(d.Generator != "", "generator %s", d.Generator)
	line(d.Origin != nil, "origin %v dynamic=%v", d.Origin, d.Dynamic)
	for _, f := range d.Files {
		line(true, "file %s", f.Name)
		line(f.Size >= 0, "size %d", f.Size)
		for _, c := range f.Claims {
			line(true, "%v %.8s", c.Digest.Algorithm(), c.Digest.Hex())
		}
		for _, p := range f.Pieces {
			line(true, "pieces %d of %d %v %.8s", p.Count(), p.Length(), p.Algorithm(), p.Digest(0).Hex())
		}
		for _, s := range f.Signatures {
			line(true, "signature %s %.26s, %d bytes", s.Type, s.Text, len(s.Text))
		}
		for _, m := range f.Mirrors {
			line(true, "url %s pri=%d geo=%s", m.URL, m.Pri, m.Geo)
		}
		for _, m := range f.Documents {
			line(true, "metaurl %s %s name=%s pri=%d", m.URL, m.Type, m.Name, m.Pri)
		}
		for _, i := range f.Ignored {
			line(true, "ignored %s: %s", i.Target, i.Reason)
		}
		line(f.IgnoredCount > 0, "ignored %d", f.IgnoredCount)
	}
	for _, r := range d.Refused {
		line(true, "refused %q in line %d: %s", r.Name, r.Line, r.Reason)
	}
	for _, w := range d.Warnings {
		line(true, "warning %s", w)
	}
	return b.String()
}

// wantText compares textOf(d) with want, ignoring indentation.
func wantText(t *testing.T, d Document, want string) {
	t.Helper()
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.TrimSpace(l))
	}
	got := textOf(d)
	if want := strings.Join(lines, "\n") + "\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMirrorCache(t *testing.T) {
	d := read(t, "mirrorcache.meta4")
	wantText(t, d, `
		generator MirrorCache
		origin https://download.example.org/tumbleweed/iso/rolling-DVD-x86_64.iso.meta4 dynamic=true
		file rolling-DVD-x86_64.iso
		size 1200000
		sha-256 9c992fa3
		sha-1 87c2017a
		md5 94bf8f72
		pieces 5 of 262144 sha-1 264476bf
		url https://mirror.cz.example.net/rolling/iso/rolling-DVD-x86_64.iso pri=1 geo=CZ
		url http://ftp.de.example.com/pub/rolling/iso/rolling-DVD-x86_64.iso pri=2 geo=DE
		url ftp://ftp.fr.example.com/rolling/iso/rolling-DVD-x86_64.iso pri=3 geo=FR
		url https://mirror.us.example.edu/rolling/iso/rolling-DVD-x86_64.iso pri=4 geo=US`)
	body := content(1_200_000)
	if sum := sha256.Sum256(body); string(sum[:]) != string(d.Files[0].Claims[0].Digest.Bytes()) {
		t.Error("the digest is not the file's")
	}
	for i, p := 0, d.Files[0].BestPieces(); i < p.Count(); i++ {
		if start, end := p.At(i); !p.Check(i, body[start:end]) {
			t.Errorf("piece %d is not the file's", i)
		}
	}
}

func TestMirrorBrain(t *testing.T) {
	wantText(t, read(t, "mirrorbrain.meta4"), `
		generator MirrorBrain/2.19.0
		origin http://download.example.org/office/stable/office-7.1.tar.gz.meta4 dynamic=true
		file office-7.1.tar.gz
		size 300001
		sha-256 fc883925
		sha-1 3a52d9bb
		md5 0a179688
		pieces 2 of 262144 sha-1 264476bf
		signature application/pgp-signature -----BEGIN PGP SIGNATURE--, 213 bytes
		url http://ftp.se.example.net/office/stable/office-7.1.tar.gz pri=1 geo=SE
		url http://nl.example.net/tdf/office/stable/office-7.1.tar.gz?from=a&b pri=2 geo=NL
		url http://nowhere.example.net/office-7.1.tar.gz pri=2 geo=
		metaurl http://download.example.org/office/stable/office-7.1.tar.gz.torrent application/x-bittorrent name= pri=999999
		ignored rsync://jp.example.net/office/stable/office-7.1.tar.gz: its scheme is not http, https or ftp
		ignored 1`)
}

// TestFedora checks a document of Fedora in Metalink 3. Its mm0:alternates elements describe older versions of the file
// and must be ignored.
func TestFedora(t *testing.T) {
	wantText(t, read(t, "fedora.metalink"), `
		generator mirrormanager
		file repomd.xml
		size 4057
		sha-512 c0ae00c8
		sha-256 e54e315f
		sha-1 e51999a2
		md5 aa156abb
		url https://mirror1.de.example.net/fedora/linux/updates/42/repodata/repomd.xml pri=1 geo=DE
		url http://mirror2.de.example.net/pub/fedora/updates/42/repodata/repomd.xml pri=2 geo=DE
		url https://mirror.ch.example.net/fedora/updates/42/repodata/repomd.xml pri=3 geo=CH
		url ftp://ftp.fr.example.net/fedora/updates/42/repodata/repomd.xml pri=4 geo=FR
		url https://mirror.us.example.edu/fedora/updates/42/repodata/repomd.xml pri=5 geo=US
		ignored rsync://mirror2.de.example.net/pub/fedora/updates/42/repodata/repomd.xml: its scheme is not http, https or ftp
		ignored rsync://mirror.us.example.edu/fedora/updates/42/repodata/repomd.xml: its scheme is not http, https or ftp
		ignored 2`)
}

func TestMetalink3(t *testing.T) {
	wantText(t, read(t, "aria2.metalink"), `
		origin http://example.org/all.metalink dynamic=false
		file tools/tool-1.2.tar.bz2
		size 100000
		sha-256 70ecf4ee
		sha-1 fd0a8419
		pieces 4 of 32768 sha-1 6bb0eb35
		signature application/pgp-signature -----BEGIN PGP SIGNATURE--, 213 bytes
		url ftp://ftp.example.jp/tool-1.2.tar.bz2 pri=1 geo=JP
		url http://us.example.com/tool-1.2.tar.bz2 pri=11 geo=US
		url http://last.example.com/tool-1.2.tar.bz2 pri=999999 geo=
		metaurl http://example.org/tool-1.2.tar.bz2.torrent application/x-bittorrent name= pri=21
		ignored ed2k://|file|tool-1.2.tar.bz2|100000|0123456789ABCDEF|/: not a URL
		ignored magnet:?...: its scheme is not http, https or ftp
		ignored 2
		file tools/README
		size 77
		md5 e00293f6
		url https://example.org/README pri=999999 geo=`)
}

// TestMetalink4 checks a document with prefixes, extensions and every element of RFC 5854.
func TestMetalink4(t *testing.T) {
	wantText(t, read(t, "aria2.meta4"), `
		file tool-1.2.tar.bz2
		size 100000
		sha-512 aa618651
		sha-256 70ecf4ee
		pieces 2 of 65536 sha-256 be382ce4
		pieces 7 of 16384 sha-1 e4c0067e
		url http://us.example.com/tool-1.2.tar.bz2 pri=1 geo=US
		url ftp://ftp.example.jp/tool-1.2.tar.bz2 pri=10 geo=JP
		url http://late.example.com/tool-1.2.tar.bz2 pri=999999 geo=
		url http://odd.example.com/tool-1.2.tar.bz2 pri=999999 geo=
		metaurl http://example.org/tool.torrent application/x-bittorrent name=tool/tool-1.2.tar.bz2 pri=5`)
}

// doc returns a document of RFC 5854 about one file, with inside in its file element.
func doc(inside string) string {
	return `<metalink xmlns="` + namespace4 + `"><file name="f">` + inside + `</file></metalink>`
}

// doc3 is like doc for Metalink 3.
func doc3(inside string) string {
	return `<metalink xmlns="` + namespace3 + `" version="3.0"><files><file name="f">` + inside + `</file></files></metalink>`
}

func parse(t testing.TB, s string) Document {
	t.Helper()
	d, err := Parse(strings.NewReader(s))
	if err != nil {
		t.Fatalf("%v in %.300s", err, s)
	}
	return d
}

// The tests use these digits where the digest of a file does not matter.
var (
	md5Zero    = strings.Repeat("0", 32)
	md5One     = strings.Repeat("1", 32)
	sha1Zero   = strings.Repeat("0", 40)
	sha1One    = strings.Repeat("1", 40)
	sha256Zero = strings.Repeat("0", 64)
	sha256One  = strings.Repeat("1", 64)
)

func digest(t testing.TB, a verify.Algorithm, hex string) verify.Digest {
	t.Helper()
	d, err := verify.ParseHex(a, hex)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
