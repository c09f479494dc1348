// Package antenna_test compares the formats with testdata/vectors/antenna. The folder has feeds with their expected
// results and scenarios, which are sequences of polls with the expected decision for each.
package antenna_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/lirs"
	"braid/antenna/soif"
)

const (
	folder   = "../testdata/vectors/antenna"
	expected = ".expected.json"
)

// A document is a JSON object as package json decodes it.
type document = map[string]any

// A format is a format of feeds in the vectors.
type format struct {
	// name is the name in the vectors.
	name string
	// describe decodes a feed in both modes and describes the result with the keys of the vectors.
	describe func(t *testing.T, raw []byte) document
	// decode reads a feed and encode writes it.
	decode func(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error]
	encode func(w io.Writer, records iter.Seq[feed.Record]) error
}

// formats maps the extension of a file, without .gz, to its format.
var formats = map[string]format{
	".di":   {"hina-di", describeHina, decodeHina, encodeHina},
	".lirs": {"lirs", describeLIRS, decodeLIRS, lirs.Encode},
	".soif": {"soif", describeSOIF, decodeSOIF, soif.Encode},
}

func decodeHina(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
	return hinadi.NewDecoder(r, o).Records()
}

func encodeHina(w io.Writer, records iter.Seq[feed.Record]) error {
	return hinadi.Encode(w, hinadi.Header{UserAgent: "braid"}, records)
}

func decodeLIRS(r io.Reader, o feed.Options) iter.Seq2[feed.Record, error] {
	return lirs.NewDecoder(r, o).Records()
}

// formatOf returns the format of a file by its name.
func formatOf(name string) (format, error) {
	ext := filepath.Ext(strings.TrimSuffix(name, ".gz"))
	f, ok := formats[ext]
	if !ok {
		return format{}, fmt.Errorf("%s: no format has the extension %q", name, ext)
	}
	return f, nil
}

// TestFolder checks that every file of the folder is used.
func TestFolder(t *testing.T) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "scenario-") && strings.HasSuffix(name, ".json") {
			continue // used by TestScenarios
		}
		vector, isExpected := strings.CutSuffix(name, expected)
		other := name + expected
		if isExpected {
			other = vector
		}
		if _, err := os.Stat(filepath.Join(folder, other)); err != nil {
			t.Errorf("%s: there is no %s", name, other)
		}
		if _, err := formatOf(vector); err != nil {
			t.Error(err)
		}
	}
	if _, err := formatOf("x.rss"); err == nil {
		t.Error("a format that nobody reads is accepted")
	}
}

// vectors calls test for each feed of the folder.
func vectors(t *testing.T, test func(t *testing.T, f format, raw []byte, want document)) {
	names, err := filepath.Glob(filepath.Join(folder, "*"+expected))
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		feedName := strings.TrimSuffix(name, expected)
		t.Run(filepath.Base(feedName), func(t *testing.T) {
			f, err := formatOf(feedName)
			if err != nil {
				t.Fatal(err)
			}
			want := document{}
			readJSON(t, name, &want)
			raw, err := os.ReadFile(feedName)
			if err != nil {
				t.Fatal(err)
			}
			if want["file"] != filepath.Base(feedName) || want["format"] != f.name {
				t.Fatalf("what is expected is for %v, %v", want["file"], want["format"])
			}
			test(t, f, raw, want)
		})
	}
}

// TestVectors compares the description of each feed with the expected one. Neither may have a key that the other lacks.
func TestVectors(t *testing.T) {
	vectors(t, func(t *testing.T, f format, raw []byte, want document) {
		got := throughJSON(t, f.describe(t, raw))
		for _, key := range []string{"file", "about", "format"} {
			got[key] = want[key]
		}
		for _, line := range differences("", got, withoutNameless(want)) {
			t.Error(line)
		}
	})
}

// TestDifferences checks that differences finds missing keys on either side.
func TestDifferences(t *testing.T) {
	for _, tt := range []struct {
		got, want any
		n         int
	}{
		{document{"a": 1.0}, document{"a": 1.0}, 0},
		{document{"a": 1.0, "b": nil}, document{"a": 1.0}, 1},
		{document{"a": 1.0}, document{"a": 1.0, "b": nil}, 1},
		{document{"a": []any{1.0}}, document{"a": []any{1.0, nil}}, 1},
		{document{"a": []any{1.0}}, document{"a": []any{2.0}}, 1},
		{document{"a": []any{}}, document{"a": nil}, 1},
	} {
		if got := differences("", tt.got, tt.want); len(got) != tt.n {
			t.Errorf("%v and %v: %q, want %d", tt.got, tt.want, got, tt.n)
		}
	}
}

// differences lists the differences of two documents.
func differences(where string, got, want any) (list []string) {
	g, isDocument := got.(document)
	w, both := want.(document)
	if isDocument && both {
		for _, key := range slices.Sorted(keysOf(g, w)) {
			a, inGot := g[key]
			b, inWant := w[key]
			if inGot != inWant {
				list = append(list, fmt.Sprintf("%s.%s: is there %v, wanted %v", where, key, inGot, inWant))
				continue
			}
			list = append(list, differences(where+"."+key, a, b)...)
		}
		return list
	}
	gs, isList := got.([]any)
	ws, both := want.([]any)
	if isList && both && len(gs) == len(ws) {
		for i := range gs {
			list = append(list, differences(fmt.Sprintf("%s[%d]", where, i), gs[i], ws[i])...)
		}
		return list
	}
	if !reflect.DeepEqual(got, want) {
		list = append(list, fmt.Sprintf("%s is %v, want %v", where, got, want))
	}
	return list
}

func keysOf(a, b document) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range a {
			if !yield(key) {
				return
			}
		}
		for key := range b {
			if _, both := a[key]; !both && !yield(key) {
				return
			}
		}
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// throughJSON returns v after encoding and decoding, so that all numbers have one type.
func throughJSON(t *testing.T, v document) (again document) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// collect returns the records of a feed, and the code if the feed was rejected.
func collect(t *testing.T, records iter.Seq2[feed.Record, error]) (list []feed.Record, rejected string) {
	t.Helper()
	for r, err := range records {
		var reject *feed.RejectError
		if errors.As(err, &reject) {
			return list, reject.Code
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list, ""
}

// TestStrictIsTolerated checks that a record accepted in strict mode is the same in tolerant mode.
func TestStrictIsTolerated(t *testing.T) {
	vectors(t, func(t *testing.T, f format, raw []byte, want document) {
		tolerant, _ := collect(t, f.decode(bytes.NewReader(raw), feed.Options{}))
		strict, _ := collect(t, f.decode(bytes.NewReader(raw), feed.Options{Strict: true}))
		for _, s := range strict {
			i := slices.IndexFunc(tolerant, func(r feed.Record) bool { return r.Line == s.Line && r.Offset == s.Offset })
			if i < 0 || !reflect.DeepEqual(tolerant[i], s) {
				t.Errorf("line %d is another record, or none, in tolerant mode", s.Line)
			}
		}
	})
}

// TestStable checks that the records of each feed are the same after encoding and decoding, without violations of form,
// and that encoding them again gives the same bytes.
func TestStable(t *testing.T) {
	vectors(t, func(t *testing.T, f format, raw []byte, want document) {
		first, _ := collect(t, f.decode(bytes.NewReader(raw), feed.Options{}))
		if len(first) == 0 {
			return
		}
		written := write(t, f, first)
		second, rejected := collect(t, f.decode(bytes.NewReader(written), feed.Options{}))
		if rejected != "" || len(second) != len(first) {
			t.Fatalf("%d records became %d, %s:\n%s", len(first), len(second), rejected, written)
		}
		for i := range first {
			if a, b := essence(first[i]), essence(second[i]); !reflect.DeepEqual(a, b) {
				t.Errorf("%+v\nbecame\n%+v", a, b)
			}
		}
		if again := write(t, f, second); !bytes.Equal(again, written) {
			t.Errorf("%q\nbecame\n%q", written, again)
		}
	})
}

func write(t *testing.T, f format, records []feed.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.encode(&b, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// essence returns r without what encoding does not keep: its position, its violations, and the order and empty fields
// of hina-di.
func essence(r feed.Record) feed.Record {
	r.Line, r.Offset, r.Warnings, r.FeedDate = 0, 0, nil, 0
	if r.Format == feed.HinaDI {
		r.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f feed.Field) bool { return f.Value == "" })
		slices.SortStableFunc(r.Fields, func(a, b feed.Field) int { return first(a) - first(b) })
	}
	return r
}

func first(f feed.Field) int {
	if f.Name == "URL" {
		return 0
	}
	return 1
}
