package lirs

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// FuzzDecode checks that a record accepted in strict mode is the same in tolerant mode, and that records survive
// encoding and decoding.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("../../testdata/vectors/antenna/*.lirs*")
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
		limits := feed.Limits{Bytes: 1 << 20, Entries: 1000}
		tolerant, _, _, _ := read(string(raw), feed.Options{Limits: limits})
		strict, _, _, _ := read(string(raw), feed.Options{Strict: true, Limits: limits})
		if len(tolerant) > limits.Entries {
			t.Fatalf("%d records", len(tolerant))
		}
		for _, s := range strict {
			i := slices.IndexFunc(tolerant, func(r feed.Record) bool { return r.Line == s.Line })
			if i < 0 || !reflect.DeepEqual(tolerant[i], s) {
				t.Fatalf("line %d: %+v only in strict mode", s.Line, s)
			}
		}
		rewrite(t, tolerant, false)
		rewrite(t, strict, true)
	})
}

// rewrite checks that records survive encoding and decoding.
func rewrite(t *testing.T, records []feed.Record, strict bool) {
	records = slices.DeleteFunc(records, func(r feed.Record) bool { _, err := Append(nil, r); return err != nil })
	written := encode(t, records...)
	again, reports, _, err := read(written, feed.Options{Strict: strict})
	if err != nil || len(again) != len(records) {
		t.Fatalf("%d of %d records in %q: %q, %v", len(again), len(records), written, reports, err)
	}
	for i := range again {
		if got, want := essence(again[i]), essence(records[i]); inEUC(records[i]) && !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nwas\n%+v", got, want)
		}
	}
	if twice := encode(t, again...); twice != written {
		t.Fatalf("%q became %q", written, twice)
	}
}

// inEUC reports whether EUC-JP has all characters of r.
func inEUC(r feed.Record) bool {
	text := r.Title + r.Author + r.AgentURL
	for _, f := range r.Fields {
		text += f.Value
	}
	_, ok := feedtext.EUCJP.Encode(nil, text)
	return ok
}

// essence returns r without the fields that are not written.
func essence(r feed.Record) feed.Record {
	r.Line, r.Warnings = 0, nil
	return r
}

// generated is a reader of a compressed feed that makes its records while it is read.
type generated struct {
	records int
	rest    []byte
	n       int64
}

func (g *generated) Read(p []byte) (n int, err error) {
	for len(g.rest) < len(p) && g.records > 0 {
		g.rest = append(g.rest, "LIRS,1794273165,1794279483,32400,18422,http://www.asagao.example.jp/nikki/"...)
		g.rest = strconv.AppendInt(g.rest, int64(g.records), 10)
		g.rest = append(g.rest,
			",\xc4\xab\xb4\xe9\xa4\xce\xb4\xd1\xbb\xa1\xc6\xfc\xb5\xad,\xba\xb4\xc1\xd2,http://antenna.kamome.example.jp/,\n"...)
		g.records--
	}
	if len(g.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p, g.rest)
	g.rest = g.rest[:copy(g.rest, g.rest[n:])]
	g.n += int64(n)
	return n, nil
}

// TestMillion_Rule52 decodes a feed with the largest number of records (rule 52), and checks that neither the memory in
// use nor the allocations of a record grow with it.
func TestMillion_Rule52(t *testing.T) {
	const records = 1_000_000
	in := &generated{records: records}
	d := NewDecoder(in, feed.Options{Limits: feed.Limits{Bytes: 1 << 30}})
	var start, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&start)
	n, most := 0, uint64(0)
	for _, err := range d.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%(records/10) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	runtime.KeepAlive(d)
	if n != records {
		t.Fatalf("%d records", n)
	}
	if grown := int64(most) - int64(start.HeapAlloc); grown > 2<<20 {
		t.Errorf("%d MiB kept %d KiB", in.n>>20, grown>>10)
	}
	runtime.ReadMemStats(&now)
	if each := float64(now.Mallocs-start.Mallocs) / records; each > 4 {
		t.Errorf("%.1f allocations a record", each)
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		in := &generated{records: 50_000}
		for range NewDecoder(in, feed.Options{}).Records() {
		}
		b.SetBytes(in.n)
	}
}
