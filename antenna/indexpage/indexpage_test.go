package indexpage

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

const base = "https://example.org/pub/"

// read returns the records of a page, and the code of its rejection.
func read(r io.Reader, o feed.Options) (list []feed.Record, code string) {
	if o.Base == "" {
		o.Base = base
	}
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

// TestLimits_Rule52 checks the limits of rule 52, for both kinds of pages.
func TestLimits_Rule52(t *testing.T) {
	two := feed.Options{Limits: feed.Limits{Entries: 2}}
	long := strings.Repeat("x", feed.MaxURL)
	for _, tt := range []struct {
		name, text string
		o          feed.Options
		records    int
		want       string
	}{
		{"as many files as may be", "<a href=a><a href=b>", two, 2, ""},
		{"one more", "<a href=a><a href=b><a href=c>", two, 2, "too-many-entries"},
		{"other links", strings.Repeat("<a href=..>", 9) + "<a href=a>", two, 1, ""},
		{"octets", "<a href=a></tr><a href=b>", feed.Options{Limits: feed.Limits{Bytes: 20}}, 0, "too-large"},
		{"a tag", "<a href=a></tr><a href=b x='" + strings.Repeat("x", maxToken), feed.Options{}, 1, codeLargeText.Name},
		{"a text", "<a href=a></tr>" + strings.Repeat("x", maxToken), feed.Options{}, 1, codeLargeText.Name},
		{"a script", "<a href=a></tr><script>" + strings.Repeat("<a href=b>\n", maxToken/10), feed.Options{}, 1,
			codeLargeText.Name},
		{"a URL", "<a href=" + long[len(base):] + "><a href=" + long + ">", feed.Options{}, 1, ""},
		{"without its URL", "<a href=a>", feed.Options{Base: "/pub/"}, 0, codeNoBase.Name},
		{"JSON", `[{"name":"a"},{"name":"b"}]`, two, 2, ""},
		{"JSON, one more", `[{"name":"a"},{"name":"b"},{"name":"c"}]`, two, 2, "too-many-entries"},
		{"JSON, nameless", `[{},{},{}]`, two, 0, "too-many-entries"},
		{"JSON, a URL", `[{"name":"` + long + `"}]`, feed.Options{}, 0, ""},
		{"JSON, a piece", `[{"name":"a"},{"name":"` + strings.Repeat("x", 5<<20), feed.Options{}, 1, "line-too-long"},
		{"JSON, deep", `[{"name":"a"},{"x":` + strings.Repeat("[", 100), feed.Options{}, 1, "nested-too-deep"},
		{"JSON, an array in it", `[{"name":"a"},[]]`, feed.Options{}, 1, codeForeign.Name},
		{"JSON, more behind it", `[{"name":"a"}]]`, feed.Options{}, 1, "not-well-formed"},
		{"nothing", "", feed.Options{}, 0, ""},
	} {
		if list, code := read(strings.NewReader(tt.text), tt.o); len(list) != tt.records || code != tt.want {
			t.Errorf("%s: %d records, %q; want %d, %q", tt.name, len(list), code, tt.records, tt.want)
		}
	}
}

// TestStops checks that the user's wish and a failed transfer end the reading.
func TestStops(t *testing.T) {
	ends := errors.New("enough")
	for _, text := range []string{"<a href=a></tr><a href=b></tr>", `[{"name":"a"},{"name":"b"}]`} {
		n := 0
		_, code := read(strings.NewReader(text), feed.Options{Stop: func() error {
			if n++; n == 2 {
				return ends
			}
			return nil
		}})
		if code != ends.Error() {
			t.Errorf("%s: %q", text, code)
		}
		torn := io.MultiReader(strings.NewReader(text[:len(text)-1]), iotest.ErrReader(ends))
		if _, code := read(torn, feed.Options{}); code != ends.Error() {
			t.Errorf("%s, torn: %q", text, code)
		}
	}
}

// TestEnd checks that the end of a page is known where the page says that it is one.
func TestEnd(t *testing.T) {
	for text, want := range map[string]feed.End{
		"<html><a href=a></html>": feed.Whole, "<html><a href=a>": feed.Open, "<html><a href=a></ht": feed.Open,
		"<pre><a href=a></pre>": feed.Whole,
		`[{"name":"a"}]`:        feed.Whole, "": feed.Whole,
	} {
		d := NewDecoder(strings.NewReader(text), feed.Options{Base: base})
		for range d.Records() {
		}
		if got := d.Input().End; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestColumns reads dates and sizes beside links.
func TestColumns(t *testing.T) {
	for _, tt := range []struct {
		after string
		at    string
		size  int64
	}{
		{"</a> 01-Oct-2026 12:00  9", "2026-10-01 12:00:00 UTC", 9}, {"</a>  1-Oct-2026 12:00:59 9 B",
			"2026-10-01 12:00:59 UTC", 9},
		{"</a> 2026-10-01 12:00 9 bytes", "2026-10-01 12:00:00 UTC", 9}, {"</a> 2026-Oct-01 12:00", "2026-10-01 12:00:00 UTC", 0},
		{"</a> 2026-10-01T12:00:00 -", "2026-10-01 12:00:00 UTC", 0}, {"</a> 2026-10-01 12:00 9K", "2026-10-01 12:00:00 UTC", 0},
		{"</a> 2026-10-01 12:00 9.5K", "2026-10-01 12:00:00 UTC", 0}, {"</a> 2026-10-01 12:00 9 KiB",
			"2026-10-01 12:00:00 UTC", 0},
		{"</a> 2026-10-01 12:00 9 Kittens", "2026-10-01 12:00:00 UTC", 9},
		{"</a> 2026-10-01 12:00 " + strings.Repeat("9", 19), "2026-10-01 12:00:00 UTC", 0},
		{"</a><td>2026-10-01 12:00<td>9</td></tr><td>10", "2026-10-01 12:00:00 UTC", 9},
		{"2026-10-01 12:00 9</a>", "unknown", 0}, {"</a> 9", "unknown", 0}, {"</a> version-2026-10-01 12:00 9", "unknown", 0},
		{"</a> 2026-02-30 12:00 9", "unknown", 0}, {"</a>" + strings.Repeat(" x", maxText) + " 2026-10-01 12:00", "unknown", 0},
		{`</a><td data-order="9">8.9 KiB</td><td><time datetime=" 2026-10-01T14:00:00+02:00">1 Oct`,
			"2026-10-01 12:00:00 UTC", 9},
		{`</a><td data-order="9">nine</td><td><time datetime="2026-10-01T12:00:00Z">1 Oct`, "2026-10-01 12:00:00 UTC", 0},
		{`</a><td data-order="-9">9 B</td><td><time datetime="2026-10-01T12:00:00Z">1 Oct`, "2026-10-01 12:00:00 UTC", 9},
		{`</a><time datetime="soon">1 Oct</time> 2026-10-01 12:00`, "unknown", 0},
	} {
		list, code := read(strings.NewReader("<a href=a>a"+tt.after), feed.Options{})
		if len(list) != 1 || code != "" || list[0].LastModified.String() != tt.at || list[0].Size != tt.size {
			t.Errorf("%.80s: %+v, %s; want %s, %d", tt.after, list, code, tt.at, tt.size)
		}
	}
}

// A generated page is made while it is read.
type generated struct {
	next func(i int) string
	n    int
	rest string
	size int64
}

func (g *generated) Read(p []byte) (int, error) {
	if g.rest == "" {
		g.rest = g.next(g.n)
		if g.n++; g.rest == "" {
			return 0, io.EOF
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	g.size += int64(n)
	return n, nil
}

// TestMemory checks that the memory in use does not grow with the page.
func TestMemory_Rule52(t *testing.T) {
	const files = 50_000
	for name, next := range map[string]func(int) string{
		"page": func(i int) string {
			return fmt.Sprintf("<a href=\"disk-%d.iso\">disk-%d.iso</a> 2026-10-01 12:00 9\n", i, i)
		},
		"JSON": func(i int) string {
			open := map[bool]string{true: "[", false: ","}[i == 0]
			return fmt.Sprintf(`%s{"name":"disk-%d.iso","type":"file","mtime":"Thu, 01 Oct 2026 12:00:00 GMT","size":9}`+"\n", open, i)
		},
	} {
		in := &generated{next: func(i int) string {
			switch {
			case i < files:
				return next(i)
			case i == files && name == "JSON":
				return "]"
			}
			return ""
		}}
		var start, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&start)
		n, most := 0, uint64(0)
		d := NewDecoder(in, feed.Options{Base: base})
		for r, err := range d.Records() {
			if err != nil || r.Size != 9 {
				t.Fatal(r, err)
			}
			if n++; n%(files/10) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
		runtime.KeepAlive(d)
		if n != files {
			t.Errorf("%s: %d records", name, n)
		}
		if grown := int64(most) - int64(start.HeapAlloc); grown > 2<<20 {
			t.Errorf("%s: %d MiB kept %d KiB", name, in.size>>20, grown>>10)
		}
	}
}

// FuzzDecode: whatever a page has, its records are below it, and do not depend on how it arrives.
func FuzzDecode_Rule79(f *testing.F) {
	f.Add(`<title>Index of /</title><a href="a.iso">a</a> 2026-10-01 12:00 9<a href="../b"><a href="//example.net/pub/a">`, false)
	f.Add(`[{"name":"a","type":"file","mtime":"","size":1},{"name":"../b"}]`, true)
	f.Add("<a href='https://example.org:443/pub/%2e%2e/x'><meta charset=shift_jis><a href='\x83\x5c'>", false)
	home, _ := feed.Key(base)
	f.Fuzz(func(t *testing.T, text string, strict bool) {
		list, code := read(strings.NewReader(text), feed.Options{Strict: strict})
		for _, r := range list {
			key, ok := feed.Key(r.URL)
			if !ok || !feed.IsWeb(r.URL) || !strings.HasPrefix(key, home) || len(r.URL) > feed.MaxURL ||
				strings.ContainsAny(key[len(home):], "?#\\") ||
				strings.Contains(key+"/", "/../") || r.Size < 0 || r.Format != feed.IndexPage {
				t.Errorf("%+v", r)
			}
		}
		again, other := read(iotest.OneByteReader(strings.NewReader(text)), feed.Options{Strict: strict})
		if other != code || !reflect.DeepEqual(again, list) {
			t.Errorf("byte by byte: %+v, %q; want %+v, %q", again, other, list, code)
		}
	})
}
