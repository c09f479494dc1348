package soif

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// records decodes text up to its first error.
func records(text string, o feed.Options) (list []feed.Record, err error) {
	for r, err := range NewDecoder(strings.NewReader(text), o).Records() {
		if err != nil {
			return list, err
		}
		list = append(list, r)
	}
	return list, nil
}

func TestRecord(t *testing.T) {
	got, err := records("@DOCUMENT { http://h.example/\nupdate-time{3}:\t100\nTime-to-Live{2}:\t50\nLast-Modification-Time{2}:\t90\n"+
		"File-Size{2}:\t12\nMD5{32}:\t5D41402ABC4B2A76B9719D911017C592\nType{9}:\ttext/html\nTitle{14}:\tTwo\r\n lines \xff\n\n"+
		"Author-2{3}:\tKei\nAuthor-1{6}:\tAnn\nBo\nKeywords{10}:\ta, b,,\nc "+
		"d\nGatherer-Name{1}:\tG\nGatherer-Host{9}:\tg.example\nGatherer-Port{4}:\t8500\n"+
		"Icon{2}:\t\x00\xff\n}\n", feed.Options{})
	want := feed.Record{
		Format: feed.SOIF, Line: 1, URL: "http://h.example/",
		Title: `Two lines \xFF`, Author: "Ann, Bo, Kei", ContentType: "text/html", Keywords: []string{"a", "b", "c d"},
		LastModified: 90, Detected: 100, Expires: 150, Size: 12, MD5: "5d41402abc4b2a76b9719d911017c592",
		Agent: "G", AgentURL: "g.example:8500",
		Fields: []feed.Field{
			{Name: "@", Value: "DOCUMENT"}, {Name: "update-time", Value: "100"}, {Name: "Time-to-Live", Value: "50"},
			{Name: "Last-Modification-Time", Value: "90"}, {Name: "File-Size", Value: "12"},
			{Name: "MD5", Value: "5D41402ABC4B2A76B9719D911017C592"}, {Name: "Type", Value: "text/html"},
			{Name: "Title", Value: "Two\r\n lines \xff\n"}, {Name: "Author-2", Value: "Kei"},
			{Name: "Author-1", Value: "Ann\nBo"},
			{Name: "Keywords", Value: "a, b,,\nc d"}, {Name: "Gatherer-Name", Value: "G"},
			{Name: "Gatherer-Host", Value: "g.example"},
			{Name: "Gatherer-Port", Value: "8500"}, {Name: "Icon", Value: "\x00\xff"},
		},
	}
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, want)
	}
}

// TestRecordOfLittle checks that unknown values are zero in the record, that a type of Harvest is not taken for a media
// type, and that contradictory values are ignored.
func TestRecordOfLittle(t *testing.T) {
	got, err := records("@A { http://h.example/\nType{4}:\tHTML\nTime-to-Live{1}:\t9\nFile-Size{1}:\t1\nFile-Size{1}:\t2\nGatherer-Port{1}:\t1\n}\n", feed.Options{})
	want := feed.Record{
		Format: feed.SOIF, Line: 1, URL: "http://h.example/", Warnings: []string{"contradictory-values:File-Size"},
		Fields: []feed.Field{{Name: "@", Value: "A"}, {Name: "Type", Value: "HTML"}, {Name: "Time-to-Live", Value: "9"},
			{Name: "File-Size", Value: "1"}, {Name: "File-Size", Value: "2"}, {Name: "Gatherer-Port", Value: "1"}},
	}
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, want)
	}
}

// TestDecodeRecords checks which objects become records, and that limits, mode and Report are passed on.
func TestDecodeRecords(t *testing.T) {
	const text = "@DELETE {\n@A { u://h/1\n}\n}\n@REFRESH {\n@A { u://h/2\n}\n}\n@UPDATE {\n@A { u://h/3\n}\n}\n@A { " +
		"-\n}\n@A { u://h/4\nE<1>{0}:\t\n}\n"
	for _, tt := range []struct {
		name string
		o    feed.Options
		urls []string
		tags []string
		err  bool
	}{
		{"tolerant", feed.Options{}, []string{"u://h/2", "u://h/3", "u://h/4"},
			[]string{"wrapper", "wrapper", "wrapper", "brackets-in-name:E<1>"}, false},
		{"strict", feed.Options{Strict: true}, []string{"u://h/2", "u://h/3"},
			[]string{"wrapper", "wrapper", "wrapper", "brackets-in-name:E<1>", "brackets-in-name:E<1>"}, false},
		{"limited", feed.Options{Limits: feed.Limits{Entries: 2}}, []string{"u://h/2"}, []string{"wrapper", "wrapper",
			"wrapper"}, true},
	} {
		var urls, tags []string
		o := tt.o
		o.Report = func(v feed.Violation) {
			if tags = append(tags, v.Tag()); v.Text == "" || v.Line == 0 {
				t.Errorf("%s: %+v", tt.name, v)
			}
		}
		list, err := records(text, o)
		for _, r := range list {
			urls = append(urls, r.URL)
		}
		if !slices.Equal(urls, tt.urls) || !slices.Equal(tags, tt.tags) || (err != nil) != tt.err {
			t.Errorf("%s: %q, %q, %v", tt.name, urls, tags, err)
		}
		if again, _ := records(text, tt.o); len(again) != len(list) {
			t.Errorf("%s: %d records when nobody listens", tt.name, len(again))
		}
	}
}

// TestDecoder checks that an iteration can be ended and resumed, and that the error at the end is returned once.
func TestDecoder(t *testing.T) {
	d := NewDecoder(strings.NewReader("@A { u://h/1 }@A { u://h/2 }@A { u://h/3 }@A {"), feed.Options{})
	var urls []string
	for r := range d.Records() {
		urls = append(urls, r.URL)
		break
	}
	for o := range d.objects() {
		urls = append(urls, o.URL)
		break
	}
	failures := 0
	for range 2 {
		for r, err := range d.Records() {
			if urls = append(urls, r.URL); err != nil {
				failures++
			}
		}
	}
	if want := []string{"u://h/1", "u://h/2", "u://h/3", ""}; !slices.Equal(urls, want) || failures != 1 {
		t.Errorf("%q, %d failures", urls, failures)
	}
}

func TestInput(t *testing.T) {
	const object, head = "@A { u://h/ }", "Content-Type: application/x-soif; charset=x-sjis\n\n"
	for _, tt := range []struct {
		text string
		want feed.Input
	}{
		{object, feed.Input{Charset: "utf-8"}},
		{compress(t, object), feed.Input{Charset: "utf-8", Gzip: true}},
		{compress(t, head+object), feed.Input{Charset: "cp932", Declared: "x-sjis", Gzip: true}},
	} {
		d := NewDecoder(strings.NewReader(tt.text), feed.Options{})
		for _, err := range d.Records() {
			if got := d.Input(); err != nil || got != tt.want {
				t.Errorf("%+v, %v, want %+v", got, err, tt.want)
			}
		}
	}
}

// TestCharset_Rule55 checks that text is decoded from the charset of the MIME entity or from UTF-8, and that other
// bytes are escaped (rule 55).
func TestCharset_Rule55(t *testing.T) {
	const eucjp, utf8 = "\xc6\xfc\xcb\xdc", "日本"
	written := func(title string) string {
		o := object{Type: "A", URL: "u://h/"}
		o.add("Title", title)
		b, _ := o.append(nil)
		return string(b)
	}
	for _, tt := range []struct{ head, title, want string }{
		{"", utf8, utf8},
		{"", eucjp, `\xC6\xFC\xCB\xDC`},
		{"Content-Type: application/x-soif; charset=EUC-JP\n\n", eucjp, utf8},
		{"Content-Type: application/x-soif; charset=\"utf-8\"\n\n", utf8, utf8},
		{"Content-Type: application/x-soif; charset=klingon\n\n", "a " + eucjp, `a \xC6\xFC\xCB\xDC`},
		{"Content-Type: application/x-soif; charset=us-ascii\n\n", utf8, `\xE6\x97\xA5\xE6\x9C\xAC`},
		{"Content-Type: application/x-soif; charset=klingon\n\n", utf8, `\xE6\x97\xA5\xE6\x9C\xAC`},
		{"Content-Type: application/x-soif; charset=iso-2022-jp\n\n", "\x1b$BF|K\\\x1b(B", utf8},
		{"Content-Type: application/x-soif; charset=iso-2022-jp\n\n", "a \x1b$B\xff\x1b(B", `a \x1B$B\xFF\x1B(B`},
		{"Content-Type: application/index.obj; type=harvest-soif-1; charset=Shift_JIS\n\n", "\x93\xfa\x96\x7b", utf8},
	} {
		got, err := records(tt.head+written(tt.title), feed.Options{})
		if err != nil || len(got) != 1 || got[0].Title != tt.want || got[0].Fields[1].Value != tt.title {
			t.Errorf("%q %q: %+v, %v", tt.head, tt.title, got, err)
		}
	}
}

// TestFromRecord checks that a record of SOIF becomes the same object again, and that a record of another format
// becomes an object with its values.
func TestFromRecord(t *testing.T) {
	const text = "@DOCUMENT { http://h.example/\nTitle{2}:\t\x00\xff\nTitle{0}:\t\nMD5{1}:\tx\n}\n@A { news:x.y\n}\n"
	list, err := records(text, feed.Options{})
	var b []byte
	for _, r := range list {
		o, ok := fromRecord(r)
		if b, err = o.append(b); err != nil || !ok {
			t.Fatalf("%+v: %v", r, err)
		}
	}
	if err != nil || string(b) != text {
		t.Errorf("%v: %q, want %q", err, b, text)
	}
	own := feed.Record{
		URL: "http://h.example/", Title: "朝顔", Author: "Mori", ContentType: "text/html", Keywords: []string{"a b", "c"},
		LastModified: 90, Detected: 100, Expires: 150, Size: 12, MD5: "5d41402abc4b2a76b9719d911017c592",
		Agent: "braid/1", AgentURL: "https://antenna.example:8443/a/",
	}
	o, ok := fromRecord(own)
	if b, err = o.append(nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	list, err = records(string(b), feed.Options{Strict: true, Report: func(v feed.Violation) { t.Errorf("%+v", v) }})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	own.Format, own.Line, own.AgentURL, own.Fields = feed.SOIF, 1, "antenna.example:8443", list[0].Fields
	if !reflect.DeepEqual(list[0], own) {
		t.Errorf("%+v, want\n%+v", list[0], own)
	}
	for _, r := range []feed.Record{{URL: "u://h/", Failed: true}, {URL: "u://h/", Virtual: "u://h/x"}} {
		if o, ok := fromRecord(r); ok {
			t.Errorf("%+v became %+v", r, o)
		}
	}
	if o, _ := fromRecord(feed.Record{URL: "u://h/", Expires: 10}); len(o.Attributes) > 0 {
		t.Errorf("of nothing came %+v", o)
	}
}
