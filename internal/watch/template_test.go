package watch

import (
	"braid/metalink"
	"net/url"
	"strings"
	"testing"
	"time"
)

func name(t *testing.T, template, glob, of string) (string, error) {
	t.Helper()
	tmpl, err := parseTemplate(template, glob, strings.Contains(glob, "*"))
	if err != nil {
		t.Fatalf("%s: %v", template, err)
	}
	u, err := url.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl.Name(subject{URL: u, Watch: "w", At: time.Date(2026, 11, 21, 10, 0, 5, 0, time.FixedZone("", 3600))})
}

func TestName(t *testing.T) {
	for _, tt := range []struct{ template, glob, url, want string }{
		{"", "", "https://example.org/pub/disk.iso?key=1", "disk.iso"},
		{"", "https://example.org/pub/**", "https://example.org/pub/a/b.iso", "a/b.iso"},
		{"", "https://example.org/pub/d*.iso", "https://example.org/pub/disk.iso", "disk.iso"},
		{"", "https://example.org/*", "https://example.org/disk.iso", "disk.iso"},
		{"{path}", "https://example.org/pub/**", "https://example.org/pub/a/b.iso", "pub/a/b.iso"},
		{"{base}", "https://example.org/pub/*.iso", "https://example.org/pub/b.iso", "b.iso"},
		{"x-{base}-{query}", "https://example.org/*", "https://example.org/get?f=a/b&g=1 2", "x-get-f%3Da%2Fb%26g%3D1%202"},
		{"{watch}/{host}/{date}T{time}.iso", "", "https://Example.org:8080/a", "w/example.org_8080/2026-11-21T09-00-05.iso"},
		{"{hash}", "https://example.org/**", "https://example.org/?a", "f96316230c68"},
		{"{base}", "", "https://example.org/a%20b%C3%A4", "a bä"},
	} {
		if got, err := name(t, tt.template, tt.glob, tt.url); err != nil || got != tt.want {
			t.Errorf("%q of %s is %q, %v, want %q", tt.template, tt.url, got, err, tt.want)
		}
	}
}

// TestName_Rule10: names that lead elsewhere, hide a file or mislead are refused.
func TestName_Rule10(t *testing.T) {
	for _, tt := range []struct{ template, glob, url string }{
		{"", "https://example.org/**", "https://example.org/%2e%2e/passwd"},
		{"", "https://example.org/**", "https://example.org/a%2Fb"},
		{"", "https://example.org/**", "https://example.org/a/"},
		{"", "https://example.org/**", "https://example.org/a//b"},
		{"", "https://example.org/**", "https://example.org/.old/b"},
		{"", "https://example.org/**", "https://example.org/a%00"},
		{"", "https://example.org/**", "https://example.org/a?b"},
		{"{base}", "", "https://example.org/con"},
		{"/{base}", "", "https://example.org/a"},
	} {
		if got, err := name(t, tt.template, tt.glob, tt.url); err == nil {
			t.Errorf("%q of %s is %q", tt.template, tt.url, got)
		}
	}
}

func TestTemplateOfGlob(t *testing.T) {
	for _, tt := range []struct {
		template, glob string
		ok             bool
	}{
		{"{base}", "https://example.org/a/*.iso", true}, {"{base}", "https://example.org/a/*-*.iso", true},
		{"{base}", "https://example.org/*/a.iso", false}, {"{base}", "https://example.org/**", false},
		{"{base}", "https://example.org/a*b**", false}, {"{host}", "https://example.org/*", false},
		{"{hash}", "https://example.org/**", true}, {"x/{path}", "https://example.org/**", true},
		{"{", "https://example.org/**", false},
	} {
		if _, err := parseTemplate(tt.template, tt.glob, true); (err == nil) != tt.ok {
			t.Errorf("%s of %s: %v", tt.template, tt.glob, err)
		}
	}
}

// FuzzName: names are safe paths, and two paths of a glob never have the same name.
func FuzzName(f *testing.F) {
	f.Add("https://example.org/a/b.iso", "https://example.org/a%2Fb.iso")
	f.Add("https://example.org/a?b", "https://example.org/a")
	f.Add("https://example.org/%61", "https://example.org/b")
	tmpl, err := parseTemplate("", "https://example.org/**", true)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		u, err := url.Parse(a)
		v, err2 := url.Parse(b)
		if err != nil || err2 != nil || u.Host != "example.org" || v.Host != "example.org" {
			return
		}
		x, err := tmpl.Name(subject{URL: u})
		if err != nil {
			return
		}
		if metalink.CheckPath(x) != nil {
			t.Fatalf("%s: %q", a, x)
		}
		if y, err := tmpl.Name(subject{URL: v}); err == nil && x == y &&
			strings.TrimPrefix(u.Path, "/") != strings.TrimPrefix(v.Path, "/") {
			t.Fatalf("%s and %s are both %q", a, b, x)
		}
	})
}
