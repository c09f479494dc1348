package news

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

const folder = "../../testdata/vectors/antenna-news/"

// A vector is a feed with the expected result.
type vector struct {
	About string `json:"about"`
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
	Line     int         `json:"line"`
	URL      string      `json:"url"`
	Title    string      `json:"title,omitempty"`
	Author   string      `json:"author,omitempty"`
	Modified feed.Time   `json:"last_modified,omitempty"`
	Size     int64       `json:"size,omitempty"`
	Type     string      `json:"content_type,omitempty"`
	Fields   [][2]string `json:"fields"`
	Warnings []string    `json:"warnings,omitempty"`
}

type report struct {
	Line int    `json:"line"`
	Code string `json:"code"`
	URL  string `json:"url,omitempty"`
}

// decode chooses the decoder by the name of the file.
func decode(name string, r io.Reader, o feed.Options) (iter.Seq2[feed.Record, error], func() feed.Input) {
	if strings.HasPrefix(filepath.Base(name), "sitemap-") {
		d := NewSitemapDecoder(r, o)
		return d.Records(), d.Input
	}
	d := NewDecoder(r, o)
	return d.Records(), d.Input
}

// describe decodes a feed in both modes.
func describe(t *testing.T, name string, raw []byte) (v vector) {
	for _, strict := range []bool{false, true} {
		discarded, problems := []report{}, []report{}
		records, input := decode(name, bytes.NewReader(raw), feed.Options{Strict: strict, Report: func(f feed.Violation) {
			if f.Text == "" || strings.Contains(f.Text, "{") {
				t.Errorf("%s: %q", f.Code, f.Text)
			}
			switch {
			case f.Discarded:
				discarded = append(discarded, report{f.Record, f.Tag(), f.URL})
			case f.Record == 0:
				problems = append(problems, report{f.Line, f.Tag(), ""})
			}
		}})
		list := []entry{}
		rejected := ""
		for r, err := range records {
			var reject *feed.RejectError
			if errors.As(err, &reject) {
				rejected = reject.Code
			} else if err != nil {
				t.Fatal(err)
			} else {
				list = append(list, entryOf(r))
			}
		}
		if strict {
			v.Strict = discarded
			for _, e := range list {
				if !slices.ContainsFunc(v.Records, func(r entry) bool { return reflect.DeepEqual(r, e) }) {
					t.Errorf("only in strict mode: %+v", e)
				}
			}
			continue
		}
		in := input()
		v.Input.Gzip, v.Input.Charset, v.Input.Declared = in.Gzip, in.Charset, in.Declared
		v.Records, v.Tolerant, v.Problems, v.Rejected = list, discarded, problems, rejected
	}
	return v
}

func entryOf(r feed.Record) entry {
	e := entry{Line: r.Line, URL: r.URL, Title: r.Title, Author: r.Author, Modified: r.LastModified, Size: r.Size, Type: r.ContentType, Fields: [][2]string{}, Warnings: r.Warnings}
	for _, f := range r.Fields {
		e.Fields = append(e.Fields, [2]string{f.Name, f.Value})
	}
	return e
}

func TestVectors(t *testing.T) {
	names, err := filepath.Glob(folder + "*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".expected.json") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var want vector
			expected, err := os.ReadFile(name + ".expected.json")
			if err != nil {
				t.Fatal(err)
			}
			strict := json.NewDecoder(bytes.NewReader(expected))
			strict.DisallowUnknownFields()
			if err := strict.Decode(&want); err != nil || want.About == "" {
				t.Fatalf("what is expected: %v, about %q", err, want.About)
			}
			got := describe(t, name, raw)
			if got.About = want.About; !reflect.DeepEqual(got, want) {
				out, _ := json.MarshalIndent(got, "", " ")
				t.Errorf("%s", out)
			}
		})
	}
}
