package linkheader

import "testing"

// parseOne parses a field that has one valid link.
func parseOne(t *testing.T, field string) Link {
	t.Helper()
	links, problems := Parse([]string{field})
	if len(links) != 1 || problems != nil {
		t.Fatalf("%s: %d links and %v, want one", field, len(links), problems)
	}
	return links[0]
}

// TestRel_Rule37 checks that Rel matches tokens of the first rel parameter, in any case, quoted or not (rule 37).
func TestRel_Rule37(t *testing.T) {
	for _, tt := range []struct {
		field string
		want  bool
	}{
		{`<a>; rel=duplicate`, true},
		{`<a>; rel="duplicate"`, true},
		{`<a>; REL="Duplicate"`, true},
		{`<a>; rel="describedby DUPLICATE"`, true},
		{`<a>; rel="  describedby` + "\t" + ` duplicate  "`, true},
		{`<a>; rel=duplicate; rel=describedby`, true},
		{`<a>; rel=describedby; rel=duplicate`, false},
		{`<a>; rel=""; rel=duplicate`, false},
		{`<a>; rel; rel=duplicate`, false},
		{`<a>; rel=duplicates`, false},
		{`<a>; rel="http://example.com/duplicate"`, false},
		{`<a>; rel="not-duplicate"`, false},
		{`<a>; rev=duplicate`, false},
		{`<a>`, false},
	} {
		if got := parseOne(t, tt.field).Rel(Duplicate); got != tt.want {
			t.Errorf("%s: duplicate is %t, want %t", tt.field, got, tt.want)
		}
	}
	// U+017F is equal to s under case folding, but is not s.
	if parseOne(t, `<a>; rel=deſcribedby`).Rel(DescribedBy) {
		t.Error("a letter beyond ASCII passed for one of ASCII")
	}
	if !parseOne(t, `<a>; rel=DescribedBy`).Rel(DescribedBy) {
		t.Error("DescribedBy is not describedby")
	}
}

// TestMirrorAttributes_Rule37 checks that an invalid pri, pref, geo or depth counts as absent, and that the first of
// several is used (rule 37).
func TestMirrorAttributes_Rule37(t *testing.T) {
	type attributes struct {
		pri   int
		geo   string
		pref  bool
		depth int
	}
	none := attributes{pri: LowestPri}
	for _, tt := range []struct {
		params string
		want   attributes
	}{
		{``, none},
		{`; pri=1; pref; geo=gb; depth=2`, attributes{1, "GB", true, 2}},
		{`; pri="7"; pref="1"; geo="Gb"; depth="0"`, attributes{7, "GB", true, 0}},
		{`; PRI=999999; PREF=no; GEO=DE`, attributes{999999, "DE", true, 0}},
		{`; pri=5; pri=1; geo=de; geo=fr; depth=3; depth=1; pref; pref=0`, attributes{5, "DE", true, 3}},
		{`; pri=0; pri=1; geo=; geo=fr; depth=x; depth=1`, none},
		{`; pri=0`, none},
		{`; pri=1000000`, none},
		{`; pri=-1; depth=-1`, none},
		{`; pri=+1; depth=+1`, none},
		{`; pri=1.5; depth=1.5`, none},
		{`; pri=" 1"; depth="1 "`, none},
		{`; pri=0x1; depth=1_0`, none},
		{`; pri=18446744073709551617; depth=18446744073709551617`, none},
		{`; pri=4294967297; depth=4294967297`, none},
		{`; pri; depth; geo`, none},
		{`; geo=deu`, none},
		{`; geo=d`, none},
		{`; geo=d1`, none},
		{`; geo=é`, none},
		{`; preferred`, none},
	} {
		l := parseOne(t, "<a>; rel=duplicate"+tt.params)
		if got := (attributes{l.Pri(), l.Geo(), l.Pref(), l.Depth()}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.params, got, tt.want)
		}
	}
}

func TestDocumentAttributes(t *testing.T) {
	for _, tt := range []struct{ params, mediaType, name string }{
		{``, "", ""},
		{`; type="application/metalink4+xml"; name="a b.iso"`, "application/metalink4+xml", "a b.iso"},
		{`; type=Application/X-BitTorrent`, "application/x-bittorrent", ""},
		{`; type="text/xml ; charset=utf-8"`, "text/xml", ""},
		{`; type=a/b; type=c/d; name=x; name=y`, "a/b", "x"},
		{`; name=x; name*=UTF-8''%C3%A4`, "", "ä"},
		{`; name=x; name*=UTF-8''%FF`, "", "x"},
	} {
		l := parseOne(t, "<a>; rel=describedby"+tt.params)
		if l.Type() != tt.mediaType || l.Name() != tt.name {
			t.Errorf("%s: type %q and name %q, want %q and %q", tt.params, l.Type(), l.Name(), tt.mediaType, tt.name)
		}
	}
}

func TestAnchor(t *testing.T) {
	for _, tt := range []struct {
		params, want string
		ok           bool
	}{
		{``, "", false},
		{`; anchor="#part"`, "#part", true},
		{`; ANCHOR=http://example.com/`, "http://example.com/", true},
		{`; anchor=""`, "", true},
		{`; anchor="/a"; anchor="/b"`, "/a", true},
	} {
		if got, ok := parseOne(t, "<a>"+tt.params).Anchor(); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %q, %t, want %q, %t", tt.params, got, ok, tt.want, tt.ok)
		}
	}
}
