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
	o := object{Type: "FILE", URL: "http://h.example/}", place: place{line: 7}, Wrapper: "UPDATE",
		Warnings: []string{"x"}, Attributes: []attribute{
			{"Title", []byte("{ \n}\n@FILE { http://x/\n")},
			{"Embed<1>-MD5", []byte("x")},
			{"", []byte("x")},
			{"Empty", nil},
			{"Title", []byte("\x00\xff")},
		}}
	if _, err := o.append(nil); err == nil {
		t.Error("a brace in the URL is written")
	}
	o.URL = "http://h.example/%7D"
	const want = "before @FILE { http://h.example/%7D\nTitle{23}:\t{ \n}\n@FILE { " +
		"http://x/\n\nEmpty{0}:\t\nTitle{2}:\t\x00\xff\n}\n"
	got, err := o.append([]byte("before "))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
	o = object{Type: "A"}
	if got, err := o.append(nil); err != nil || string(got) != "@A { -\n}\n" {
		t.Errorf("no URL: %v, %q", err, got)
	}
}

// TestAppendRefuses checks that an object that would be decoded differently is refused.
func TestAppendRefuses(t *testing.T) {
	for _, o := range []object{
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
		if got, err := o.append([]byte("x")); err == nil || string(got) != "x" {
			t.Errorf("@%s %s: %q, %v", o.Type, o.URL, got, err)
		}
	}
}

// TestEncode checks that Encode leaves out records that SOIF cannot express, and returns an error for an invalid record
// and from the writer.
func TestEncode(t *testing.T) {
	records := []feed.Record{{URL: "u://h/1", Title: "x"}, {URL: "u://h/2", Failed: true},
		{URL: "u://h/3", Format: feed.LIRS, Size: 1}}
	var b strings.Builder
	if err := Encode(&b, slices.Values(records)); err != nil ||
		b.String() != "@FILE { u://h/1\nTitle{1}:\tx\n}\n@FILE { u://h/3\nFile-Size{1}:\t1\n}\n" {
		t.Errorf("%v: %q", err, b.String())
	}
	if err := Encode(&b, slices.Values([]feed.Record{{URL: "relative"}})); err == nil ||
		!strings.Contains(err.Error(), "relative") {
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

// content returns the type, URL and attributes of the objects, without attributes whose names have brackets.
func content(objects []object) []object {
	list := make([]object, 0, len(objects))
	for _, o := range objects {
		var attributes []attribute
		for _, a := range o.Attributes {
			if !strings.ContainsAny(a.Name, "<>") {
				attributes = append(attributes, attribute{a.Name, append([]byte{}, a.Value...)})
			}
		}
		list = append(list, object{Type: o.Type, URL: o.URL, Attributes: attributes})
	}
	return list
}

// decodeAll returns the objects of text up to its first error.
func decodeAll(text string, o feed.Options) (objects []object, err error) {
	for found, err := range NewDecoder(strings.NewReader(text), o).objects() {
		if err != nil {
			return objects, err
		}
		objects = append(objects, found)
	}
	return objects, nil
}

// checkStable checks that objects are the same after encoding and decoding, in both modes.
func checkStable(t *testing.T, objects []object) {
	t.Helper()
	write := func(objects []object) (b []byte) {
		for _, o := range objects {
			var err error
			if b, err = o.append(b); err != nil {
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
			// about the content, not the form
			case codeNotWatchable.Name, codeDuplicate.Name, codeConflict.Name, codeBadNumber.Name, codeBadMD5.Name:
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
