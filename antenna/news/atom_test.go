package news

import (
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

func TestEncodeAtom(t *testing.T) {
	records := []feed.Record{
		{URL: "http://dl.example.org/a.iso", Title: "A <b> & \"c\" \x1b\xff", Author: "Ann", LastModified: 1794272400,
			Size: 5, ContentType: "application/x-iso"},
		{URL: "http://example.org/?a=1&b=2", Detected: 1794272401},
		{URL: "javascript:alert(1)", LastModified: 1794272400},
		{URL: "http://example.org/a b", LastModified: 1794272400},
		{URL: "ftp://example.org/a", LastModified: 1794272400},
		{URL: "http://example.org/undated"},
		{URL: "http://example.org/far", LastModified: 253402300800},
		{URL: "http://example.org/before", LastModified: -1},
	}
	var b strings.Builder
	h := AtomHeader{ID: "http://me.example/", Title: "T", Author: "me", Self: "http://me.example/atom.xml",
		Site: "http://me.example/", Updated: 1794272402, Generator: "g"}
	if err := EncodeAtom(&b, h, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
 <id>http://me.example/</id>
 <title>T</title>
 <updated>2026-11-10T01:00:02Z</updated>
 <author>
  <name>me</name>
 </author>
 <generator>g</generator>
 <link rel="self" href="http://me.example/atom.xml" type="application/atom+xml"/>
 <link rel="alternate" href="http://me.example/"/>
 <entry>
  <id>http://dl.example.org/a.iso</id>
  <title>A &lt;b&gt; &amp; &#34;c&#34; ` + "\uFFFD\uFFFD" + `</title>
  <updated>2026-11-10T01:00:00Z</updated>
  <author>
   <name>Ann</name>
  </author>
  <link rel="alternate" href="http://dl.example.org/a.iso"/>
  <link rel="enclosure" href="http://dl.example.org/a.iso" type="application/x-iso" length="5"/>
 </entry>
 <entry>
  <id>http://example.org/?a=1&amp;b=2</id>
  <title>http://example.org/?a=1&amp;b=2</title>
  <updated>2026-11-10T01:00:01Z</updated>
  <link rel="alternate" href="http://example.org/?a=1&amp;b=2"/>
 </entry>
</feed>
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	again := []feed.Record{}
	for r, err := range NewDecoder(strings.NewReader(b.String()), feed.Options{Strict: true}).Records() {
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, r)
	}
	if len(again) != 2 || again[0].URL != records[0].URL || again[0].Size != 5 || again[0].LastModified != 1794272400 ||
		again[1].URL != records[1].URL {
		t.Errorf("read again: %+v", again)
	}
}

// full is a writer that always fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestEncodeAtomFails(t *testing.T) {
	if err := EncodeAtom(full{}, AtomHeader{ID: "u:"}, slices.Values([]feed.Record{})); err == nil || err.Error() != "full" {
		t.Errorf("error is %v", err)
	}
}

// FuzzEncodeAtom checks that no value can end its element.
func FuzzEncodeAtom(f *testing.F) {
	f.Add("http://h/", "a", "b", "c/d")
	f.Add("http://h/'", "</title>", "]]>", `"/><x y="`)
	f.Fuzz(func(t *testing.T, url, title, author, kind string) {
		var b strings.Builder
		r := feed.Record{URL: url, Title: title, Author: author, ContentType: kind, LastModified: 1794272400, Size: 1}
		if err := EncodeAtom(&b, AtomHeader{ID: url, Title: title}, slices.Values([]feed.Record{r})); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		names := []string{}
		for {
			token, err := d.Token()
			if token == nil {
				if err.Error() != "EOF" {
					t.Fatalf("%v in %s", err, b.String())
				}
				break
			}
			if s, ok := token.(xml.StartElement); ok {
				names = append(names, s.Name.Local)
			}
		}
		allowed := []string{"feed", "id", "title", "updated", "author", "name", "link", "entry"}
		for _, n := range names {
			if !slices.Contains(allowed, n) {
				t.Errorf("an element %s in %s", n, b.String())
			}
		}
	})
}
