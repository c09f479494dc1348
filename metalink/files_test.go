package metalink

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"braid/verify"
)

// TestFiles checks that Files returns each File exactly as it was added, including zero fields.
func TestFiles(t *testing.T) {
	for _, name := range documents {
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d, err := Parse(f)
		if err != nil {
			t.Fatal(name, err)
		}
		d.From(verify.HTTPS, 3)
		checkKept(t, d.Files)
	}
	u := func(s string) *url.URL {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	signed := verify.Claim{Field: "list", Channel: verify.Signed, By: verify.SignatureResult{Key: "01"}}
	checkKept(t, []File{{}, {Size: 1<<63 - 2, Name: "x"}, {
		Name: "a", Size: -1, ETag: `"x"`, Server: u("http://h/a"), NoDigest: true, IgnoredCount: 3, Malformed: errors.New("what"),
		Claims: []verify.Claim{{Field: "none"}, signed, {Field: "after"}}, Signatures: []Signature{{"a", "b"}},
		Mirrors: []Mirror{
			{URL: u("http://a/b/c"), Pri: 1, Pref: true, Geo: "DE", Depth: 2, By: 4}, {URL: u("http://a/b/c/b/c"),
				Pri: 1, Pref: true, Geo: "DE", Depth: 2, By: 4},
			{URL: u("http://a/b/c"), Pri: -1}, {URL: u("https://u:p@[::1]:8/?q#f")},
		},
		Documents: []MetaURL{{URL: u("http://a/b/%2fc"), Type: "t", Name: "n", Pri: NoPriority, By: 1}},
		Ignored:   []Ignored{{"\xff", ""}, {"", "why"}},
	}})
}

func checkKept(t *testing.T, files []File) {
	t.Helper()
	var kept Files
	for _, f := range files {
		kept.Add(File{Name: "another"})
		kept.Set(kept.Len()-1, f)
	}
	for i, f := range files {
		if got := kept.At(i); !reflect.DeepEqual(got, f) || kept.Name(i) != f.Name || kept.Names()[i] != f.Name {
			t.Fatalf("kept\n%+v, read\n%+v", got, f)
		}
	}
	if kept.Len() != len(files) {
		t.Fatalf("%d files of %d", kept.Len(), len(files))
	}
}

// TestFilesMemory checks that Files needs less memory than the document has bytes (rule 20).
func TestFilesMemory(t *testing.T) {
	for name, url := range map[string]string{
		"one server":   "<url>http://127.0.0.1:8080/%d/a</url>",
		"many servers": "<url>https://mirror%d.example.org/pub/linux/releases/a.iso</url>",
		"short":        "<url>http://%d</url>",
	} {
		var text strings.Builder
		text.WriteString(`<metalink xmlns="` + namespace4 + `">`)
		for i := range 2000 {
			text.WriteString(repeat(18, url, `<file name="file`+string(rune('a'+i%26))+strings.Repeat("x", i/26)+
				`"><hash type="sha-256">`+sha256Zero+`</hash>`, "</file>"))
		}
		text.WriteString("</metalink>")
		var files Files
		before := inUse()
		if _, err := Scan(strings.NewReader(text.String()), files.Add); err != nil {
			t.Fatal(name, err)
		}
		if used := inUse() - before; used > int64(text.Len()) {
			t.Errorf("%s: %d bytes for a document of %d", name, used, text.Len())
		}
		runtime.KeepAlive(&files)
		runtime.KeepAlive(&text)
	}
}

// inUse returns the bytes of reachable heap objects.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
