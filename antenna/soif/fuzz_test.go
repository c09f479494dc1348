package soif

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"braid/antenna/feed"
)

// seeds contain all elements of the format.
var seeds = []string{
	"@FILE { http://h.example/\nTitle{5}:\tHello\nMD5{32}:\t5d41402abc4b2a76b9719d911017c592\n}\n",
	"@DELETE { }\n@REFRESH {\n@A{u:1}\n}\n@UPDATE {\n@B { u://h/ Embed<1>-a{}:\tb{2}:\t}}}\n}\n",
	"junk @ { @@A { -\r\n}@A { u://h/ a{3}:\tx\n@A { u://h/\r}",
	"@A { u://h/ a{0}:\tA{0}:\tFile-Size{1}:\txUpdate-Time{1}:\t0Time-to-Live{1}:\t1}",
	"@A { u://h/ a{-1}:\t}", "@A { u://h/ a{99999999999999999999}:\t}", "@A { x a{1}: x}",
	"QEEgeyB1Oi8vaC8gfQ==", "Content-Type: application/x-soif\nContent-Transfer-Encoding: quoted-printable\n\n@A { u:=2F }",
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xffrpTpU\x50\xb0\xd2\xcf\xd0W\xa8\x05\x00",
}

// vectors returns the streams in testdata/vectors/antenna.
func vectors(f *testing.F) (list []string) {
	names, err := filepath.Glob("../../testdata/vectors/antenna/soif-*.soif")
	if err != nil || len(names) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, string(text))
	}
	return list
}

func FuzzDecode(f *testing.F) {
	for _, s := range slices.Concat(seeds, vectors(f)) {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		discards := 0
		o := feed.Options{Strict: strict, Limits: feed.Limits{Entries: 1000}}
		o.Report = func(v feed.Violation) {
			if v.Line < 1 || v.Offset < 0 || v.Code == "" {
				t.Fatalf("%q: %+v", text, v)
			}
			if v.Discarded {
				discards++
			}
		}
		objects, end := decodeAll(text, o)
		if len(objects)+discards > o.Limits.Entries {
			t.Fatalf("%d objects and %d discarded", len(objects), discards)
		}
		at := int64(-1)
		for _, o := range objects {
			checkObject(t, o, strict)
			if o.offset <= at {
				t.Fatalf("%q: object at %d behind %d", text, o.offset, at)
			}
			at = o.offset
		}
		checkStable(t, objects)
		o.Report = nil
		checkSlow(t, text, o, objects, end)
	})
}

// checkSlow checks that the result does not depend on how many bytes a read returns.
func checkSlow(t *testing.T, text string, o feed.Options, want []object, wantEnd error) {
	t.Helper()
	var got []object
	var end error
	for found, err := range NewDecoder(iotest.OneByteReader(strings.NewReader(text)), o).objects() {
		if end = err; err == nil {
			got = append(got, found)
		}
	}
	if !reflect.DeepEqual(got, want) || fmt.Sprint(end) != fmt.Sprint(wantEnd) {
		t.Fatalf("%q: %+v and %v, but octet by octet %+v and %v", text, want, wantEnd, got, end)
	}
}

// checkObject checks what must hold for every object.
func checkObject(t *testing.T, o object, strict bool) {
	t.Helper()
	if o.line < 1 || !isIdentifier(o.Type, maxType) || o.URL != "" && !feed.IsURI(o.URL) || len(o.URL) > maxURL {
		t.Fatalf("%+v", o)
	}
	for _, a := range o.Attributes {
		if a.Name == "" || strict && !isIdentifier(a.Name, maxName) {
			t.Fatalf("%+v: attribute %q", o, a.Name)
		}
		if base, n := splitName(a.Name); n < 0 || len(o.named(base)) == 0 {
			t.Fatalf("%q is %q and %d", a.Name, base, n)
		}
	}
	for _, name := range numeric {
		if n, ok := o.number(name); ok && n < 0 {
			t.Fatalf("%s is %d", name, n)
		}
	}
	if n, ok := o.expires(); ok && n < 0 {
		t.Fatalf("expires is %d", n)
	}
}

// FuzzAppend checks that arbitrary objects are either refused or decoded again unchanged.
func FuzzAppend(f *testing.F) {
	f.Add("FILE", "http://h.example/", "Title", []byte("{\n}\n@FILE { x\n"), "Title-1", []byte{0})
	f.Add("UPDATE", "", "A", []byte{}, "A", []byte("\r\n"))
	f.Add("A", "mailto:a@b.example", "Embed<1>-A", []byte("x"), "MD5", []byte("}"))
	f.Fuzz(func(t *testing.T, kind, url, name1 string, value1 []byte, name2 string, value2 []byte) {
		o := object{Type: kind, URL: url}
		for _, a := range []attribute{{name1, value1}, {name2, value2}} {
			if isIdentifier(a.Name, maxName) {
				o.Attributes = append(o.Attributes, a)
			}
		}
		if _, err := o.append(nil); err == nil {
			checkStable(t, []object{o, o})
		}
	})
}
