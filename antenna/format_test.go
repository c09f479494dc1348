package antenna

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// readFormats are those of the vectors, by what their names begin with.
var readFormats = map[string]feed.FormatID{
	"hina": feed.HinaDI, "lirs": feed.LIRS, "soif": feed.SOIF, "rss": feed.News, "rdf": feed.News, "atom": feed.News,
	"json":    feed.News,
	"sitemap": feed.Sitemap, "index": feed.IndexPage, "releases": feed.ReleaseAPI,
}

// others are vectors that are no feed of that kind.
var others = map[string]feed.FormatID{"hina-018-not-hina.di": -1, "sitemap-003-none.xml": feed.News, "html-001.html": -1,
	"releases-011-none.json": feed.IndexPage, "releases-012-other.json": feed.News}

// TestVectors opens all feeds there are, with no, one and two layers of gzip around them.
func TestVectors(t *testing.T) {
	names, _ := filepath.Glob("../testdata/vectors/antenna*/*")
	n := 0
	for _, name := range names {
		base := filepath.Base(name)
		kind, _, _ := strings.Cut(base, "-")
		want, known := readFormats[kind]
		if other, is := others[base]; is {
			want, known = other, true
		}
		if !known || strings.HasSuffix(base, ".expected.json") {
			continue
		}
		n++
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(feedtext.NewReader(bytes.NewReader(raw), feed.Limits{}))
		if err != nil && len(plain) == 0 {
			t.Fatal(err)
		}
		records := -1
		for _, text := range [][]byte{plain, compress(t, plain), compress(t, compress(t, plain))} {
			in, f, err := OpenFeed(iotest.OneByteReader(bytes.NewReader(text)), feed.Limits{})
			var reject *feed.RejectError
			if want < 0 {
				if !errors.As(err, &reject) || reject.Code != CodeUnknownFormat {
					t.Errorf("%s: %v, %v", base, f, err)
				} else if got, err := io.ReadAll(feedtext.NewReader(in, feed.Limits{})); err != nil || !bytes.Equal(got, plain) {
					t.Errorf("%s: %q is left, %v", base, got, err)
				}
				continue
			}
			if err != nil || f.ID != want {
				t.Errorf("%s: %v, %v, want %v", base, f, err, want)
				continue
			}
			got := 0
			d := NewDecoder(f, in, feed.Options{})
			for _, err := range d.Records() {
				if err == nil {
					got++
				}
			}
			if records >= 0 && got != records {
				t.Errorf("%s: %d records, and %d when it is compressed", base, records, got)
			}
			records = got
		}
	}
	if n < 60 {
		t.Errorf("only %d vectors", n)
	}
}

func compress(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(plain)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSniff_Rule79(t *testing.T) {
	for _, tt := range []struct {
		text string
		want feed.FormatID // -1: none
	}{
		{"", -1}, {"\n \n", -1}, {"hello", -1}, {"<html>", -1}, {"<", -1}, {"<!-- <rss> --><html>", -1}, {"<!-- <rss> ", -1},
		{"# a comment\n", feed.LIRS}, {"\n#\r\nLIRS,1", feed.LIRS}, {"lirs,1", feed.LIRS}, {"#x\nHINA/2.2", feed.HinaDI},
		{"\xef\xbb\xbfURL: x", feed.HinaDI}, {"\r\nUser-Agent: x", feed.HinaDI},
		{"@FILE { u", feed.SOIF}, {"Content-Type: application/x-soif\n\n@", feed.SOIF}, {"QEZJTEUgew==", feed.SOIF}, {"QQQQ", -1},
		{" { \"version\"", feed.News}, {"<?xml version='1.0'?>\n<!-- x -->\n<rdf:RDF xmlns", feed.News},
		{"<!DOCTYPE rss>\n<rss>", feed.News},
		{"<feed\nxmlns='x'>", feed.News}, {"<s:urlset xmlns:s='x'>", feed.Sitemap}, {"<sitemapindex/>", feed.Sitemap},
		{"\xff\xfe<\x00r\x00s\x00s\x00>\x00", feed.News},
		{`{"tag_name": "v1", "version": "https://jsonfeed.org/version/1", "items`, feed.ReleaseAPI},
		{`{"version":"https://jsonfeed.org/version/1","items":[{"tag_name":"v1","title":"@FILE{http://h.example/}"`, feed.News},
		{`{"openapi":"3.0.0","info":{"version":"1"},"paths":{}}`, feed.News}, {`{"info":{"version":"1"},"urls":[`,
			feed.ReleaseAPI},
		{`{"info":{"author":"","bugtrack_url":null,"description":"...`, feed.ReleaseAPI}, {`[{"id":1,"tag_name":"v1"`,
			feed.ReleaseAPI},
		{`[`, -1}, {`[]`, feed.IndexPage}, {"[\n\n]", feed.IndexPage}, {`[1]`, -1}, {`[{"name":"a"}]`, -1}, {`[[]]`, -1},
		{`[{"name":"a","type":"file","mtime":"","si`, feed.IndexPage},
		{`[{"name":"a","size":1,"mod_time":"","is_dir":true,`, feed.IndexPage},
		{"<html><title> Index  of /pub", -1}, {"<html><title> Index  of /pub</title>", feed.IndexPage},
		{"<title>Indexes</title>", -1},
		{"<?xml version='1.0'?><!DOCTYPE html><html><h1>Directory listing for /</h1>", feed.IndexPage},
		{"<html><p>Index of /</p>", -1}, {"<!-- <title>Index of /</title> -->", -1},
		{"<script>'<h1>Index of /</h1>'</script>", -1},
		{`<html><a href="../">Parent Directory</a>`, feed.IndexPage},
		{`<html><a href="../">Home</a><a href="a.iso">a.iso</a>`, -1},
		{`<html><a href="https://example.org/?x">..</a>`, -1}, {`<pre><a href="a">a</a>`, feed.IndexPage},
		{`<p><a href="a">a</a>`, -1},
		{"Index of /", -1},
	} {
		f, ok := sniff([]byte(tt.text))
		if ok != (tt.want >= 0) || ok && f.ID != tt.want {
			t.Errorf("%q is %v, %v, want %v", tt.text, f, ok, tt.want)
		}
	}
}

// TestOpenBroken: what cannot be read is not taken for something else.
func TestOpenBroken(t *testing.T) {
	broken := errors.New("broken")
	if _, _, err := OpenFeed(io.MultiReader(strings.NewReader("LIRS,"), iotest.ErrReader(broken)), feed.Limits{}); err != broken {
		t.Errorf("error is %v", err)
	}
	if _, _, err := OpenFeed(strings.NewReader("\x1f\x8bnothing"), feed.Limits{}); err == nil ||
		!strings.Contains(err.Error(), "compression") {
		t.Errorf("gzip that is none: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("LIRS,1,2"))
	f.Add([]byte("<?xml?><rss>"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, format, err := OpenFeed(bytes.NewReader(raw), feed.Limits{Bytes: 1 << 20})
		if err != nil {
			return
		}
		for range NewDecoder(format, in, feed.Options{Limits: feed.Limits{Bytes: 1 << 20, Entries: 1000}}).Records() {
		}
	})
}

func TestOpenSaysWhatItSaw(t *testing.T) {
	for text, want := range map[string]string{"": "it is empty", "<html>": `it begins with "<html>"`} {
		if _, _, err := OpenFeed(strings.NewReader(text), feed.Limits{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// SOIF is known with text before its first object, which readers pass over; what has an @ and a brace is not SOIF for that.
func TestTextBeforeObjects(t *testing.T) {
	const one = "@FILE { http://h.example/a\nFile-Size{1}:\t5\n}\n"
	for text, want := range map[string]string{
		"# made by a gatherer\n" + one:                                    "soif",
		"Gathered at noon by joe@h.example\n\n" + one:                     "soif",
		strings.Repeat("a line of text\n", 500) + one:                     "soif",
		"Text\n@UPDATE {\n" + one + "}\n":                                 "soif",
		"Text\n@FILE{http://h.example/}\n":                                "soif",
		"Text\n@FILE { -\n}\n":                                            "soif",
		"<!-- text -->\n" + one:                                           "soif",
		"Text\n@media print {\n a:hover { color: red }\n}\n":              "",
		"<html><style>@font-face { font-family: x; src: url(x) }</style>": "",
		"<html><style>@page { margin:1cm }</style><p>me@h.example {a:b}":  "",
		"a text without any, by me@h.example { from: there }":             "",
	} {
		got := ""
		if _, f, err := OpenFeed(strings.NewReader(text), feed.Limits{}); err == nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%.60q is %q, want %q", text, got, want)
		}
	}
	in, f, _ := OpenFeed(strings.NewReader("Text before it\n"+one), feed.Limits{})
	n := 0
	for r, err := range NewDecoder(f, in, feed.Options{}).Records() {
		if n++; err != nil || r.URL != "http://h.example/a" || r.Size != 5 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
}
