package news

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"braid/antenna/feed"
)

const rssHead, rssTail = `<rss version="2.0"><channel>`, `</channel></rss>`

// read decodes news. It returns the records, the codes of the violations, and the error at the end.
func read(text string, o feed.Options) (records []feed.Record, codes []string, err error) {
	o.Report = func(v feed.Violation) { codes = append(codes, v.Tag()) }
	for r, e := range NewDecoder(strings.NewReader(text), o).Records() {
		if e != nil {
			return records, codes, e
		}
		records = append(records, r)
	}
	return records, codes, nil
}

func rejection(err error) string {
	var reject *feed.RejectError
	if errors.As(err, &reject) {
		return reject.Code
	}
	return fmt.Sprint(err)
}

// TestLimits_Rule52 checks the limits of rule 52 and limits on documents that are expensive to parse.
func TestLimits_Rule52(t *testing.T) {
	item := "<item><link>http://h.example/</link></item>"
	deep := strings.Repeat("<a>", maxDepth)
	namespaces := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf(` xmlns:a%d="u:%d"`, i, i)
		}
		return s
	}
	for _, tt := range []struct {
		name, text string
		o          feed.Options
		records    int
		want       string
	}{
		{"as many items as may be", rssHead + item + item + rssTail, feed.Options{Limits: feed.Limits{Entries: 2}}, 2, "<nil>"},
		{"one more", rssHead + item + item + item + rssTail, feed.Options{Limits: feed.Limits{Entries: 2}}, 2,
			"too-many-entries"},
		{"octets", rssHead + item + rssTail, feed.Options{Limits: feed.Limits{Bytes: 30}}, 0, "too-large"},
		{"elements in elements", rssHead + item + "<x>" + deep, feed.Options{}, 1, codeDeep.Name},
		{"in an item", rssHead + item + "<item><title>" + deep, feed.Options{}, 1, codeDeep.Name},
		{"a text", rssHead + item + strings.Repeat("x", maxToken+2*chunk), feed.Options{}, 1, codeLargeToken.Name},
		{"a comment", rssHead + item + "<!--" + strings.Repeat("x", maxToken+2*chunk), feed.Options{}, 1, codeLargeToken.Name},
		{"a content", rssHead + "<item><description>" + strings.Repeat("x", maxToken/2) +
			"</description><link>http://h.example/</link></item>" + rssTail, feed.Options{}, 1, "<nil>"},
		{"a title", rssHead + "<item><title>" + strings.Repeat("x", maxItem) +
			"</title><link>http://h.example/</link></item>" + item + rssTail, feed.Options{}, 1, "<nil>"},
		{"namespaces", `<rss` + namespaces(maxNamespaces) + `>` + item + "</rss>", feed.Options{}, 1, "<nil>"},
		{"too many of them", `<rss` + namespaces(maxNamespaces+1) + `>` + item + "</rss>", feed.Options{}, 0, codeTooLarge.Name},
		{"too many in an item", rssHead + "<item" + namespaces(maxNamespaces+1) +
			"><link>http://h.example/</link></item>" + item + rssTail, feed.Options{}, 1, "<nil>"},
		{"too many in its elements", rssHead + "<item><link" + namespaces(maxNamespaces+1) +
			">http://h.example/</link></item>" + item + rssTail, feed.Options{}, 1, "<nil>"},
		{"a tag", `<rss a="` + strings.Repeat("x", maxTag) + `">` + item + "</rss>", feed.Options{}, 0, codeTooLarge.Name},
		{"a tag below the first", `<rss><channel a="` + strings.Repeat("x", maxTag) + `">` + item + rssTail,
			feed.Options{}, 0, codeTooLarge.Name},
		{"JSON items", `{"items":[{"url":"http://h/"},{"url":"http://h/"}]}`,
			feed.Options{Limits: feed.Limits{Entries: 1}}, 1, "too-many-entries"},
		{"a JSON item", `{"items":[{"url":"http://h/"},{"url":"` + strings.Repeat("x", maxToken+4*chunk) + `"}]}`,
			feed.Options{}, 1, codeLargeToken.Name},
		{"JSON before the items", `{"x":"` + strings.Repeat("x", maxToken+4*chunk), feed.Options{}, 0, codeLargeToken.Name},
		{"nothing", "", feed.Options{}, 0, codeForeign.Name},
		{"white space", " \n", feed.Options{}, 0, codeForeign.Name},
		{"a text that is no feed", "HINA/2.2beta", feed.Options{}, 0, codeForeign.Name},
		{"JSON with another end", `{"items":[],`, feed.Options{}, 0, codeTruncated.Name},
		{"broken JSON", `{"items":[{]`, feed.Options{}, 0, malformed},
		{"broken XML", rssHead + item + "<", feed.Options{}, 1, codeTruncated.Name},
		{"a broken attribute", rssHead + item + "<a =>", feed.Options{}, 1, malformed},
	} {
		records, _, err := read(tt.text, tt.o)
		if got := rejection(err); len(records) != tt.records || got != tt.want {
			t.Errorf("%s: %d records, %s; want %d, %s", tt.name, len(records), got, tt.records, tt.want)
		}
	}
}

// TestEntities checks that a document whose entities would expand to a terabyte is refused, and that parsing it takes
// time in proportion to its length.
func TestEntities(t *testing.T) {
	bomb := "<!DOCTYPE x [<!ENTITY a0 \"aaaaaaaaaa\">"
	for i := range 12 {
		bomb += fmt.Sprintf(`<!ENTITY a%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	bomb += "]>"
	item := "<item><title>&a12;</title><link>http://h.example/</link></item>"
	if records, _, err := read(bomb+rssHead+item+rssTail, feed.Options{}); len(records) > 0 ||
		rejection(err) != codeEntities.Name {
		t.Errorf("%d records, %v", len(records), err)
	}
	if records, codes, err := read(rssHead+item+rssTail, feed.Options{}); err != nil || len(records) != 1 ||
		records[0].Title != "&a12;" || codes[0] != codeSloppy.Name {
		t.Errorf("%+v, %q, %v", records, codes, err)
	}
	d := NewSitemapDecoder(strings.NewReader(bomb+"<urlset/>"), feed.Options{})
	for _, err := range d.Records() {
		if rejection(err) != codeEntities.Name {
			t.Errorf("a sitemap: %v", err)
		}
	}
}

// TestCost checks the CPU time for documents that are expensive to parse, for example for a parser that copies the
// namespaces for each element, appends to text piece by piece, or is recursive.
func TestCost(t *testing.T) {
	var names strings.Builder
	for i := range maxNamespaces - 1 {
		fmt.Fprintf(&names, ` xmlns:a%d="u:%d"`, i, i)
	}
	tag := func(name string) string {
		return "<" + name + strings.ReplaceAll(names.String(), "u:",
			"http://namespaces.example/"+strings.Repeat("u", 120)) + ` xml:base="http://h.example/` +
			strings.Repeat("b", 450) + `/" x="` +
			strings.Repeat("x", maxTag/4) + `">`
	}
	for name, text := range map[string]string{
		"items in large tags": tag("rss") + tag("channel") + strings.Repeat("<item/>", 1<<20/7) + rssTail,
		"small ones":          tag("rss") + tag("channel") + strings.Repeat("<item><a1:id/></item>", 1<<19/21) + rssTail,
		"entries":             tag("feed") + strings.Repeat("<entry><id/></entry>", 1<<19/20) + "</feed>",
		"namespaces": "<rss" + names.String() + "><channel><item><dc:date>" + strings.Repeat("<b/>",
			maxItem/5) + "</dc:date></item>" + rssTail,
		"text": rssHead + "<item><dc:creator>" + strings.Repeat("<![CDATA[a]]>", maxItem/14) +
			"</dc:creator></item>" + rssTail,
		"comments":     rssHead + "<item><title>" + strings.Repeat("a<!---->", maxToken/8) + "</title></item>" + rssTail,
		"many items":   rssHead + strings.Repeat("<item/>", 20_000) + rssTail,
		"JSON in JSON": `{"items":[{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}]}`,
		"attachments":  `{"items":[{"attachments":[` + strings.Repeat("{},", 50_000) + `{}]}]}`,
	} {
		start := cpu()
		read(text, feed.Options{})
		took := cpu() - start
		if took > 5*time.Second {
			t.Errorf("%s: %d octets took %v", name, len(text), took)
		}
	}
}

// TestStop checks that an error of Stop ends decoding soon, wherever the decoder is.
func TestStop(t *testing.T) {
	for name, text := range map[string]string{
		"items":    rssHead + strings.Repeat("<item/>", 1<<20) + rssTail,
		"no items": rssHead + strings.Repeat("<x/>", 1<<20) + rssTail,
		"a map":    "<urlset>" + strings.Repeat("<url/>", 1<<20) + "</urlset>",
		"JSON":     `{"items":[` + strings.Repeat("1,", 1<<20) + "1]}",
	} {
		stopped, asked := errors.New("stopped"), 0
		kind := "news"
		if name == "a map" {
			kind = "sitemap-"
		}
		records, _ := decode(kind, strings.NewReader(text), feed.Options{Stop: func() error {
			if asked++; asked < 3 {
				return nil
			}
			return stopped
		}})
		var last error
		for _, err := range records {
			last = err
		}
		if last != stopped || asked > 4 {
			t.Errorf("%s: %v, asked %d times", name, last, asked)
		}
	}
}

// TestAround checks that the elements around an item apply to it although the decoder parses items separately: their
// namespaces, xml:base, and errors in their form.
func TestAround(t *testing.T) {
	item := `<item><d:date>2026-11-10T01:00:00Z</d:date><link>c</link></item>`
	const dc = ` xmlns:d="http://purl.org/dc/elements/1.1/"`
	for _, tt := range []struct{ name, text, url, codes string }{
		{"both on the first", `<rss` + dc + ` xml:base="http://h.example/a/"><channel>` + item + rssTail,
			"http://h.example/a/c", ""},
		{"one in the other", `<rss` + dc + ` xml:base="http://h.example/a/"><channel xml:base="b/">` + item + rssTail,
			"http://h.example/a/b/c", ""},
		{"another in the second", `<rss xmlns:d="u:other"><channel` + dc + ` xml:base="http://h.example/a/">` + item +
			rssTail, "http://h.example/a/c", ""},
		{"a prefix of the tags", `<x:rss xmlns:x="u:x"` + dc + ` xml:base="http://h.example/"><x:channel>` + item +
			"</x:channel></x:rss>", "http://h.example/c", ""},
		{"a tag that is sloppy", `<rss version=two` + dc + ` xml:base="http://h.example/"><channel>` + item + rssTail,
			"http://h.example/c", codeSloppy.Name},
		{"a space that is long", `<rss xmlns="` + strings.Repeat("x", 200) + `"` + dc +
			` xml:base="http://h.example/"><channel>` + item + rssTail, "http://h.example/c", ""},
	} {
		records, codes, err := read(tt.text, feed.Options{})
		if err != nil || len(records) != 1 || records[0].URL != tt.url || records[0].LastModified != 1794272400 ||
			strings.Join(codes, " ") != tt.codes {
			t.Errorf("%s: %+v, %q, %v", tt.name, records, codes, err)
		}
	}
}

// TestMemory checks that the memory in use does not grow with a feed of some megabytes.
func TestMemory(t *testing.T) {
	item := "<item><title>t</title><description>" + strings.Repeat("x", 5000) +
		"</description><link>http://h.example/</link></item>\n"
	entry := `{"url":"http://h.example/","content_text":"` + strings.Repeat("x", 5000) + `"}`
	for _, tt := range []struct{ name, head, each, tail string }{
		{"rss", rssHead, item, rssTail},
		{"json", `{"items":[` + entry, "," + entry, "]}"},
	} {
		const n = 2000
		r := io.MultiReader(strings.NewReader(tt.head), &repeated{text: tt.each, n: n}, strings.NewReader(tt.tail))
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		records := 0
		for _, err := range NewDecoder(r, feed.Options{}).Records() {
			if err != nil {
				t.Fatal(err)
			}
			if records++; records%400 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
					t.Errorf("%s: %d KiB in use after %d records", tt.name, grown>>10, records)
				}
			}
		}
		if records < n {
			t.Errorf("%s: %d records", tt.name, records)
		}
	}
}

// repeated is a reader of text, n times.
type repeated struct {
	text, rest string
	n          int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestBroken checks that an error of the reader is returned as it is, not as an error in the feed.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"", rssHead + "<item><link>http://h.example/</link></item><item>",
		`{"items":[{"url":"http://h.example/"},{`} {
		var last error
		for _, err := range NewDecoder(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)),
			feed.Options{}).Records() {
			last = err
		}
		if last != broken {
			t.Errorf("%q: %v", text, last)
		}
	}
}

// TestSlow checks that the result does not depend on how many bytes a read returns.
func TestSlow(t *testing.T) {
	for _, name := range []string{"rss-001-enclosures.rss", "json-001-feed.json", "rdf-001-eucjp.rdf",
		"rss-010-gzip-utf16.rss.gz", "sitemap-001.xml", "rss-008-octets.rss"} {
		raw, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := decode(name, bytes.NewReader(raw), feed.Options{})
		slow, _ := decode(name, iotest.OneByteReader(bytes.NewReader(raw)), feed.Options{})
		if a, b := all(whole), all(slow); len(a) == 0 || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, slowly %+v", name, a, b)
		}
	}
}

func all(records func(func(feed.Record, error) bool)) (list []feed.Record) {
	for r, err := range records {
		if err == nil {
			list = append(list, r)
		}
	}
	return list
}

// FuzzDecode checks that a record accepted in strict mode is the same in tolerant mode.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob(folder + "*")
	if err != nil || len(names) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if z, err := gzip.NewReader(bytes.NewReader(raw)); err == nil {
			raw, _ = io.ReadAll(z)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range []string{"news", "sitemap-"} {
			o := feed.Options{Limits: feed.Limits{Bytes: 1 << 20, Entries: 1000}}
			tolerant, _ := decode(name, bytes.NewReader(raw), o)
			list := all(tolerant)
			o.Strict = true
			strict, _ := decode(name, bytes.NewReader(raw), o)
			for _, s := range all(strict) {
				if !slices.ContainsFunc(list, func(r feed.Record) bool { return reflect.DeepEqual(r, s) }) {
					t.Fatalf("%s: only in strict mode: %+v", name, s)
				}
			}
			for _, r := range list {
				if !feed.IsURI(r.URL) || len(r.URL) > feed.MaxURL || r.Size < 0 {
					t.Fatalf("%s: %+v", name, r)
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	item := "<item><title>Minato 2.9.1</title><link>http://example.org/releases/2.9.1</link><description>Some " +
		"words</description>" +
		"<enclosure url=\"http://dl.example.org/a.xz\" length=\"5\" type=\"application/x-xz\"/><pubDate>Mon, 09 Nov " +
		"2026 22:05:00 +0000</pubDate></item>\n"
	benchmark(b, rssHead+strings.Repeat(item, 1000)+rssTail, "news")
}

func BenchmarkSitemap(b *testing.B) {
	benchmark(b,
		"<urlset>"+
			strings.Repeat("<url><loc>http://example.org/pub/minato/2.9.1.tar.xz</loc><lastmod>2026-11-09T22:05:00Z</lastmod></url>\n", 10_000)+"</urlset>", "sitemap-")
}

func benchmark(b *testing.B, text, name string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		records, _ := decode(name, strings.NewReader(text), feed.Options{})
		if len(all(records)) < 1000 {
			b.Fatal("too few records")
		}
	}
}
