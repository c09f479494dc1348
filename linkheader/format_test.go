package linkheader

import (
	"reflect"
	"testing"
)

func TestString(t *testing.T) {
	for _, tt := range []struct {
		name string
		l    Link
		want string
	}{
		{"a mirror", link("http://a/x", "rel", "duplicate", "pri", "1", "pref", "", "geo", "gb", "depth", "1"),
			`<http://a/x>; rel=duplicate; pri=1; pref; geo=gb; depth=1`},
		{"a document", link("/x.meta4", "rel", "describedby", "type", "application/metalink4+xml"),
			`</x.meta4>; rel=describedby; type="application/metalink4+xml"`},
		{"quotes and escapes", link("a", "title", `say "x\y"; <b>, c`), `<a>; title="say \"x\\y\"; <b>, c"`},
		{"an extended value", link("a", "name*", "ä'%*\n.iso"), `<a>; name*=UTF-8''%C3%A4%27%25%2A%0A.iso`},
		{"nothing", Link{}, `<>`},
	} {
		if got := tt.l.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		back := parseOne(t, tt.l.String())
		if !reflect.DeepEqual(back, tt.l) {
			t.Errorf("%s: came back as %q, want %q", tt.name, back, tt.l)
		}
	}
}

// TestStringCannotBeBrokenOut checks that a file name in a link cannot end the link or the field.
func TestStringCannotBeBrokenOut(t *testing.T) {
	l := link("/x>; rel=evil, <b \r\nSet-Cookie: é\xff%41\\\"", "rel", "duplicate",
		"name", "x\r\nSet-Cookie: a=b\x00", "x\r\ny", "1", "", "2", "na me", "3", "z;anchor", "4")
	want := `</x%3E;%20rel=evil,%20%3Cb%20%0D%0ASet-Cookie:%20%C3%A9%FF%41%5C%22>; rel=duplicate; name="x  Set-Cookie: a=b "`
	if got := l.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
