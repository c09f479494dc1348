package soif

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSplitName(t *testing.T) {
	for _, tt := range []struct {
		in, name string
		number   int
	}{
		{"Author", "Author", 0},
		{"Author-1", "Author", 1},
		{"Author-007", "Author", 7},
		{"Author-0", "Author-0", 0},
		{"Author-00", "Author-00", 0},
		{"Author-", "Author-", 0},
		{"Author--1", "Author-", 1},
		{"Author-1-2", "Author-1", 2},
		{"Author-1x", "Author-1x", 0},
		{"Time-to-Live", "Time-to-Live", 0},
		{"ISO-8859", "ISO", 8859},
		{"-1", "-1", 0},
		{"A-99999999999999999999", "A", math.MaxInt},
		{"", "", 0},
	} {
		if name, number := splitName(tt.in); name != tt.name || number != tt.number {
			t.Errorf("%q: %q and %d, want %q and %d", tt.in, name, number, tt.name, tt.number)
		}
	}
}

// paper is the example of RFC 2655, section 4, with more attributes.
var paper = object{Type: "DOCUMENT", Attributes: []attribute{
	{"AUTHOR-10", []byte("Jose Garcia y Montes")},
	{"Author-2", []byte("Straße Müller")},
	{"author", []byte("\xff Latin")},
	{"File-Size", []byte("1200")},
	{"Author-0", []byte("no author")},
}}

func TestNamed(t *testing.T) {
	var got []string
	for _, a := range paper.named("Author") {
		got = append(got, string(a.Value))
	}
	if want := []string{"\xff Latin", "Straße Müller", "Jose Garcia y Montes"}; !slices.Equal(got, want) {
		t.Errorf("values are %q, want %q", got, want)
	}
	if got := paper.named("Title"); len(got) > 0 {
		t.Errorf("values of nothing are %q", got)
	}
}

// TestNumbers checks the attributes for the time and size of a file, and repair S8.
func TestNumbers(t *testing.T) {
	const big = "9223372036854775807"
	for _, tt := range []struct {
		name       string
		attributes []string // name=value
		get        string
		want       int64 // -1 if there is none
	}{
		{"plain", []string{"File-Size=12"}, fileSize, 12},
		{"in other letters", []string{"file-size=12"}, fileSize, 12},
		{"leading zeros", []string{"File-Size=00012"}, fileSize, 12},
		{"the greatest", []string{"File-Size=" + big}, fileSize, math.MaxInt64},
		{"one more", []string{"File-Size=9223372036854775808"}, fileSize, -1},
		{"empty", []string{"File-Size="}, fileSize, -1},
		{"white space", []string{"File-Size=12\n"}, fileSize, -1},
		{"twice the same", []string{"File-Size=12", "FILE-SIZE=12"}, fileSize, 12},
		{"contradicting", []string{"File-Size=12", "FILE-SIZE=13"}, fileSize, -1},
		{"contradicting, third", []string{"File-Size=12", "File-Size=12", "File-Size=1"}, fileSize, -1},
		{"modification, contradicting", []string{"Last-Modification-Time=12", "Last-Modification-Time=13"},
			lastModificationTime, -1},
		{"not decisive: the first", []string{"Update-Time=12", "Update-Time=13"}, updateTime, 12},
		{"a member of an archive", []string{"Embed<1>-File-Size=12"}, fileSize, -1},
		{"a multi-value", []string{"File-Size-1=12"}, fileSize, -1},
		{"expires", []string{"Update-Time=100", "Time-to-Live=20"}, "expires", 120},
		{"expires, no lifetime", []string{"Update-Time=100"}, "expires", -1},
		{"expires, no beginning", []string{"Time-to-Live=100"}, "expires", -1},
		{"expires, at the end of time", []string{"Update-Time=" + big, "Time-to-Live=0"}, "expires", math.MaxInt64},
		{"expires, behind the end of time", []string{"Update-Time=" + big, "Time-to-Live=1"}, "expires", -1},
	} {
		var o object
		for _, a := range tt.attributes {
			name, value, _ := strings.Cut(a, "=")
			o.Attributes = append(o.Attributes, attribute{name, []byte(value)})
		}
		get := func() (int64, bool) { return o.number(tt.get) }
		if tt.get == "expires" {
			get = o.expires
		}
		n, ok := get()
		if !ok {
			n = -1
		}
		if n != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, n, tt.want)
		}
	}
}

func TestDigest(t *testing.T) {
	const sum = "5d41402abc4b2a76b9719d911017c592"
	for _, tt := range []struct {
		values []string
		want   bool
	}{
		{[]string{sum}, true},
		{[]string{strings.ToUpper(sum)}, true},
		{[]string{sum, strings.ToUpper(sum)}, true},
		{nil, false},
		{[]string{sum[1:]}, false},
		{[]string{sum + "00"}, false},
		{[]string{"x" + sum[1:]}, false},
		{[]string{sum, "5" + sum[:31]}, false},
	} {
		var o object
		for _, v := range tt.values {
			o.Attributes = append(o.Attributes, attribute{"md5", []byte(v)})
		}
		if got := o.digest(); (got != "") != tt.want || tt.want && got != sum {
			t.Errorf("%q: %q", tt.values, got)
		}
	}
}
