package linkheader

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// link returns a Link with parameters, given as pairs of name and value.
func link(target string, params ...string) Link {
	l := Link{Target: target}
	for pair := range slices.Chunk(params, 2) {
		l.Params = append(l.Params, Param{pair[0], pair[1]})
	}
	return l
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  []Link
	}{
		{"no field", nil, nil},
		{"an empty field", []string{""}, nil},
		{"an empty list", []string{" , ,\t,"}, nil},
		{"one link", []string{`<http://a/x>; rel=duplicate`}, []Link{link("http://a/x", "rel", "duplicate")}},
		{"several lines", []string{`<a>;rel=duplicate`, `<b>`}, []Link{link("a", "rel", "duplicate"), link("b")}},
		{"a list", []string{`<a>;rel=duplicate,<b> , ,<c>`}, []Link{link("a", "rel", "duplicate"), link("b"), link("c")}},
		{"lists in lines", []string{`<a>, <b>`, `<c>,`}, []Link{link("a"), link("b"), link("c")}},
		{"separators in the target", []string{`<http://a/x,y;z=1,2"q"<v=<w>, <b>`},
			[]Link{link(`http://a/x,y;z=1,2"q"<v=<w`), link("b")}},
		{"separators in quotes", []string{`<a>; title="x, <y>; rel=\"z\"; q"; rel=duplicate, <b>`},
			[]Link{link("a", "title", `x, <y>; rel="z"; q`, "rel", "duplicate"), link("b")}},
		{"a comma before < in quotes", []string{`<a>; title=", <evil>; rel=duplicate"`},
			[]Link{link("a", "title", ", <evil>; rel=duplicate")}},
		{"escapes", []string{`<a>; title="\a\\\""`}, []Link{link("a", "title", `a\"`)}},
		{"an empty target", []string{`<>; rel=self`}, []Link{link("", "rel", "self")}},
		{"raw characters in the target", []string{`<http://a/ä b|c\d^{e}>`}, []Link{link(`http://a/ä b|c\d^{e}`)}},
		{"a target in Latin-1", []string{"<http://a/\xe4>"}, []Link{link("http://a/\xe4")}},
		{"names in any case", []string{`<a>; REL=duplicate; PrI=5`}, []Link{link("a", "rel", "duplicate", "pri", "5")}},
		{"empty parameters", []string{`<a>;;; rel=duplicate ; ;pri=1;`}, []Link{link("a", "rel", "duplicate", "pri", "1")}},
		{"flags and empty values", []string{`<a>; pref; geo=; x="" ;y = ;z`},
			[]Link{link("a", "pref", "", "geo", "", "x", "", "y", "", "z", "")}},
		{"whitespace everywhere", []string{"\t<a>\t;\trel\t=\t\"duplicate\"\t,\t<b>\t"},
			[]Link{link("a", "rel", "duplicate"), link("b")}},
		{"no whitespace", []string{`<a>;rel=duplicate;pri=1,<b>`}, []Link{link("a", "rel", "duplicate", "pri", "1"), link("b")}},
		{"values that should have quotes", []string{`<a>; type=application/x-bittorrent; t=a b ; u=x"y`},
			[]Link{link("a", "type", "application/x-bittorrent", "t", "a b", "u", `x"y`)}},
		{"duplicates stay in order", []string{`<a>; pri=2; pri=1`}, []Link{link("a", "pri", "2", "pri", "1")}},
		{"names that are no tokens", []string{"<a>; x@y=1; =2; \"z\"=3; \u212a=4; rel=duplicate"},
			[]Link{link("a", "rel", "duplicate")}},
		{"an extended value", []string{`<a>; title*=UTF-8'de'n%c3%A4chster%20Brief`},
			[]Link{link("a", "title*", "nächster Brief")}},
		{"an extended value in quotes", []string{`<a>; title*="utf-8''%e2%82%ac"`}, []Link{link("a", "title*", "€")}},
		{"extended values that cannot be decoded", []string{
			`<a>; title=t; title*=x; title*=UTF-8'x; title*=ISO-8859-1''%E4; title*=UTF-8''%E4; title*=UTF-8''%4`,
			`<a>; title*=UTF-8''%+1; title*=UTF-8''a"b; title*; title*=UTF-8''%0g; rel=duplicate`,
		}, []Link{link("a", "title", "t"), link("a", "rel", "duplicate")}},
		{"a star alone", []string{`<a>; *=x`}, []Link{link("a", "*", "x")}},
		{"a tab in quotes", []string{"<a>; title=\"x\ty\""}, []Link{link("a", "title", "x\ty")}},
	} {
		links, problems := Parse(tt.lines)
		if !reflect.DeepEqual(links, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, links, tt.want)
		}
		if problems != nil {
			t.Errorf("%s: %v", tt.name, problems)
		}
	}
}

// TestParseProblems checks that Parse reports each error with its position and still returns every link that is valid.
func TestParseProblems(t *testing.T) {
	for _, tt := range []struct {
		name     string
		lines    []string
		want     []Link
		problems []Problem
	}{
		{"no link at all", []string{"http://a/x; rel=duplicate"}, nil, []Problem{{0, 0, 1, "want <reference>"}}},
		{"junk before good", []string{`<a>`, `junk, more; junk="x, <y>", <b>`}, []Link{link("a"), link("b")},
			[]Problem{{1, 0, 1, "want <reference>"}}},
		{"junk after the target", []string{`<a> rel=duplicate, <b>`}, []Link{link("b")}, []Problem{{0, 4, 1, "want ; or ,"}}},
		{"junk after a quote", []string{`<a>; rel="duplicate"x; pri=1,<b>`}, []Link{link("b")},
			[]Problem{{0, 20, 1, "want ; or ,"}}},
		{"no >", []string{`<a`}, nil, []Problem{{0, 0, 1, "want <reference>"}}},
		{"no > before another link", []string{`<a; rel=duplicate ,  <b>; rel=duplicate, <c`},
			[]Link{link("b", "rel", "duplicate")},
			[]Problem{{0, 0, 1, "want <reference>"}, {0, 41, 1, "want <reference>"}}},
		{"quote without end", []string{`<a>; title="x\", <b>; rel=duplicate, <c>; t=\"y\"`},
			[]Link{link("b", "rel", "duplicate"), link("c", "t", `\"y\"`)}, []Problem{{0, 11, 1, "quote is not closed"}}},
		{"escape without end", []string{`<a>; title="x\`, `<b>`}, []Link{link("b")},
			[]Problem{{0, 11, 1, "quote is not closed"}}},
		{"no link from quoted text", []string{`<a> x="y, <evil>; rel=duplicate", z, <b>`}, []Link{link("b")},
			[]Problem{{0, 4, 1, "want ; or ,"}}},
		{"control characters", []string{"<a\x00>, x\n, <b>; t=\"\r\n\", <c>; u=\x7f, <d>"}, []Link{link("d")}, []Problem{
			{0, 2, 1, "control character"}, {0, 6, 1, "want <reference>"},
			{0, 18, 1, "control character"}, {0, 30, 1, "control character"}}},
		{"two in one line", []string{`<a>, x, <b>, y, <c>`}, []Link{link("a"), link("b"), link("c")},
			[]Problem{{0, 5, 1, "want <reference>"}, {0, 13, 1, "want <reference>"}}},
		{"too many parameters", []string{`<a>` + strings.Repeat(";x", maxParams) + `;anchor="/b", <b>`}, []Link{link("b")},
			[]Problem{{0, 3 + 2*maxParams, 1, "more than 64 parameters"}}},
	} {
		links, problems := Parse(tt.lines)
		if !reflect.DeepEqual(links, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, links, tt.want)
		}
		if !slices.Equal(problems, tt.problems) {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, problems, tt.problems)
		}
	}
	if got, want := fmt.Sprint(Problem{2, 17, 1, "want ; or ,"}), "Link field 2, offset 17: want ; or ,"; got != want {
		t.Errorf("a problem prints as %q, want %q", got, want)
	}
}

// TestParseLimitsLinks_Rule36 checks that links beyond the limit are counted in a problem and are not an error (rule
// 36).
func TestParseLimitsLinks_Rule36(t *testing.T) {
	const surplus = 2345
	line := strings.Repeat("<a>,", maxLinks-1) + "x,"
	start := len(line)
	line += strings.Repeat("<b>,", surplus-1) + "y"
	links, problems := Parse([]string{line, ""})
	if len(links) != maxLinks-1 || links[maxLinks-2].Target != "a" {
		t.Fatalf("%d links, want %d", len(links), maxLinks-1)
	}
	want := []Problem{
		{0, 4 * (maxLinks - 1), 1, "want <reference>"},
		{0, start, surplus, fmt.Sprintf("more than %d links: %d ignored", maxLinks, surplus)},
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems are %+v, want %+v", problems, want)
	}
	if links, problems := Parse(slices.Repeat([]string{"<a>"}, maxLinks)); len(links) != maxLinks || problems != nil {
		t.Errorf("%d links and %v at the limit", len(links), problems)
	}
}

// TestParseIsLinear checks that the time of Parse is linear in the length of the field, so that a server cannot keep
// the client busy.
func TestParseIsLinear(t *testing.T) {
	const size = 1 << 18 // quadratic time would be minutes
	for name, unit := range map[string]string{
		"targets without end":   "<a, ",
		"targets within":        "<a ",
		"commas":                ",",
		"commas in junk":        "x,,,,,,,,",
		"quotes without end":    `\"`,
		"quotes":                `<a>;b="x, `,
		"escaped quotes":        `<a>;b="\", `,
		"parameters":            ";a",
		"whitespace":            " ",
		"whitespace before <":   "<    ",
		"controls":              "<\x00>,",
		"extended":              "<a>;b*=UTF-8''%41,",
		"quotes never closed":   `<a>;b="\\\",<a>;b=\"`,
		"junk":                  "x",
		"links with parameters": "<a>; rel=duplicate; pri=1,",
	} {
		for _, head := range []string{"", "<", "<a>", `<a>;b="`, "x", `x"`, "x,"} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				Parse([]string{head + strings.Repeat(unit, size/len(unit)) + ">"})
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("%s after %q: still not done", name, head)
			}
		}
	}
}
