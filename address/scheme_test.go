package address

import (
	"net/url"
	"slices"
	"testing"
)

func TestSchemes(t *testing.T) {
	for name, want := range map[string]string{
		"http": "80", "https": "443", "ftp": "21", "ftps": "21", "": "", "file": "", "HTTP": "",
	} {
		u := &url.URL{Scheme: name, Host: "h"}
		if got := SchemeOf(u).Port; got != want || HasScheme(u) != (want != "") {
			t.Errorf("%q: port %q, want %q", name, got, want)
		}
	}
	if got := ListSchemes(); got != "http, https or ftp" {
		t.Error(got)
	}
	names := SchemeNames()
	for i, name := range names {
		if s, _ := SchemeNamed(name); slices.Contains(names[:i], name) || s.Port == "" || s.Family == "" {
			t.Errorf("%q is there twice, or not complete", name)
		}
	}
}
