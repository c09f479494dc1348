package linkheader

import (
	"reflect"
	"strings"
	"testing"
)

// seeds are fields with all elements of the grammar.
var seeds = []string{
	`<http://a/x>; rel=duplicate; pri=1; pref; geo=gb; depth=1, <b>; REL="describedby x"; type="a/b"`,
	`<a,b;c"d<e>; title="x, <y>; \"z\\"; title*=UTF-8'de'%C3%A4, <ä b>;;;=1;x@y=2`,
	`<a; rel=duplicate, <b>, junk, <c>; t="not closed, <d>; t=\"x\"`,
	"<a\x00>; x=\r\n, <\xff>;\ty = \xff , \"<z>\"",
	`<a>; t="x"y, <b>; t="\`, `,,;;<<>>""''**\\==`, `<>;*;**=UTF-8'';a*=UTF-8''%00`,
}

// split splits a string into field lines.
func split(fields string) []string { return strings.Split(fields, "\n") }

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(s + "\n" + s)
	}
	f.Fuzz(func(t *testing.T, fields string) {
		lines := split(fields)
		links, problems := Parse(lines)
		if len(links)+len(problems) > maxLinks+1 {
			t.Fatalf("%d links and %d problems", len(links), len(problems))
		}
		for _, p := range problems {
			if p.Line < 0 || p.Line >= len(lines) || p.Offset < 0 || p.Offset > len(lines[p.Line]) || p.Links < 1 || p.Why == "" {
				t.Fatalf("%q: problem %+v", lines, p)
			}
		}
		for _, l := range links {
			checkLink(t, l)
		}
		// Several lines mean the same as one list (RFC 9110, section 5.3).
		if problems == nil {
			joined, problems := Parse([]string{strings.Join(lines, ", ")})
			if problems != nil || !reflect.DeepEqual(joined, links) {
				t.Fatalf("%q joined: %q and %v, want %q", lines, joined, problems, links)
			}
		}
	})
}

// checkLink checks the properties of every parsed link.
func checkLink(t *testing.T, l Link) {
	t.Helper()
	if l.Pri() < 1 || l.Pri() > LowestPri || l.Depth() < 0 || len(l.Geo()) != 0 && len(l.Geo()) != 2 {
		t.Fatalf("%q: pri %d, depth %d, geo %q", l, l.Pri(), l.Depth(), l.Geo())
	}
	if strings.ContainsFunc(l.Target, isControl) || strings.Contains(l.Target, ">") {
		t.Fatalf("target %q", l.Target)
	}
	for _, p := range l.Params {
		if !isToken(p.Name) || strings.ToLower(p.Name) != p.Name {
			t.Fatalf("parameter %q", p.Name)
		}
		if !p.isExtended() && strings.ContainsFunc(p.Value, isControl) {
			t.Fatalf("%s is %q", p.Name, p.Value)
		}
	}
}

// FuzzString checks that a parsed link survives a round trip through String.
func FuzzString(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, fields string) {
		links, _ := Parse(split(fields))
		printed := make([]string, len(links))
		for i, l := range links {
			printed[i] = l.String()
		}
		again, problems := Parse([]string{strings.Join(printed, ", ")})
		if problems != nil || len(again) != len(links) {
			t.Fatalf("%q: %d links and %v, want %d", printed, len(again), problems, len(links))
		}
		for i, l := range again {
			if l.String() != printed[i] {
				t.Fatalf("%q, printed again: %q", printed[i], l.String())
			}
			if !reflect.DeepEqual(l.Params, links[i].Params) {
				t.Fatalf("%q: parameters %q, want %q", printed[i], l.Params, links[i].Params)
			}
			if plain := links[i].Target; isURI(plain) && l.Target != plain {
				t.Fatalf("%q: target %q, want %q", printed[i], l.Target, plain)
			}
		}
	})
}

func isURI(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f || !isURIByte(byte(r)) })
}

// FuzzStringOfAnything checks that no name or value can add another parameter or link.
func FuzzStringOfAnything(f *testing.F) {
	f.Add("http://a/x", "name", "value", "other", "")
	f.Add("a>, <b", "x;y", "a\r\nb: c", "z*", "\xff\x00'")
	f.Add("\"", "a", "\\", "b", "\"")
	f.Fuzz(func(t *testing.T, target, name1, value1, name2, value2 string) {
		l := link(target, name1, value1, name2, value2)
		printed := l.String()
		if strings.ContainsFunc(printed, isControl) {
			t.Fatalf("%q: a control character", printed)
		}
		links, problems := Parse([]string{"<before>, " + printed + ", <after>"})
		if problems != nil || len(links) != 3 || links[0].Target != "before" || links[2].Target != "after" {
			t.Fatalf("%q: %q and %v", printed, links, problems)
		}
		if n := len(links[1].Params); n > 2 {
			t.Fatalf("%q: %d parameters", printed, n)
		}
	})
}

// FuzzGoodBesideBad checks that a good link is found after a bad one on another line, and before a bad one on the same
// line.
func FuzzGoodBesideBad(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Add(`<a>; b="`)
	const good = `<http://good.example/x,y>; rel="duplicate"; title="a, <b>"`
	f.Fuzz(func(t *testing.T, bad string) {
		if strings.Count(bad, ",") >= maxLinks {
			bad = bad[:maxLinks] // another test checks the limit
		}
		want := parseOne(t, good)
		for _, lines := range [][]string{{bad, good}, {good + "," + bad}, {good, bad}} {
			links, _ := Parse(lines)
			found := false
			for _, l := range links {
				found = found || reflect.DeepEqual(l, want)
			}
			if !found {
				t.Fatalf("%q: lost in %q", lines, links)
			}
		}
	})
}
