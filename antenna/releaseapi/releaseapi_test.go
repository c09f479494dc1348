package releaseapi

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"braid/antenna/feed"
)

// read returns the records of a document, and the code of its rejection.
func read(r io.Reader, o feed.Options) (list []feed.Record, code string) {
	for r, err := range NewDecoder(r, o).Records() {
		if reject, is := errors.AsType[*feed.RejectError](err); is {
			return list, reject.Code
		} else if err != nil {
			return list, err.Error()
		}
		list = append(list, r)
	}
	return list, ""
}

const (
	one  = `{"tag_name":"v1","html_url":"https://h.example/1"}`
	file = `{"browser_download_url":"https://h.example/a","state":"uploaded"}`
)

// withAssets returns a release with a file many times.
func withAssets(tag string, n int) string {
	return `{"tag_name":"` + tag + `","assets":[` + strings.Repeat(file+",", n-1) + file + `]}`
}

// TestLimits_Rule52_Rule79 checks the limits of rules 52 and 79.
func TestLimits_Rule52_Rule79(t *testing.T) {
	two := feed.Options{Limits: feed.Limits{Entries: 2}}
	long := strings.Repeat("x", feed.MaxURL)
	for _, tt := range []struct {
		name, text string
		o          feed.Options
		records    int
		want       string
	}{
		{"as many releases as may be", "[" + one + "," + one + "]", two, 2, ""},
		{"one more", "[" + one + "," + one + "," + one + "]", two, 2, "too-many-entries"},
		{"as many files", withAssets("v1", 2), two, 2, ""},
		{"one more file", withAssets("v1", 3), two, 0, "too-many-entries"},
		{"bad tags", `[{"tag_name":"a b"},{"tag_name":""},{"tag_name":"c d"}]`, two, 0, "too-many-entries"},
		{"octets", "[" + one + "]", feed.Options{Limits: feed.Limits{Bytes: 20}}, 0, "too-large"},
		{"many files", withAssets("v1", 5000), feed.Options{}, 5000, ""},
		{"too many files", "[" + withAssets("v1", 9000) + "," + one + "]", feed.Options{}, 1, ""},
		// the tag is too far behind
		{"notes", `{"body":"` + strings.Repeat("x", 3<<20) + `",` + one[1:], feed.Options{}, 0, codeForeign.Name},
		{"notes behind the tag", `{"tag_name":"v1","body":"` + strings.Repeat("x", 3<<20) +
			`","html_url":"https://h.example/1"}`, feed.Options{}, 1, ""},
		{"a piece", `{"tag_name":"v1","body":"` + strings.Repeat("x", 5<<20), feed.Options{}, 0, "line-too-long"},
		{"deep", `[` + one + `,{"x":` + strings.Repeat("[", 100), feed.Options{}, 1, "nested-too-deep"},
		{"a URL", `{"tag_name":"v1","html_url":"https://h/` + long[len("https://h/"):] + `"}`, feed.Options{}, 1, ""},
		{"a longer one", `{"tag_name":"v1","html_url":"https://h/` + long + `"}`, feed.Options{}, 0, ""},
		{"a tag", `{"tag_name":"` + long[:maxTag] + `","html_url":"https://h/"}`, feed.Options{}, 1, ""},
		{"a longer tag", `{"tag_name":"` + long[:maxTag+1] + `","html_url":"https://h/"}`, feed.Options{}, 0, ""},
		{"nothing", "", feed.Options{}, 0, codeForeign.Name}, {"no object", "7", feed.Options{}, 0, codeForeign.Name},
		{"a feed", `{"version":"https://jsonfeed.org/version/1","items":[]}`, feed.Options{}, 0, codeForeign.Name},
		{"broken", `[` + one + `,}`, feed.Options{}, 1, "not-well-formed"},
		{"more behind it", one + "{", feed.Options{}, 1, "not-well-formed"},
	} {
		if list, code := read(strings.NewReader(tt.text), tt.o); len(list) != tt.records || code != tt.want {
			t.Errorf("%s: %d records, %q; want %d, %q", tt.name, len(list), code, tt.records, tt.want)
		}
	}
}

func TestTag_Rule79(t *testing.T) {
	for tag, want := range map[string]string{
		"v1": "v1", " v1 ": "v1", "release/1.0+b": "release/1.0+b", "ü": "ü", "": "", `a b`: "", `a\tb`: "",
		`a\u0000`: "", `a\u007f`: "", `a\u0085b`: "", `a\u00a0b`: "",
	} {
		list, code := read(strings.NewReader(`{"tag_name":"`+tag+`","html_url":"https://h/"}`), feed.Options{})
		got := ""
		if len(list) > 0 {
			got = list[0].Tag
		}
		if got != want || code != "" {
			t.Errorf("%q: %q, %s; want %q", tag, got, code, want)
		}
	}
}

// TestStops checks that the user's wish and a failed transfer end the reading.
func TestStops(t *testing.T) {
	ends := errors.New("enough")
	n := 0
	list, code := read(strings.NewReader("["+one+","+one+"]"), feed.Options{Stop: func() error {
		if n++; n == 2 {
			return ends
		}
		return nil
	}})
	if code != ends.Error() || len(list) != 1 {
		t.Errorf("%d records, %q", len(list), code)
	}
	text := "[" + one + "," + strings.Repeat(" ", headSize) + one
	if list, code := read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(ends)),
		feed.Options{}); code != ends.Error() || len(list) != 2 {
		t.Errorf("torn: %d records, %q", len(list), code)
	}
}

// TestTable checks that the rows are complete.
func TestTable(t *testing.T) {
	for _, s := range shapes {
		if s.Name == "" || len(s.Known) == 0 || len(s.Lists) == 0 {
			t.Errorf("%+v", s)
		}
		for _, l := range s.Lists {
			if l.Tag == "" || len(l.Assets) == 0 || (l.Tag == "*") != strings.HasSuffix(l.Each, ".*") {
				t.Errorf("%s: %+v", s.Name, l)
			}
			for _, a := range l.Assets {
				if len(a.URL) == 0 {
					t.Errorf("%s: %+v", s.Name, a)
				}
			}
		}
	}
	for _, table := range []string{`[{"known":1}]`, `[{"unknown":[]}]`, ``} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", table)
				}
			}()
			readShapes([]byte(table))
		}()
	}
}

// A generated document is made while it is read.
type generated struct {
	releases, n int
	rest        string
	size        int64
}

func (g *generated) Read(p []byte) (int, error) {
	if g.rest == "" {
		switch {
		case g.n == g.releases:
			g.rest = "]"
		case g.n > g.releases:
			return 0, io.EOF
		default:
			open := map[bool]string{true: "[", false: ","}[g.n == 0]
			g.rest = fmt.Sprintf(open+`{"tag_name":"v%d","body":"%s","assets":[`+file+`]}`+"\n", g.n,
				strings.Repeat("note ", 100))
		}
		g.n++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	g.size += int64(n)
	return n, nil
}

// TestMemory_Rule52 checks that the memory in use does not grow with the document.
func TestMemory_Rule52(t *testing.T) {
	const releases = 50_000
	in := &generated{releases: releases}
	var start, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&start)
	n, most := 0, uint64(0)
	d := NewDecoder(in, feed.Options{})
	for r, err := range d.Records() {
		if err != nil || r.Tag != fmt.Sprintf("v%d", n) {
			t.Fatal(r, err)
		}
		if n++; n%(releases/10) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	runtime.KeepAlive(d)
	if grown := int64(most) - int64(start.HeapAlloc); n != releases || grown > 2<<20 {
		t.Errorf("%d releases in %d MiB kept %d KiB", n, in.size>>20, grown>>10)
	}
}

// FuzzDecode: whatever a document has, tags and URLs are within their limits, and records do not depend on how it arrives.
func FuzzDecode_Rule79(f *testing.F) {
	f.Add(`[{"tag_name":"v1","draft":false,"assets":[`+file+
		`],"html_url":"https://h/"},{"tag_name":"v2","assets":{"links":[{"url":"/b"}]}}]`, false)
	f.Add(`{"info":{"version":"1"},"releases":{"1":[{"url":"https://h/a","yanked":false}]},"urls":[{"url":"https://h/a"}]}`, true)
	f.Add(`{"crate":{"max_version":"1"},"versions":[{"num":"1","dl_path":"/a","crate_size":3}]}`, false)
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		o := feed.Options{Strict: strict, Base: "https://h.example/api"}
		list, code := read(strings.NewReader(text), o)
		for _, r := range list {
			if !isTag(r.Tag) || r.Tag == "" || !feed.IsWeb(r.URL) || len(r.URL) > feed.MaxURL || r.Size < 0 ||
				r.Format != feed.ReleaseAPI ||
				strings.ContainsFunc(r.Title, func(c rune) bool { return c < ' ' }) {
				t.Errorf("%+v", r)
			}
		}
		again, other := read(iotest.OneByteReader(strings.NewReader(text)), o)
		if other != code || !reflect.DeepEqual(again, list) {
			t.Errorf("byte by byte: %+v, %q; want %+v, %q", again, other, list, code)
		}
	})
}
