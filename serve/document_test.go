package serve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"braid/linkheader"
)

// metalinkOf returns a Metalink document about files: names and SHA-256 alternate.
func metalinkOf(files ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">`)
	for i := 0; i < len(files); i += 2 {
		fmt.Fprintf(&b, `<file name="%s"><hash type="sha-256"> %s </hash>`, files[i], files[i+1])
		fmt.Fprintf(&b, `<pieces length="9" type="sha-256"><hash>%064d</hash></pieces><url>http://h/</url></file>`, 1)
	}
	return b.String() + "</metalink>"
}

// documentsOf returns the describedby links of an answer, with name if there is one.
func documentsOf(t *testing.T, a answer) (documents []string) {
	for _, l := range a.links(t, linkheader.DescribedBy) {
		documents = append(documents, strings.TrimSpace(fmt.Sprint(l.Target, " ", l.Type(), " ", l.Name())))
	}
	return documents
}

// Proves V5 and V8: documents beside the file are named with their type, and are served with it.
func TestDocuments_V5_V8(t *testing.T) {
	w := start(t, map[string]string{
		"d/a b.iso": content, "d/a b.iso.asc": "1", "d/a b.iso.p7m": "2", "d/a b.iso.p7s": "3",
		"d/a b.iso.meta4": "<metalink", "d/a b.iso.torrent": "junk", "d/a b.iso.sha1": "no", "d/b.asc": "no", "d/plain": "",
		"d/plain.asc/": "a folder",
	}, Options{})
	got := documentsOf(t, w.get("/d/a%20b.iso"))
	want := []string{
		"a%20b.iso.meta4 application/metalink4+xml", "a%20b.iso.torrent application/x-bittorrent",
		"a%20b.iso.asc application/pgp-signature", "a%20b.iso.p7m application/pkcs7-mime",
		"a%20b.iso.p7s application/pkcs7-signature",
	}
	if !slices.Equal(got, want) {
		t.Errorf("documents are %q\nwant %q", got, want)
	}
	for _, d := range want {
		target, media, _ := strings.Cut(d, " ")
		if a := w.get("/d/" + target); a.status != 200 || a.header.Get("Content-Type") != media {
			t.Errorf("%s: %d, type %q, want %q", target, a.status, a.header.Get("Content-Type"), media)
		}
	}
	if got := documentsOf(t, w.get("/d/plain")); got != nil {
		t.Errorf("a folder is named as a document: %q", got)
	}
	// Each is read once, and logged once.
	w.get("/d/a%20b.iso")
	if n := w.log.count("document cannot be read: metalink document, line 1: it is cut off"); n != 1 {
		t.Errorf("%d complaints", n)
	}
}

// Proves V5: name is present if the document uses another name, and a document about other bytes is not named.
func TestDocumentNames_V5(t *testing.T) {
	digest := start(t, map[string]string{"a": content}, Options{}).get("/a").digest(t)
	right, wrong := digest.Hex(), strings.Repeat("0", 64)
	for _, tt := range []struct{ name, suffix, document, want string }{
		{"same name", "meta4", metalinkOf("a", right), "a.meta4 application/metalink4+xml"},
		{"other name", "meta4", metalinkOf("b.iso", right), "a.meta4 application/metalink4+xml b.iso"},
		{"name beyond ASCII", "meta4", metalinkOf("ä 日.iso", right), "a.meta4 application/metalink4+xml ä 日.iso"},
		{"name with a quote", "meta4", metalinkOf(`x&quot;y`, right), `a.meta4 application/metalink4+xml x"y`},
		{"by digest", "meta4", metalinkOf("a", wrong, "c", right), "a.meta4 application/metalink4+xml c"},
		{"digest in capitals", "meta4", metalinkOf("c", strings.ToUpper(right)), "a.meta4 application/metalink4+xml c"},
		{"of another version", "meta4", metalinkOf("a", wrong), ""},
		{"digest damaged", "meta4", metalinkOf("a", "0"), "a.meta4 application/metalink4+xml"},
		{"size only", "meta4",
			`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="z"><size>43</size></file></metalink>`,
			"a.meta4 application/metalink4+xml z"},
		{"other size", "meta4",
			`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><size>4</size></file></metalink>`, ""},
		{"name that no client accepts", "meta4", metalinkOf("../a", right), "a.meta4 application/metalink4+xml"},
		{"contradiction", "meta4", metalinkOf("b", right, "b", wrong), "a.meta4 application/metalink4+xml"},
		{"Metalink 3", "meta4",
			`<metalink xmlns="http://www.metalinker.org/"><files><file name="z"><size>43</size></file></files></metalink>`,
			"a.meta4 application/metalink4+xml z"},
		{"other namespace", "meta4", `<metalink><file name="z"/></metalink>`, "a.meta4 application/metalink4+xml"},
		{"torrent", "torrent", torrentOf("a", 43), "a.torrent application/x-bittorrent"},
		{"torrent, other name", "torrent", torrentOf("xyz", 43), "a.torrent application/x-bittorrent xyz"},
		{"torrent, other size", "torrent", torrentOf("a", 44), ""},
		{"torrent of several, by name", "torrent",
			torrentOf("q", 0, "s/a", 43, "b", 43), "a.torrent application/x-bittorrent s/a"},
		{"torrent of several, by size", "torrent",
			torrentOf("q", 0, "a", 1, "b", 43), "a.torrent application/x-bittorrent b"},
		{"torrent, name not UTF-8", "torrent", torrentOf("\xff", 43), "a.torrent application/x-bittorrent"},
		{"torrent with a tree only", "torrent", "d4:infod9:file treede4:name1:zee", "a.torrent application/x-bittorrent"},
	} {
		w := start(t, map[string]string{"a": content, "a." + tt.suffix: tt.document}, Options{})
		a := w.get("/a")
		got := strings.Join(documentsOf(t, a), "; ")
		named := strings.Contains(a.header.Get("Link"), "; name") // also a document that no client can read
		if got != tt.want || named != (strings.Count(tt.want, " ") > 1) {
			t.Errorf("%s: documents are %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The cached verdict of a document ends with the document and with the file.
func TestDocumentReplaced(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{})
	right := w.get("/a").digest(t).Hex()
	wrong := strings.Repeat("0", 64)
	put(t, w.dir, "a.meta4", metalinkOf("first", wrong))
	if got := documentsOf(t, w.get("/a")); got != nil {
		t.Errorf("documents are %q", got)
	}
	put(t, w.dir, "a.meta4", metalinkOf("second", right))
	if got := documentsOf(t, w.get("/a")); len(got) != 1 || !strings.HasSuffix(got[0], " second") {
		t.Errorf("documents are %q, want the second", got)
	}
	put(t, w.dir, "a", content+"!")
	if got := documentsOf(t, w.get("/a")); got != nil {
		t.Errorf("documents of a new file are %q", got)
	}
}

// torrentOf returns a torrent of a file of the given size or, if there are names and sizes, of files below a folder.
func torrentOf(name string, size int, files ...any) string {
	text := func(s string) string { return fmt.Sprintf("%d:%s", len(s), s) }
	info := fmt.Sprintf("6:lengthi%de", size)
	if len(files) > 0 {
		info = "5:filesl"
		for i := 0; i < len(files); i += 2 {
			info += fmt.Sprintf("d6:lengthi%de4:pathl", files[i+1])
			for part := range strings.SplitSeq(files[i].(string), "/") {
				info += text(part)
			}
			info += "ee"
		}
		info += "e"
	}
	return "d4:infod" + info + "4:name" + text(name) + "12:piece lengthi65536e6:pieces" + text(strings.Repeat("x", 20)) + "ee"
}
