// Package feedtest compares readers of feeds with vectors: feeds with the expected result of reading them beside them.
package feedtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// A vector is the expected result of reading a feed.
type vector struct {
	About string `json:"about"`
	Base  string `json:"base,omitempty"`
	Input struct {
		Gzip     bool   `json:"gzip"`
		Charset  string `json:"charset"`
		Declared string `json:"declared,omitempty"`
	} `json:"input"`
	Records  []entry  `json:"records"`
	Tolerant []report `json:"discarded_tolerant"`
	Strict   []report `json:"discarded_strict"`
	Problems []report `json:"problems"`
	Rejected string   `json:"rejected,omitempty"`
}

type entry struct {
	Line       int         `json:"line"`
	URL        string      `json:"url"`
	Tag        string      `json:"tag,omitempty"`
	PreRelease bool        `json:"pre_release,omitempty"`
	Title      string      `json:"title,omitempty"`
	Author     string      `json:"author,omitempty"`
	Modified   feed.Time   `json:"last_modified,omitempty"`
	Size       int64       `json:"size,omitempty"`
	Type       string      `json:"content_type,omitempty"`
	Fields     [][2]string `json:"fields"`
	Warnings   []string    `json:"warnings,omitempty"`
}

type report struct {
	Line int    `json:"line"`
	Code string `json:"code"`
	URL  string `json:"url,omitempty"`
}

const expected = ".expected.json"

// Vectors reads each feed of the pattern in both modes and compares the result with the expected one.
func Vectors(t *testing.T, pattern string, decode func(io.Reader, feed.Options) feed.Decoder) {
	names, err := filepath.Glob(pattern)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, expected) })
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := read(t, name+expected)
			got := describe(t, raw, want.Base, decode)
			if got.About, got.Base = want.About, want.Base; !reflect.DeepEqual(got, want) {
				out, _ := json.MarshalIndent(got, "", " ")
				t.Errorf("%s", out)
			}
		})
	}
}

func read(t *testing.T, name string) (v vector) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&v); err != nil || v.About == "" {
		t.Fatalf("what is expected: %v, about %q", err, v.About)
	}
	return v
}

// describe reads a feed in both modes.
func describe(t *testing.T, raw []byte, base string, decode func(io.Reader, feed.Options) feed.Decoder) (v vector) {
	for _, strict := range []bool{false, true} {
		discarded, problems := []report{}, []report{}
		d := decode(bytes.NewReader(raw), feed.Options{Strict: strict, Base: base, Report: func(f feed.Violation) {
			if f.Text == "" || strings.Contains(f.Text, "{field}") || strings.Contains(f.Text, "{value}") {
				t.Errorf("%s: %q", f.Code, f.Text)
			}
			switch {
			case f.Discarded:
				discarded = append(discarded, report{f.Record, f.Tag(), f.URL})
			case f.Record == 0:
				problems = append(problems, report{f.Line, f.Tag(), ""})
			}
		}})
		list, rejected := entries(t, d)
		if strict {
			v.Strict = discarded
			for _, e := range list {
				if !slices.ContainsFunc(v.Records, func(r entry) bool { return reflect.DeepEqual(r, e) }) {
					t.Errorf("only in strict mode: %+v", e)
				}
			}
			continue
		}
		in := d.Input()
		v.Input.Gzip, v.Input.Charset, v.Input.Declared = in.Gzip, in.Charset, in.Declared
		v.Records, v.Tolerant, v.Problems, v.Rejected = list, discarded, problems, rejected
	}
	return v
}

// entries returns the records of a feed, and the code if it is rejected.
func entries(t *testing.T, d feed.Decoder) (list []entry, rejected string) {
	list = []entry{}
	for r, err := range d.Records() {
		if reject, is := errors.AsType[*feed.RejectError](err); is {
			rejected = reject.Code
		} else if err != nil {
			t.Fatal(err)
		} else {
			list = append(list, entryOf(r))
		}
	}
	return list, rejected
}

func entryOf(r feed.Record) entry {
	e := entry{Line: r.Line, URL: r.URL, Tag: r.Tag, PreRelease: r.PreRelease, Title: r.Title, Author: r.Author,
		Modified: r.LastModified, Size: r.Size, Type: r.ContentType, Fields: [][2]string{}, Warnings: r.Warnings}
	for _, f := range r.Fields {
		e.Fields = append(e.Fields, [2]string{f.Name, f.Value})
	}
	return e
}
