package soif

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

func TestAppend(t *testing.T) {
	o := Object{Type: "FILE", URL: "http://h.example/}", Line: 7, Wrapper: Update, Warnings: []string{"x"}, Attributes: []Attribute{
		{"Title", []byte("{ \n}\n@FILE { http://x/\n")},
		{"Embed<1>-MD5", []byte("x")},
		{"", []byte("x")},
		{"Empty", nil},
		{"Title", []byte("\x00\xff")},
	}}
	if _, err := o.Append(nil); err == nil {
		t.Error("a brace in the URL is written")
	}
	o.URL = "http://h.example/%7D"
	const want = "before @FILE { http://h.example/%7D\nTitle{23}:\t{ \n}\n@FILE { http://x/\n\nEmpty{0}:\t\nTitle{2}:\t\x00\xff\n}\n"
	got, err := o.Append([]byte("before "))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
	o = Object{Type: "A"}
	if got, err := o.Append(nil); err != nil || string(got) != "@A { -\n}\n" {
		t.Errorf("no URL: %v, %q", err, got)
	}
}

// What would be read as something else is not written at all.
func TestAppendRefuses(t *testing.T) {
	for _, o := range []Object{
		{},
		{Type: "FI LE"},
		{Type: "FILE{"},
		{Type: strings.Repeat("n", maxType+1)},
		{Type: "FILE", URL: "/relative"},
		{Type: "FILE", URL: "http://h.example/a b"},
		{Type: "FILE", URL: "http://h.example/\n"},
		{Type: "FILE", URL: "http://h.example/{"},
		{Type: "FILE", URL: "http://h.example/é"},
		{Type: "FILE", URL: "http:"},
		{Type: "FILE", URL: "http://h.example/" + strings.Repeat("x", maxURL)},
	} {
		var form *FormError
		if got, err := o.Append([]byte("x")); !errors.As(err, &form) || string(got) != "x" {
			t.Errorf("@%s %s: %q, %v", o.Type, o.URL, got, err)
		}
	}
}

// TestEncode: what SOIF cannot say is left out, what cannot be written ends it, and so does a writer that fails.
func TestEncode(t *testing.T) {
	records := []feed.Record{{URL: "u://h/1", Title: "x"}, {URL: "u://h/2", Failed: true}, {URL: "u://h/3", Format: feed.LIRS, Size: 1}}
	var b strings.Builder
	if err := Encode(&b, slices.Values(records)); err != nil || b.String() != "@FILE { u://h/1\nTitle{1}:\tx\n}\n@FILE { u://h/3\nFile-Size{1}:\t1\n}\n" {
		t.Errorf("%v: %q", err, b.String())
	}
	var form *FormError
	if err := Encode(&b, slices.Values([]feed.Record{{URL: "relative"}})); !errors.As(err, &form) {
		t.Errorf("error is %v", err)
	}
	if err := Encode(full{}, slices.Values(records)); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
	records[0].Title = strings.Repeat("x", 1<<20)
	if err := Encode(full{}, slices.Values(records)); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// content returns objects without where they stood and how they were told.
func content(objects []Object) []Object {
	list := make([]Object, 0, len(objects))
	for _, o := range objects {
		var attributes []Attribute
		for _, a := range o.Attributes {
			if !strings.ContainsAny(a.Name, "<>") {
				attributes = append(attributes, Attribute{a.Name, append([]byte{}, a.Value...)})
			}
		}
		list = append(list, Object{Type: o.Type, URL: o.URL, Attributes: attributes})
	}
	return list
}

// decodeAll returns the objects of text up to its first error.
func decodeAll(text string, o feed.Options) (objects []Object, err error) {
	for object, err := range NewDecoder(strings.NewReader(text), o).Objects() {
		if err != nil {
			return objects, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// checkStable writes objects, reads them and writes them again: nothing may change, in either mode.
func checkStable(t *testing.T, objects []Object) {
	t.Helper()
	write := func(objects []Object) (b []byte) {
		for _, o := range objects {
			var err error
			if b, err = o.Append(b); err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
		}
		return b
	}
	if len(objects) == 0 {
		return
	}
	text := write(objects)
	for _, strict := range []bool{false, true} {
		again, err := decodeAll(string(text), feed.Options{Strict: strict, Report: func(v feed.Violation) {
			switch v.Code {
			case codeNotWatchable, codeDuplicate, codeConflict, codeBadNumber, codeBadMD5: // of the content, not of the form
			default:
				t.Fatalf("%q, written: %+v", text, v)
			}
		}})
		if err != nil || !reflect.DeepEqual(content(again), content(objects)) {
			t.Fatalf("%+v became %+v, %v", objects, again, err)
		}
		if twice := write(again); string(twice) != string(text) {
			t.Fatalf("%q, written again: %q", text, twice)
		}
	}
}
