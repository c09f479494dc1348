package lirs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// read decodes a feed. It returns the records and each violation as line:tag, with "!" if the record was discarded,
// except for the violation that the feed is not compressed.
func read(text string, o feed.Options) (records []feed.Record, reports []string, d *Decoder, err error) {
	o.Report = func(v feed.Violation) {
		s := fmt.Sprintf("%d:%s", v.Line, v.Tag())
		if v.Discarded {
			s += "!"
		}
		if v.Text == "" || strings.Contains(v.Text, "{") {
			s += " without words"
		}
		if s != "0:not-gzip" {
			reports = append(reports, s)
		}
	}
	d = NewDecoder(strings.NewReader(text), o)
	for r, e := range d.Records() {
		if e != nil {
			return records, reports, d, e
		}
		records = append(records, r)
	}
	return records, reports, d, nil
}

// TestLines decodes one line and compares the violations in tolerant and, if they differ, in strict mode.
func TestLines(t *testing.T) {
	const tail = ",title,author,http://an.example/,\n"
	for _, tt := range []struct{ name, line, tolerant, strict string }{
		{"in order", "LIRS,1,2,+32400,3,http://a.example/" + tail, "", ""},
		{"values that are none", "LIRS,1,2,0,0,http://a.example/,0,0,0,\n", "", ""},
		{"more fields", "LIRS,1,2,0,0,http://a.example/,0,0,0,a,,b,\n", "", ""},
		{"a comment", "#LIRS,1\n", "", ""},
		{"64 bits",
			"LIRS,9223372036854775807,9223372036854775807,-9223372036854775808,9223372036854775807,http://a.example/" +
				tail, "", ""},
		{"escapes", `LIRS,1,2,0,0,http://a.example/,a\,b\\,c,0,` + "\n", "", ""},

		{"no header", "LIR,1,2,0,0,http://a.example/" + tail, "1:no-record-header!", ""},
		{"a blank before", " LIRS,1,2,0,0,http://a.example/" + tail, "1:no-record-header!", ""},
		{"7 fields", "LIRS,1,2,0,0,http://a.example/,t,a,\n", "1:too-few-fields!", ""},
		{"3 fields", "LIRS,1,2,0,\n", "1:too-few-fields!", ""},
		{"no fields", "LIRS,\n", "1:too-few-fields!", ""},
		{"6 fields without a length", "LIRS,1,2,0,http://a.example/,t,a,\n",
			"1:content-length-missing 1:too-few-fields!", "1:content-length-missing! 1:too-few-fields"},
		{"a length of letters", "LIRS,1,2,0,x,http://a.example/" + tail, "1:bad-number:content_length!", ""},
		{"a signed time", "LIRS,+1,2,0,0,http://a.example/" + tail, "1:bad-number:last_modified!", ""},
		{"a fraction", "LIRS,1,2.5,0,0,http://a.example/" + tail, "1:bad-number:last_detected!", ""},
		{"two signs", "LIRS,1,2,+-1,0,http://a.example/" + tail, "1:bad-number:timezone!", ""},
		{"a sign alone", "LIRS,1,2,-,0,http://a.example/" + tail, "1:bad-number:timezone!", ""},
		{"more than 64 bits", "LIRS,9223372036854775808,2,0,0,http://a.example/" + tail, "1:bad-number:last_modified!", ""},
		{"full-width digits", "LIRS,１,2,0,0,http://a.example/" + tail, "1:charset-not-euc-jp 1:bad-number:last_modified!", ""},
		{"no URL", "LIRS,1,2,0,0,0" + tail, "1:bad-url!", ""},
		{"an empty URL", "LIRS,1,2,0,0," + tail, "1:empty-field:url 1:bad-url!", "1:empty-field:url! 1:bad-url"},
		{"a path", "LIRS,1,2,0,0,/a" + tail, "1:bad-url!", ""},
		{"a URL with a blank", "LIRS,1,2,0,0,http://a.example/ b" + tail, "1:bad-url!", ""},
		{"a long URL", "LIRS,1,2,0,0,http://a.example/" + strings.Repeat("a", feed.MaxURL) + tail, "1:bad-url!", ""}, // rule 53
		{"a cut line", "LIRS,1,2,0,0,http://a.example/,title,author,http://an.exam", "1:truncated!", ""},
		{"a cut line that ends with an escape", `LIRS,1,2,0,0,http://a.example/,title,author,http://an.example/\,`,
			"1:truncated!", ""},

		{"no comma", "LIRS,1,2,0,0,http://a.example/,t,a,http://an.example/\n", "1:no-trailing-comma", "1:no-trailing-comma!"},
		{"an escaped comma at the end", `LIRS,1,2,0,0,http://a.example/,t,a,http://an.example/\,` + "\n",
			"1:no-trailing-comma", "1:no-trailing-comma!"},
		{"no line end", "LIRS,1,2,0,0,http://a.example/,t,a,http://an.example/,", "1:no-final-line-end", "1:no-final-line-end!"},
		{"no length", "LIRS,1,2,0,http://a.example/,t,a,0,\n", "1:content-length-missing", "1:content-length-missing!"},
		{"empty fields", "LIRS,,,,,http://a.example/,,,,\n",
			"1:empty-field:last_modified 1:empty-field:last_detected 1:empty-field:timezone " +
				"1:empty-field:content_length 1:empty-field:title 1:empty-field:author 1:empty-field:antenna_url",
			"1:empty-field:last_modified! 1:empty-field:last_detected 1:empty-field:timezone " +
				"1:empty-field:content_length 1:empty-field:title 1:empty-field:author 1:empty-field:antenna_url"},
		{"backslashes of who does not escape", `LIRS,1,2,0,0,http://a.example/,a\b,c\d,0,` + "\n",
			"1:bad-escape 1:bad-escape", "1:bad-escape! 1:bad-escape"},
		{"a broken character", "LIRS,1,2,0,0,http://a.example/,\xc4\xab\xff,0,0,\n", "1:undecodable", "1:undecodable!"},

		{"an unescaped comma", "LIRS,1,2,0,0,http://a.example/,Hello, world,author,http://an.example/,\n",
			"1:antenna-url-suspect", ""},
		{"news", "LIRS,1,2,0,0,news:fj.test" + tail, "1:url-not-watchable", ""},
		{"WDB's 1980", "LIRS,1,315532800,0,0,http://a.example/" + tail, "1:time-unknown:last_detected", ""},
		{"modified after it was seen", "LIRS,3,2,0,0,http://a.example/" + tail, "1:modified-after-detected", ""},
	} {
		if tt.strict == "" {
			tt.strict = tt.tolerant
		}
		for strict, want := range map[bool]string{false: tt.tolerant, true: tt.strict} {
			records, got, _, err := read(tt.line, feed.Options{Strict: strict})
			if strings.Join(got, " ") != want || err != nil {
				t.Errorf("%s, strict %v: %q, %v, want %s", tt.name, strict, got, err, want)
			}
			if kept := len(records) > 0; kept != (!strings.Contains(want, "!") && tt.line[0] == 'L') {
				t.Errorf("%s, strict %v: kept %v", tt.name, strict, kept)
			}
		}
	}
}

func TestRecord(t *testing.T) {
	records, _, _, err := read(`LIRS,5,0,-18000,12,http://a.example/b\,c,a\,b\\,raw \ and \x,news:x,,e\,x,`+"\n"+
		"LIRS,0,315532800,0,0,http://b.example/,t, a ,0,\n", feed.Options{})
	if err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	r := records[0]
	if r.URL != "http://a.example/b,c" || r.Title != `a,b\` || r.Author != `raw \ and \x` || r.AgentURL != "news:x" {
		t.Errorf("%+v", r)
	}
	if r.LastModified != 5 || r.Detected != 0 || r.Zone != -18000 || r.Size != 12 || r.Failed || r.Line != 1 ||
		r.Format != feed.LIRS {
		t.Errorf("%+v", r)
	}
	if want := []feed.Field{{Value: ""}, {Value: "e,x"}}; !slices.Equal(r.Fields, want) {
		t.Errorf("%q", r.Fields)
	}
	if want := []string{"bad-escape"}; !slices.Equal(r.Warnings, want) {
		t.Errorf("%q", r.Warnings)
	}
	if r := records[1]; !r.Failed || r.Author != " a " || r.Line != 2 {
		t.Errorf("%+v", r)
	}
}

// TestShiftJIS checks that text is decoded before it is split into fields, because the second byte of 表 and of ソ is a
// backslash.
func TestShiftJIS(t *testing.T) {
	const line = "LIRS,1,2,0,0,http://a.example/,\x95\\,\x83\\\x83t\x83g\x94\xd4\x8d\x86,0,\n"
	records, got, d, _ := read(line, feed.Options{})
	if len(records) != 1 || records[0].Title != "表" || records[0].Author != "ソフト番号" || d.Input().Charset != "cp932" {
		t.Errorf("%+v, %+v", records, d.Input())
	}
	if strings.Join(got, " ") != "1:charset-not-euc-jp" {
		t.Errorf("%q", got)
	}
}

func TestFeeds(t *testing.T) {
	const line = "LIRS,1,2,0,0,http://a.example/,t,a,0,"
	for _, tt := range []struct {
		name, text, reports string
		n                   int
	}{
		{"nothing", "", "", 0},
		{"comments and blank lines", "#\n\n" + line + "\n\r\n", "2:blank-line 4:line-endings-mixed 4:blank-line", 1},
		{"CRLF", line + "\r\n" + line + "\r\n", "", 2},
		{"CR", line + "\r" + line + "\r", "1:line-endings-cr", 2},
		{"a mark", "\xEF\xBB\xBF" + line + "\n", "1:byte-order-mark", 1},
		{"a page", "<html>\n</html>\n", "1:no-record-header! 2:no-record-header!", 0},
	} {
		records, got, _, err := read(tt.text, feed.Options{})
		if len(records) != tt.n || strings.Join(got, " ") != tt.reports || err != nil {
			t.Errorf("%s: %d records, %q, %v", tt.name, len(records), got, err)
		}
	}
}

// TestLimits_Rule52 checks the limits of rule 52.
func TestLimits_Rule52(t *testing.T) {
	const line = "LIRS,1,2,0,0,http://a.example/,t,a,0,\n"
	records, _, _, err := read("# not counted\n"+strings.Repeat(line, 3), feed.Options{Limits: feed.Limits{Entries: 3}})
	if len(records) != 3 || err != nil {
		t.Errorf("%d records, %v", len(records), err)
	}
	records, _, _, err = read("bad\n"+strings.Repeat(line, 3), feed.Options{Limits: feed.Limits{Entries: 3}})
	var reject *feed.RejectError
	if len(records) != 2 || !errors.As(err, &reject) || reject.Code != "too-many-entries" || reject.Line != 4 {
		t.Errorf("%d records, %v", len(records), err)
	}
	records, _, _, err = read(line+"LIRS,"+strings.Repeat(",", 64<<10)+"\n", feed.Options{})
	if len(records) != 1 || !errors.As(err, &reject) || reject.Code != "line-too-long" {
		t.Errorf("%d records, %v", len(records), err)
	}
	// A line of commas is one record with very many fields.
	records, _, _, err = read("LIRS,1,2,0,0,http://a.example/,0,0,0,"+strings.Repeat(",", 60<<10)+"\n", feed.Options{})
	if len(records) != 1 || len(records[0].Fields) != 60<<10 || err != nil {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestTooFewFields_Rule55 checks that a record with too few fields is skipped and that the records before and after it
// are read (rule 55).
func TestTooFewFields_Rule55(t *testing.T) {
	const good = "LIRS,1111111111,1111111112,32400,10,http://a.example/,t,a,http://b.example/,\n"
	records, reports, _, err := read(good+"LIRS,1111111111,1111111112,32400,10,http://c.example/,t,\n"+good, feed.Options{})
	if err != nil || len(records) != 2 || !strings.Contains(strings.Join(reports, " "), codeTooFew.Name) {
		t.Errorf("%d records, %q, %v", len(records), reports, err)
	}
}
