package hinadi

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// FuzzDecode checks that a record accepted in strict mode is the same in tolerant mode, that every record is valid, and
// that encoded records are decoded without violations and encoded again byte by byte.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("../../testdata/vectors/antenna/*.di")
	if err != nil || len(names) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		limits := feed.Limits{Bytes: 1 << 20, Entries: 1000}
		tolerant, reports, _, _ := read(string(raw), feed.Options{Limits: limits})
		strict, _, _, _ := read(string(raw), feed.Options{Strict: true, Limits: limits})
		if len(tolerant) > limits.Entries || len(reports) > 10_000+3*len(raw) {
			t.Fatalf("%d records, %d reports", len(tolerant), len(reports))
		}
		for _, s := range strict {
			i := slices.IndexFunc(tolerant, func(r feed.Record) bool { return r.Line == s.Line })
			if i < 0 || !reflect.DeepEqual(tolerant[i], s) {
				t.Fatalf("line %d: %+v only in strict mode", s.Line, s)
			}
		}
		tolerant = slices.DeleteFunc(tolerant, func(r feed.Record) bool {
			checkRecord(t, r)
			_, err := Fields(r) // a field may be too long in another charset
			return err != nil
		})
		rewrite(t, tolerant, false)
		rewrite(t, strict, true)
	})
}

func checkRecord(t *testing.T, r feed.Record) {
	seen := map[string]bool{}
	for _, f := range r.Fields {
		name := strings.ToLower(f.Name)
		if seen[name] || !isFieldName(f.Name) || !isText(f.Value) || strings.HasPrefix(f.Value, " ") {
			t.Fatalf("field %q: %q", f.Name, f.Value)
		}
		seen[name] = true
	}
	if !feed.IsURI(r.URL) || r.Line < 1 || r.Format != feed.HinaDI {
		t.Fatalf("%+v", r)
	}
}

// rewrite checks that records survive encoding and decoding.
func rewrite(t *testing.T, records []feed.Record, strict bool) {
	records = slices.DeleteFunc(records, func(r feed.Record) bool { _, err := Fields(r); return err != nil })
	if len(records) == 0 {
		return
	}
	written := encode(t, Header{UserAgent: "b"}, records...)
	again, reports, _, err := read(written, feed.Options{Strict: strict})
	if err != nil || len(again) != len(records) {
		t.Fatalf("%d of %d records in %q: %q, %v", len(again), len(records), written, reports, err)
	}
	for i, r := range again {
		for _, f := range r.Fields {
			if value, _ := records[i].Get(f.Name); value != f.Value {
				t.Fatalf("%s is %q, was %q", f.Name, f.Value, value)
			}
		}
		if r.LastModified != records[i].LastModified || r.Expires != records[i].Expires ||
			!slices.Equal(r.Method, records[i].Method) {
			t.Fatalf("%+v was %+v", r, records[i])
		}
	}
	if twice := encode(t, Header{UserAgent: "b"}, again...); twice != written {
		t.Fatalf("%q became %q", written, twice)
	}
}

// generated is a reader of a feed that makes its blocks while it is read.
type generated struct {
	block  string
	blocks int
	buf    bytes.Buffer
	n      int64
}

func (g *generated) Read(p []byte) (int, error) {
	for g.buf.Len() < len(p) && g.blocks > 0 {
		fmt.Fprintf(&g.buf, g.block, g.blocks)
		g.blocks--
	}
	if g.buf.Len() == 0 {
		return 0, io.EOF
	}
	n, err := g.buf.Read(p)
	g.n += int64(n)
	return n, err
}

const realBlock = "URL: http://www.asagao.example.jp/nikki/%d\r\nTitle: " +
	"\xc4\xab\xb4\xe9\xa4\xce\xb4\xd1\xbb\xa1\xc6\xfc\xb5\xad\r\n" +
	"Last-Modified: Tue, 10 Nov 2026 01:12:45 GMT\r\nLast-Modified-Detected: Tue, 10 Nov 2026 02:58:03 GMT\r\n" +
	"Expires: Tue, 10 Nov 2026 09:00:00 GMT\r\nAuthorized: Kamome/1.4\r\nAuthorized-url: " +
	"http://antenna.kamome.example.jp/\r\nMethod: HEAD/200\r\n\r\n"

// TestMemory checks that the memory in use does not grow with the feed.
func TestMemory(t *testing.T) {
	in := &generated{block: realBlock, blocks: 100_000}
	d := NewDecoder(io.MultiReader(strings.NewReader(head), in), feed.Options{})
	var start, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&start)
	n, most := 0, uint64(0)
	for _, err := range d.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%20_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	runtime.KeepAlive(d)
	if grown := int64(most) - int64(start.HeapAlloc); n != 100_000 || grown > 2<<20 {
		t.Errorf("%d records of %d MiB kept %d KiB", n, in.n>>20, grown>>10)
	}
}

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		in := &generated{block: realBlock, blocks: 10_000}
		for range NewDecoder(io.MultiReader(strings.NewReader(head), in), feed.Options{}).Records() {
		}
		b.SetBytes(in.n)
	}
}
