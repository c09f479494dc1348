package soif

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// read decodes text and describes the objects, violations and the error in words, in their order.
func read(text string, o feed.Options) string { return readWithin(text, o, limitsOf(o.Limits)) }

func readWithin(text string, o feed.Options, l limits) string {
	var b strings.Builder
	o.Report = func(v feed.Violation) {
		if v.Discarded {
			v.Line, v.Offset = v.Record, v.Start
		}
		fmt.Fprintf(&b, "%d/%d %s", v.Line, v.Offset, v.Code)
		if v.Field != "" {
			fmt.Fprintf(&b, " %s", v.Field)
		}
		if v.Discarded {
			fmt.Fprintf(&b, ": discards @%s %s", v.Type, v.URL)
			if fatal := v.Weight == feed.Fatal; fatal == (v.Code == codeBrackets.Name) { // only this one is not fatal
				fmt.Fprintf(&b, ", fatal: %v", fatal)
			}
		}
		b.WriteByte('\n')
	}
	for o, err := range newDecoder(strings.NewReader(text), o, l).objects() {
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "%d/%d @%s %s", o.line, o.offset, o.Type, o.URL)
		if o.Wrapper != "" {
			fmt.Fprintf(&b, " in %s", o.Wrapper)
		}
		for _, a := range o.Attributes {
			fmt.Fprintf(&b, " %s=%q", a.Name, a.Value)
		}
		if len(o.Warnings) > 0 {
			fmt.Fprintf(&b, " !%s", strings.Join(o.Warnings, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestDecode checks what is repaired in tolerant mode and what is not. An empty strict means the same result as in
// tolerant mode.
func TestDecode(t *testing.T) {
	for _, tt := range []struct{ name, text, want, strict string }{
		{name: "nothing", want: "1/0 no-object\n"},
		{name: "white space only", text: " \r\n\t", want: "2/4 no-object\n"},
		{"wrappers only", "@DELETE { }\n@UPDATE { }\n", "1/0 wrapper\n2/12 wrapper\n3/24 no-object\n", ""},
		{"the page of a server", "<html>@charset {}",
			"1/0 junk\n1/16 no-blank-before-url\n1/6 no-url: discards @charset \nerror: feed: not SOIF\n", ""},
		{"S1: junk before, between and behind",
			"<html> mail me@example.org {\n@A { u:1\n}; -- @ { @B\n@C { u:2\n} bye",
			"1/0 junk\n2/29 url-not-watchable\n2/29 @A u:1 !url-not-watchable\n3/39 junk\n" +
				"4/51 url-not-watchable\n4/51 @C u:2 !url-not-watchable\n5/62 junk\n", ""},
		{"S1: an object may begin anywhere behind one that is whole",
			"@A { u://h/1\n}x@A { u://h/2\n}", "1/0 @A u://h/1\n2/14 junk\n2/15 @A u://h/2\n", ""},
		{"S1: junk behind what was discarded", "@A { } junk", "1/0 no-url: discards @A \n1/7 junk\n", ""},
		{"S2: white space of all kinds",
			"@A \v{ u://h/\r\n\r\n \t\fa{1}:\tx\f\v\r b{1}:\ty\r\n}", "1/0 @A u://h/ a=\"x\" b=\"y\"\n", ""},
		{"S3: wrappers",
			"@DELETE {\n@FILE { u://h/1\n}\n}\n@REFRESH { }\n@UPDATE {\n@FILE { u://h/2\n}}\n@FILE { u://h/3\n}\n",
			"1/0 wrapper\n2/10 @FILE u://h/1 in DELETE\n5/30 wrapper\n6/43 wrapper\n7/53 @FILE u://h/2 in UPDATE\n9/72 " +
				"@FILE u://h/3\n", ""},
		{"S3: an object may be called like a wrapper", "@UPDATE { u://h/\n}", "1/0 @UPDATE u://h/\n", ""},
		{"S3: a wrapper that ends with the stream", "@UPDATE { @A { u://h/ }",
			"1/0 wrapper\n1/10 @A u://h/ in UPDATE\n1/23 wrapper-not-closed\n", ""},
		{"S3: junk does not hide the end of a wrapper", "@DELETE {\n@A { u://h/1\n}\n; }\n}\n@A { u://h/2 }",
			"1/0 wrapper\n2/10 @A u://h/1 in DELETE\n4/25 junk\n6/31 @A u://h/2\n", ""},
		{"S3: a brace that closes nothing", "@A { u://h/1 }}@A { u://h/2 }", "1/0 @A u://h/1\n1/14 junk\n1/15 @A u://h/2\n", ""},
		{"S4: brackets in names", "@A { u://h/ Embed<1>-MD5{1}:\tx}@A { u://h/ }",
			"1/12 brackets-in-name Embed<1>-MD5\n1/0 @A u://h/ Embed<1>-MD5=\"x\" !brackets-in-name:Embed<1>-MD5\n1/31 " +
				"@A u://h/\n",
			"1/12 brackets-in-name Embed<1>-MD5\n1/0 brackets-in-name Embed<1>-MD5: discards @A u://h/\n1/31 @A u://h/\n"},
		{"S5: no blanks", "@A{u://h/1 }@A { u://h/2}@A{u://h/3}",
			"1/3 no-blank-before-url\n1/0 @A u://h/1 !no-blank-before-url\n1/12 @A u://h/2\n1/28 " +
				"no-blank-before-url\n1/25 @A u://h/3 !no-blank-before-url\n", ""},
		{"S6: no size", "@A { u://h/ a{}:\tb{1}:\tx}", "1/13 empty-size a\n1/0 @A u://h/ a=\"\" b=\"x\" !empty-size:a\n", ""},
		{"S7: URLs without a host", "@A { news:x.y }@A { mailto:a@b.example }",
			"1/0 url-not-watchable\n1/0 @A news:x.y !url-not-watchable\n1/15 url-not-watchable\n1/15 @A " +
				"mailto:a@b.example !url-not-watchable\n", ""},
		{"S8: duplicates", "@A { u://h/ a{1}:\tx A{1}:\ty md5{32}:\t0123456789abcdef0123456789ABCDEF MD5{1}:\tx }",
			"1/20 duplicate-attribute A\n1/70 contradictory-values MD5\n" +
				"1/0 @A u://h/ a=\"x\" A=\"y\" md5=\"0123456789abcdef0123456789ABCDEF\" MD5=\"x\" " +
				"!duplicate-attribute:A,contradictory-values:MD5\n", ""},
		{"numbers that are none", "@A { u://h/ File-Size{2}:\t-1 " +
			"Update-Time{0}:\tTime-to-Live{19}:\t9223372036854775808 MD5{32}:\t0123456789abcdef0123456789abcdex}",
			"1/12 bad-number File-Size\n1/29 bad-number Update-Time\n1/45 bad-number Time-to-Live\n1/83 bad-md5 MD5\n" +
				"1/0 @A u://h/ File-Size=\"-1\" Update-Time=\"\" Time-to-Live=\"9223372036854775808\" " +
				"MD5=\"0123456789abcdef0123456789abcdex\" " +
				"!bad-number:File-Size,bad-number:Update-Time,bad-number:Time-to-Live,bad-md5:MD5\n", ""},
		{"relative, empty and impossible URLs",
			"@A { /x\na{13}:\t\n@B { u://h/9}\n@A { } @A { http: }@A { http://\xff/ }@A { u://h/ }",
			"1/0 bad-url: discards @A /x\n4/30 no-url: discards @A \n4/37 bad-url: discards @A http:\n4/49 bad-url: " +
				"discards @A http://\xff/\n4/65 @A u://h/\n", ""},
		{"no URL but attributes", "@A {\na{1}:\tx\n}\n@A { u://h/ }", "1/0 bad-url: discards @A \n4/15 @A u://h/\n", ""},
		{"a URL that is too long", "@A { u:" + strings.Repeat("x", 20<<10) + "\na{1}:\t}}@A { u://h/ }",
			"1/0 url-too-long: discards @A \n2/20496 @A u://h/\n", ""},
		{"a broken object is left at the next line that begins one", "@A { u://h/1\n? @A { u://h/2\n}\r@A { u://h/3\n}",
			"1/0 malformed-attribute: discards @A u://h/1\n3/30 @A u://h/3\n", ""},
		{"an object that is not closed", "@A { u://h/1\na{1}:\tx\n@A { u://h/2\n}",
			"1/0 size-mismatch a: discards @A u://h/1\n3/21 @A u://h/2\n", ""},
		{"a size is not a number", "@A { u://h/1\na{1x}:\tx\n}\n@A { u://h/2\n}",
			"1/0 bad-size a: discards @A u://h/1\n4/24 @A u://h/2\n", ""},
		{"a blank in the size", "@A { u://h/1\na{ 1}:\tx\n}", "1/0 bad-size a: discards @A u://h/1\n", ""},
		{"no colon", "@A { u://h/1\na{1}\tx\n}", "1/0 bad-delimiter a: discards @A u://h/1\n", ""},
		{"names that are too long are none", "@A { u://h/1\n" + strings.Repeat("n", 1025) + "{1}:\tx}",
			"1/0 malformed-attribute: discards @A u://h/1\n", ""},
		{"types that are too long are none", "@" + strings.Repeat("n", 65) + " { u://h/1}",
			"1/0 junk\nerror: feed: not SOIF\n", ""},
	} {
		if got := read(tt.text, feed.Options{}); got != tt.want {
			t.Errorf("%s, tolerant:\n%swant\n%s", tt.name, got, tt.want)
		}
		if tt.strict == "" {
			tt.strict = tt.want
		}
		if got := read(tt.text, feed.Options{Strict: true}); got != tt.strict {
			t.Errorf("%s, strict:\n%swant\n%s", tt.name, got, tt.strict)
		}
	}
}

// TestViolation checks that a violation has the position of the error, and names the object and its position.
func TestViolation(t *testing.T) {
	const long = 101
	for _, tt := range []struct{ text, want string }{
		{"\n@A { u://h/1\na{3}:\txxx\n?",
			`4/24 "a" of 2/1 @A u://h/1: neither an attribute nor the end of the object follows this value: its size is wrong`},
		{"\n@A { u://h/1\na{1x", `3/15 "a" of 2/1 @A u://h/1: a size is not a number`},
		{"\n@A { u://h/1\na{1}: x", `3/19 "a" of 2/1 @A u://h/1: a size is not followed by a colon and a tab`},
		{"@A {\n/x }", `2/5 "" of 1/0 @A /x: the URL is not absolute: "/x"`},
		{"@A {\na{1}:\tx }", `2/5 "" of 1/0 @A : the URL is not absolute: "a{1"`},
		{"@A { u://h/ a{1}:\tx A{1}:\ty }",
			`1/20 "A" of 1/0 @A u://h/: an attribute is repeated: its first value is used, not "y"`},
		{"@A { }", `1/5 "" of 1/0 @A : the object has no URL (- means none)`},
		{"@A{ u://h/\n b{}:\t}", `2/13 "b" of 1/0 @A u://h/: {} instead of {0} for an empty value`},
		{"@A { u://h/\nMD5{101}:\t" + strings.Repeat("\x00", long) + "}",
			`2/12 "MD5" of 1/0 @A u://h/: the value is not 32 hexadecimal digits: "` + strings.Repeat(`\x00`, 100) + `"...`},
		{"@UPDATE {\n}", `1/0 "" of 0/0 @UPDATE : this wrapper of a Harvest gatherer is not in RFC 2655`},
	} {
		var got []string
		o := feed.Options{Report: func(v feed.Violation) {
			got = append(got, fmt.Sprintf("%d/%d %q of %d/%d @%s %s: %s", v.Line, v.Offset, v.Field, v.Record, v.Start,
				v.Type, v.URL, v.Text))
		}}
		decodeAll(tt.text, o)
		if len(got) == 0 || got[0] != tt.want {
			t.Errorf("%q:\n%q, want\n%q", tt.text, got, tt.want)
		}
	}
}

// TestOwnMemory checks that the values of an object do not share memory with the next object.
func TestOwnMemory(t *testing.T) {
	objects, err := decodeAll("@A { u://h/1 a{2}:\txx }@A { u://h/2 a{2}:\tyy }", feed.Options{})
	if err != nil || len(objects) != 2 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	_ = append(objects[0].Attributes[0].Value, "zz"...)
	if got := fmt.Sprintf("%s %s", objects[0].Attributes[0].Value, objects[1].Attributes[0].Value); got != "xx yy" {
		t.Errorf("values are %s", got)
	}
}

func TestManyDuplicates(t *testing.T) {
	for _, n := range []int{1, 31, 96} {
		var text, want strings.Builder
		text.WriteString("@A { u://h/\nMD5{1}:\tx\nMD5{1}:\ty")
		want.WriteString("2 bad-md5 MD5\n3 contradictory-values MD5\n")
		for i := range n {
			fmt.Fprintf(&text, "\nAttribute%d{%d}:\t%d", i, len(fmt.Sprint(i)), i)
		}
		for i := range n {
			fmt.Fprintf(&text, "\nATTRIBUTE%d{1}:\tx", i)
			fmt.Fprintf(&want, "%d duplicate-attribute ATTRIBUTE%d\n", n+i+4, i)
		}
		text.WriteString("\nMD5{1}:\ty\nAttribute{0}:\tMD5{1}:\tx\n}\n")
		fmt.Fprintf(&want, "%d contradictory-values MD5\n%d duplicate-attribute MD5\n", 2*n+4, 2*n+5)
		var got strings.Builder
		o := feed.Options{Report: func(v feed.Violation) { fmt.Fprintf(&got, "%d %s %s\n", v.Line, v.Code, v.Field) }}
		if objects, err := decodeAll(text.String(), o); err != nil || len(objects) != 1 ||
			got.String() != want.String() || len(objects[0].Warnings) != min(n+3, maxWarnings) {
			t.Errorf("%d attributes, %d objects, %v:\n%swant\n%s", n, len(objects), err, got.String(), want.String())
		}
	}
}

// TestRejected_Rule55 checks that an impossible size ends the feed and that the objects before it are kept (rule 55).
func TestRejected_Rule55(t *testing.T) {
	const first = "@A { u://h/1\n}\n"
	for _, tt := range []struct{ name, text, code, why string }{
		{"longer than the input", "@A { u://h/2\na{400}:\tx\n}\n@A { u://h/3\n}\n", "truncated a",
			"the stream ends inside an object"},
		{"negative", "@A { u://h/2\na{-1}:\tx\n}\n@A { u://h/3\n}\n", "negative-size a", "a size is negative"},
		{"over the limit", "@A { u://h/2\na{1048577}:\tx\n}\n@A { u://h/3\n}\n", "too-large a", "more than 1048576 octets"},
		{"of thirty digits", "@A { u://h/2\na{" + strings.Repeat("9", 30) + "}:\tx\n}\n@A { u://h/3\n}\n",
			"too-large a", "more than 1048576 octets"},
		{"2^64 + 1", "@A { u://h/2\na{18446744073709551617}:\tx\n}\n@A { u://h/3\n}\n", "too-large a",
			"more than 1048576 octets"},
		{"cut in a head", "@A { u://h/2\na{1}:", "truncated", "the stream ends inside an object"},
		{"cut in a size", "@A { u://h/2\na{1", "truncated", "the stream ends inside an object"},
		{"cut in a name", "@A { u://h/2\na", "truncated", "the stream ends inside an object"},
		{"cut behind a pair", "@A { u://h/2\na{1}:\tx", "truncated", "the stream ends inside an object"},
	} {
		want := "1/0 @A u://h/1\n3/15 " + tt.code + ": discards @A u://h/2\nerror: feed, line "
		for _, strict := range []bool{false, true} {
			got := read(first+tt.text, feed.Options{Strict: strict})
			if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, tt.why+"\n") || strings.Count(got, "\n") != 3 {
				t.Errorf("%s:\n%swant\n%s...%s", tt.name, got, want, tt.why)
			}
		}
	}
}

// A failing reader returns text and then an error.
type failing struct {
	io.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// TestBrokenStream checks that an error of the reader is returned after the complete objects, and is not taken for the
// end of the stream.
func TestBrokenStream(t *testing.T) {
	for _, text := range []string{"", inBase64("@A { u://h/1\n}\n@A { x"), inBase64("@A { u://h/1\n}\n@A { x")[:26],
		"@A { u://h/1\n}\n", "@A { u://h/1\n}\n@A { u://h/2\na{9}:\tx", "@A { u://h/1\n} junk", "@A { u://h/1\n}\n@A { x\n"} {
		objects, last := 0, error(nil)
		for _, err := range NewDecoder(failing{strings.NewReader(text), errReset}, feed.Options{}).objects() {
			if last = err; err == nil {
				objects++
			}
		}
		if !errors.Is(last, errReset) || objects != min(len(text), 1) {
			t.Errorf("%q: %d objects, then %v", text, objects, last)
		}
	}
}

// A reader that returns neither bytes nor an error is an error too.
func TestNoProgress(t *testing.T) {
	s := newScanner(readerFunc(func([]byte) (int, error) { return 0, nil }))
	if w := s.window(1); len(w) > 0 || s.err != io.ErrNoProgress {
		t.Errorf("%q, %v", w, s.err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

var errReset = errors.New("connection reset")
