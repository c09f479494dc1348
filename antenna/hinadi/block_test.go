package hinadi

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

const head = "HINA/2.2beta\r\nUser-Agent: a\r\n\r\n"

// read decodes a feed. It returns the records and each violation as line:tag, with "!" if the record was discarded.
func read(text string, o feed.Options) (records []feed.Record, reports []string, d *Decoder, err error) {
	o.Report = func(v feed.Violation) {
		s := fmt.Sprintf("%d:%s", v.Line, v.Tag())
		if v.Discarded {
			s += "!"
		}
		if v.Text == "" || v.Text == v.Code || strings.Contains(v.Text, "{") {
			s += " without words"
		}
		reports = append(reports, s)
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

// TestBlocks decodes one block after a header of three lines, and compares the violations in tolerant and in strict
// mode.
func TestBlocks(t *testing.T) {
	const url = "URL: http://a.example/\r\n"
	for _, tt := range []struct {
		name, block      string
		tolerant, strict string
	}{
		{"in order", url + "Title: a b\tc\r\n\r\n", "", ""},
		{"a tab after the colon", "URL:\t\thttp://a.example/\r\n\r\n", "", ""},
		{"every field", url + "HINA-Version: HINA/2.2\r\nVirtual: http://v/\r\nContent-Type: image/png\r\nDate: Tue, 10 " +
			"Nov 2026 03:00:00 GMT\r\n" +
			"Server: x\r\nMethod: REMOTE/ GET/\t200\r\nKeyword: a,,b\r\nImage-Width: 10\r\nImage-Height: 0\r\nX-A-b: " +
			"c\r\nOther: d\r\n\r\n", "", ""},

		{"a name with an underscore", url + "Last_Modified: x\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"a name with an empty word", url + "X--A: x\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"a name that ends in a hyphen", url + "X-: x\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"a blank before the colon", url + "Title : x\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"a control character", url + "Title: a\x01\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"a delete character", url + "Title: a\x7f\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"a line of blanks", url + " \r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"no name", url + ": x\r\n\r\n", "5:malformed-line!", "5:malformed-line!"},
		{"both spellings of Virtual", url + "Vitural: http://a/\r\nVirtual: http://a/\r\n\r\n",
			"5:vitural-spelling:Virtual 6:duplicate-field:Virtual!", ""},
		{"an undefined field twice", url + "X-A: 1\r\nx-a: 2\r\n\r\n", "6:duplicate-field:x-a!", ""},
		{"an empty field twice", url + "Title:\r\nTitle: a\r\n\r\n", "5:empty-value:Title 6:duplicate-field:Title!",
			"5:empty-value:Title! 6:duplicate-field:Title"},
		{"an empty URL", "URL: \r\nTitle: a\r\n\r\n", "4:empty-value:URL 4:no-url!", "4:empty-value:URL! 4:no-url"},
		{"a URL with a blank", "URL: http://a.example/ \r\n\r\n", "4:bad-url:URL!", ""},
		{"a Virtual without a scheme", url + "Virtual: /a\r\n\r\n", "5:bad-url:Virtual!", ""},
		{"an agent without a scheme", url + "Authorized-url: a\r\n\r\n", "5:bad-url:Authorized-url!", ""},
		// rule 53
		{"a long URL", "URL: http://a.example/" + strings.Repeat("a", feed.MaxURL) + "\r\n\r\n", "4:url-too-long:URL!", ""},
		{"a type without a subtype", url + "Content-Type: text\r\n\r\n", "5:bad-content-type:Content-Type!", ""},
		{"a number", url + "Image-Height: -1\r\n\r\n", "5:bad-number:Image-Height!", ""},
		{"a version", url + "HINA-Version: 2.2\r\n\r\n", "5:bad-version:HINA-Version!", ""},
		{"a version without a number", url + "HINA-Version: HINA/2.\r\n\r\n", "5:bad-version:HINA-Version!", ""},
		{"a method", url + "Method: PUT/200\r\n\r\n", "5:bad-method:Method!", ""},
		{"a method of nothing", url + "Method: GET/\r\n\r\n", "5:method-without-result:Method 5:bad-method:Method!",
			"5:bad-method:Method! 5:bad-method:Method"},
		{"only a result", url + "Method: 200\r\n\r\n", "5:bad-method:Method!", ""},

		{"no blank after the colon", "URL:http://a.example/\r\n\r\n", "4:no-blank-after-colon:URL",
			"4:no-blank-after-colon:URL!"},
		{"WDB's version", url + "HINA-Version: HINA/2.2beta\r\n\r\n", "5:hina-version-beta:HINA-Version",
			"5:bad-version:HINA-Version!"},
		{"an old method", url + "Method: File\r\n\r\n", "5:method-without-result:Method 5:method-word:Method",
			"5:bad-method:Method! 5:bad-method:Method"},
		{"a method of WDB", url + "Method: REMOTE/RSS/-100\r\n\r\n", "5:method-result:Method 5:method-word:Method",
			"5:bad-method:Method! 5:bad-method:Method"},
		{"a word of WDB", url + "Method: REMOTE/RSS/200\r\n\r\n", "5:method-word:Method", "5:bad-method:Method!"},
		{"a negative result of three characters", url + "Method: GET/-10\r\n\r\n", "5:method-result:Method",
			"5:bad-method:Method!"},
		{"a broken character", url + "Title: \xc4\xab\xff\r\n\r\n", "5:undecodable:Title", "5:undecodable:Title!"},
		{"two blank lines", url + "\r\n\r\nURL: http://b.example/\r\n\r\n", "6:extra-blank-line", "6:extra-blank-line"},

		{"the wrong day of the week", url + "Date: Mon, 10 Nov 2026 03:00:00 GMT\r\n\r\n", "5:date-wrong-weekday:Date",
			"5:date-wrong-weekday:Date!"},
		{"1980", url + "Last-Modified: Tue, 01 Jan 1980 00:00:00 GMT\r\n\r\n", "5:date-unknown:Last-Modified",
			"5:date-unknown:Last-Modified"},
		{"two expiries", url + "Expires: Tue, 10 Nov 2026 03:00:00 GMT\r\nExpire: Tue, 10 Nov 2026 02:00:00 " +
			"GMT\r\n\r\n", "6:expires-differ:Expire", "6:expires-differ:Expire"},
		{"an image that is none", url + "Content-Type: text/html\r\nImage-Width: 1\r\n\r\n", "",
			"4:image-size-of-no-image:Content-Type"},
		{"an image of no type", url + "Image-Width: 1\r\n\r\n", "", ""},

		{"a cut line", url + "Title: a", "5:truncated!", "5:truncated!"},
		{"a cut line after a bad one", url + "bad\r\nTitle: a", "6:truncated!", "6:truncated!"},
	} {
		if tt.strict == "" {
			tt.strict = tt.tolerant
		}
		records, got, _, err := read(head+tt.block, feed.Options{})
		if strings.Join(got, " ") != tt.tolerant || err != nil {
			t.Errorf("%s: %q, %v, want %s", tt.name, got, err, tt.tolerant)
		}
		if kept := len(records) > 0; kept == strings.Contains(tt.tolerant, "!") {
			t.Errorf("%s: kept %v", tt.name, kept)
		}
		tolerant := records
		records, got, _, _ = read(head+tt.block, feed.Options{Strict: true})
		want := tt.strict
		if len(records) > 0 && !reflect.DeepEqual(records, tolerant) {
			t.Errorf("%s: %+v in strict mode, else %+v", tt.name, records, tolerant)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s, strict: %q, want %s", tt.name, got, want)
		}
		if kept := len(records) > 0; kept == strings.Contains(want, "!") {
			t.Errorf("%s, strict: kept %v", tt.name, kept)
		}
	}
}

func TestRecord(t *testing.T) {
	records, _, _, err := read("HINA/2.2beta\r\nUser-Agent: a\r\nDate: Tue, 10 Nov 2026 03:00:00 GMT\r\n\r\n"+
		"URL: http://a.example/\r\nX-WDB-Title: t\r\nX-WDB-Author-Name: n\r\nContent-Length: 12\r\nServer: s\r\n"+
		"Expires: Thu, 01 Jan 1970 00:00:00 GMT\r\nExpire: Tue, 10 Nov 2026 02:00:00 GMT\r\nContent-Type: text/html\r\n"+
		"X-Hatena-Last-Modified: Tue, 10 Nov 2026 01:00:00 GMT\r\n\r\n", feed.Options{})
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	r := records[0]
	if r.Format != feed.HinaDI || r.Title != "t" || r.Author != "n" || r.Size != 12 || r.Server != "s" ||
		r.ContentType != "text/html" {
		t.Errorf("%+v", r)
	}
	if r.FeedDate != 1794279600 || r.Expires != 1794276000 || r.LastModified != 0 {
		t.Errorf("%v, %v, %v", r.FeedDate, r.Expires, r.LastModified)
	}
	if at, ok := HatenaModified(r); !ok || at != 1794272400 {
		t.Errorf("Hatena: %v, %v", at, ok)
	}
	for _, value := range []string{"", "yesterday", "Thu, 01 Jan 1970 00:00:00 GMT"} {
		if _, ok := HatenaModified(feed.Record{Fields: []feed.Field{{Name: "X-Hatena-Last-Modified", Value: value}}}); ok {
			t.Errorf("Hatena %q is a time", value)
		}
	}
	for block, want := range map[string]feed.Time{
		"Expires: Tue, 10 Nov 2026 02:00:00 GMT\r\nExpire: Tue, 10 Nov 2026 01:00:00 GMT\r\n": 1794272400, // the earlier
		"Expires: Tue, 10 Nov 2026 01:00:00 GMT\r\nExpire: Tue, 10 Nov 2026 02:00:00 GMT\r\n": 1794272400,
		"Expires: Tue, 10 Nov 2026 01:00:00 GMT\r\nExpire: Thu, 01 Jan 1970 00:00:00 GMT\r\n": 1794272400, // not a date
		"Expire: Thu, 01 Jan 1970 00:00:00 GMT\r\nExpires: Tue, 10 Nov 2026 01:00:00 GMT\r\n": 1794272400,
		"Expires: Thu, 01 Jan 1970 00:00:00 GMT\r\nExpire: Wed, 31 Dec 1969 23:59:59 GMT\r\n": -1,
		"Author-Name: b\r\nX-WDB-Author-Name: c\r\n":                                          0,
	} {
		records, _, _, _ = read(head+"URL: http://a/\r\n"+block+"\r\n", feed.Options{})
		if len(records) != 1 || records[0].Expires != want || want == 0 && records[0].Author != "b" {
			t.Errorf("%q: %+v", block, records)
		}
	}
	for _, length := range []string{"", "x", "-1", "1e3", strings.Repeat("9", 19)} {
		records, _, _, _ = read(head+"URL: http://a/\r\nContent-Length: "+length+"\r\n\r\n", feed.Options{})
		if len(records) != 1 || records[0].Size != 0 {
			t.Errorf("length %q: %+v", length, records)
		}
	}
}

func TestIsContentType(t *testing.T) {
	for _, s := range []string{"text/html", "text/html; charset=EUC-JP", "TEXT/x", "x-a!#$%&'*+.^_`{|}~/b", "a/b/c", "a/ä"} {
		if !isContentType(s) {
			t.Errorf("%q is not a type", s)
		}
	}
	for _, s := range []string{
		"", "/", "text", "text/", "/html", "text/ html", "text/\thtml", "te xt/html", "text /html", "te\txt/a", "té/a",
		"te(xt/a", "te\x7fxt/a", "text;/a",
	} {
		if isContentType(s) {
			t.Errorf("%q is a type", s)
		}
	}
}

func TestVersions(t *testing.T) {
	for value, want := range map[string]string{
		"HINA/2.2": "", "HINA/12.34": "", "HINA/2.2beta": "hina-version-beta:HINA-Version", "hina/2.2": "!",
		"HINA/2": "!", "HINA/.2": "!",
		"HINA/2.": "!", "HINA/2.2.2": "!", "HINA/a.2": "!", "HINA/2.beta": "!", "HINA/2.2betabeta": "!", "2.2": "!",
	} {
		records, _, _, _ := read(head+"URL: http://a/\r\nHINA-Version: "+value+"\r\n\r\n", feed.Options{})
		if want == "!" {
			if len(records) > 0 {
				t.Errorf("%q is a version", value)
			}
			continue
		}
		if len(records) != 1 || !records[0].Complete || strings.Join(records[0].Warnings, " ") != want {
			t.Errorf("%q: %+v", value, records)
		}
	}
}

// TestWarnings checks that a record has each warning once, and only those about itself.
func TestWarnings(t *testing.T) {
	records, _, _, _ := read(head+"URL:http://a/\r\nMethod: File/RSS/200\r\nVitural: http://v/\r\n\r\nURL: "+
		"http://b/\r\n\r\n", feed.Options{})
	if len(records) != 2 || len(records[1].Warnings) > 0 {
		t.Fatalf("%+v", records)
	}
	if want := []string{"no-blank-after-colon:URL", "method-word:Method",
		"vitural-spelling"}; !slices.Equal(records[0].Warnings, want) {
		t.Errorf("%q, want %q", records[0].Warnings, want)
	}
}

func TestHeaders(t *testing.T) {
	const block = "URL: http://a.example/\r\n\r\n"
	for _, tt := range []struct {
		name, text string
		reports    string
		rejected   string
		header     Header
	}{
		{"in order", head + block, "", "", Header{Version: "2.2beta", UserAgent: "a"}},
		{"in another order", "HINA/2.2beta\r\nContent-Type: text/plain\r\nUser-Agent: a\r\n\r\n" + block, "", "",
			Header{Version: "2.2beta", UserAgent: "a", ContentType: "text/plain"}},
		{"an old version", "hina/2.1\r\nUser-Agent: a\r\n\r\n" + block, "1:hina-version", "",
			Header{Version: "2.1", UserAgent: "a"}},
		{"a blank behind", "HINA/2.2beta \r\nUser-Agent: a\r\n\r\n" + block, "1:hina-version", "",
			Header{Version: "2.2beta", UserAgent: "a"}},
		{"no HINA line", "user-agent: a\r\n\r\n" + block, "1:hina-line-missing", "", Header{UserAgent: "a"}},
		{"no header", block, "1:hina-line-missing 1:header-missing", "", Header{}},
		{"blank lines before", "\r\n\r\n" + head + block, "1:extra-blank-line 2:extra-blank-line", "",
			Header{Version: "2.2beta", UserAgent: "a"}},
		{"a mark", "\xEF\xBB\xBF" + head + block, "1:byte-order-mark", "", Header{Version: "2.2beta", UserAgent: "a"}},
		{"no agent", "HINA/2.2beta\r\n\r\n" + block, "2:no-user-agent", "", Header{Version: "2.2beta"}},
		{"an empty agent", "HINA/2.2beta\r\nUser-Agent: \r\n\r\n" + block, "2:empty-value:User-Agent 2:no-user-agent",
			"", Header{Version: "2.2beta"}},
		{"more of it", "HINA/2.2beta\r\nUser-Agent: a\r\nuser-agent: b\r\nX-Y:z\r\nbad\r\nDate: x\r\n\r\n" + block,
			"3:duplicate-header-field:User-Agent 4:no-blank-after-colon:X-Y 4:undefined-header-field:X-Y " +
				"5:malformed-header-line 6:bad-date:Date", "",
			Header{Version: "2.2beta", UserAgent: "a", Other: []feed.Field{{Name: "X-Y", Value: "z"}}}},
		{"a date of another form", "HINA/2.2beta\r\nUser-Agent: a\r\nDate: Tue, 10 Nov 2026 03:00:00\r\n\r\n" + block,
			"3:date-no-zone:Date", "",
			Header{Version: "2.2beta", UserAgent: "a", Date: 1794279600}},
		{"no blocks", head, "3:no-entity-block", "", Header{Version: "2.2beta", UserAgent: "a"}},
		{"no end", "HINA/2.2beta\r\nUser-Agent: a", "2:no-entity-block", "", Header{Version: "2.2beta", UserAgent: "a"}},
		{"an unknown charset", "HINA/2.2beta\r\nUser-Agent: a\r\nContent-Type: text/plain; charset=none\r\n\r\n" +
			block, "3:charset-unknown", "",
			Header{Version: "2.2beta", UserAgent: "a", ContentType: "text/plain; charset=none"}},
		{"the charset of the agent", "HINA/2.2beta\r\nUser-Agent: \x92\xa9\r\nContent-Type: text/plain; " +
			"charset=Shift_JIS\r\n\r\n" + block, "", "",
			Header{Version: "2.2beta", UserAgent: "朝", ContentType: "text/plain; charset=Shift_JIS"}},

		{"nothing", "", "", codeForeign.Name, Header{}},
		{"only blank lines", "\r\n\r\n", "1:extra-blank-line 2:extra-blank-line", codeForeign.Name, Header{}},
		{"a page", "<html>\r\n" + block, "", codeForeign.Name, Header{}},
		{"a version that will be", "HINA/3.0\r\n" + block, "", codeForeign.Name, Header{}},
		{"a version that never was", "HINA/2.2alpha\r\n" + block, "", codeForeign.Name, Header{}},
		{"another field", "Date: x\r\n" + block, "", codeForeign.Name, Header{}},
		{"an endless header", "HINA/2.2beta\r\n" + strings.Repeat("X-Y: "+strings.Repeat("z", 1000)+"\r\n", 100), "",
			codeBlockTooLarge.Name, Header{Version: "2.2beta"}},
		{"a header of many fields", "HINA/2.2beta\r\n" + strings.Repeat("a: b\r\n", maxFields+1), "",
			codeBlockTooLarge.Name, Header{Version: "2.2beta"}},
	} {
		_, got, d, err := read(tt.text, feed.Options{})
		var reject *feed.RejectError
		if errors.As(err, &reject) != (tt.rejected != "") || reject != nil && reject.Code != tt.rejected {
			t.Errorf("%s: %v", tt.name, err)
		}
		if strings.Join(got, " ") != tt.reports {
			t.Errorf("%s: %q, want %s", tt.name, got, tt.reports)
		}
		h := d.Header()
		if fmt.Sprint(h) != fmt.Sprint(tt.header) {
			t.Errorf("%s: %+v, want %+v", tt.name, h, tt.header)
		}
	}
}

func TestCharsets(t *testing.T) {
	feedIn := func(declared, title string) string {
		h := "HINA/2.2beta\r\nUser-Agent: a\r\n"
		if declared != "" {
			h += "Content-Type: text/plain; charset=" + declared + "\r\n"
		}
		return h + "\r\nURL: http://a/\r\nTitle: " + title + "\r\n\r\n"
	}
	for _, tt := range []struct{ declared, title, charset, reports, want string }{
		{"", "\xc4\xab\xb4\xe9", "euc-jp", "", "朝顔"},
		{"", "朝顔", "utf-8", "5:charset-undeclared", "朝顔"},
		{"", "\x92\xa9\x8a\xe7", "cp932", "5:charset-undeclared", "朝顔"},
		{"EUC-JP", "朝顔", "utf-8", "6:charset-mismatch", "朝顔"},
		{"UTF-8", "\xc4\xab\xb4\xe9", "euc-jp", "6:charset-mismatch", "朝顔"},
		{"Shift_JIS", "\x92\xa9\x8a\xe7", "cp932", "", "朝顔"},
		{`"Shift_JIS"`, "\x92\xa9\x8a\xe7", "cp932", "", "朝顔"},
		{"ISO-2022-JP", "\x1b$BD+4i\x1b(B", "iso-2022-jp", "", "朝顔"},
		// rule 55
		{"x-none", "\x81\x81\xff", "unknown-8bit", "3:charset-unknown 6:charset-mismatch 6:undecodable:Title", `\x81\x81\xFF`},
		{"x-none", "\xc4\xab\xb4\xe9", "euc-jp", "3:charset-unknown 6:charset-mismatch", "朝顔"},
	} {
		records, got, d, err := read(feedIn(tt.declared, tt.title), feed.Options{})
		if err != nil || len(records) != 1 || records[0].Title != tt.want {
			t.Errorf("%s %q: %+v, %v", tt.declared, tt.title, records, err)
		}
		if in := d.Input(); in.Charset != tt.charset || strings.Join(got, " ") != tt.reports ||
			in.Declared != strings.Trim(tt.declared, `"`) {
			t.Errorf("%s %q: %+v, %q, want %s, %s", tt.declared, tt.title, in, got, tt.charset, tt.reports)
		}
	}
}

func TestLineEnds(t *testing.T) {
	const text = "HINA/2.2beta\nUser-Agent: a\n\nURL: http://a/\nTitle: b\n\n"
	for _, tt := range []struct{ text, reports string }{
		{text, "1:line-endings-lf"},
		{strings.ReplaceAll(text, "\n", "\r"), "1:line-endings-cr"},
		{strings.ReplaceAll(text, "\n", "\r\r\n"), "1:line-endings-mixed"},
		{strings.Replace(text, "\n", "\r\n", 3), "4:line-endings-mixed"},
		{strings.ReplaceAll(text, "\n", "\r\n"), ""},
	} {
		for _, strict := range []bool{false, true} {
			records, got, _, _ := read(tt.text, feed.Options{Strict: strict})
			if len(records) != 1 || strings.Join(got, " ") != tt.reports {
				t.Errorf("%q: %d records, %q", tt.text, len(records), got)
			}
		}
	}
}

// TestLimits_Rule52_Rule53 checks the limits of rules 52 and 53.
func TestLimits_Rule52_Rule53(t *testing.T) {
	block := "URL: http://a.example/\r\n\r\n"
	records, _, _, err := read(head+strings.Repeat(block, 3), feed.Options{Limits: feed.Limits{Entries: 3}})
	if len(records) != 3 || err != nil {
		t.Errorf("%d records, %v", len(records), err)
	}
	records, _, _, err = read(head+strings.Repeat("bad\r\n\r\n", 2)+strings.Repeat(block, 2),
		feed.Options{Limits: feed.Limits{Entries: 3}})
	var reject *feed.RejectError
	if len(records) != 1 || !errors.As(err, &reject) || reject.Code != "too-many-entries" || reject.Line != 10 {
		t.Errorf("%d records, %v", len(records), err)
	}
	records, _, _, err = read(head+block+"Title: "+strings.Repeat("x", 64<<10), feed.Options{})
	if len(records) != 1 || !errors.As(err, &reject) || reject.Code != "line-too-long" {
		t.Errorf("%d records, %v", len(records), err)
	}

	// A block that exceeds the limits is discarded.
	many := &strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(many, "X-%d: y\r\n", i)
	}
	long := strings.Repeat("bad line "+strings.Repeat("x", 60_000)+"\r\n", 20)
	for name, text := range map[string]string{"fields": many.String(), "octets": long} {
		var got []string
		records, got, _, err = read(head+block+"URL: http://b/\r\n"+text+"\r\n"+block, feed.Options{})
		if len(records) != 2 || err != nil ||
			!slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, codeBlockTooLarge.Name) }) {
			t.Errorf("%s: %d records, %d reports, %v", name, len(records), len(got), err)
		}
		if len(got) > maxFields+1 {
			t.Errorf("%s: %d reports", name, len(got))
		}
	}
}
