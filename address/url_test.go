package address

import (
	"net/url"
	"testing"
)

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://b\u00fccher.example/":                "http://xn--bcher-kva.example/",
		"https://me:p@B\u00dcCHER.example:81/a":      "https://me:p@xn--bcher-kva.example:81/a",
		"http://\u4f8b\u3048.\u30c6\u30b9\u30c8":     "http://xn--r8jz45g.xn--zckzah",
		"http://b\u00fc\u202echer.example/":          "http://b%C3%BC%E2%80%AEcher.example/",
		"http://[fe80::1%25\u00fc]:80/":              "http://[fe80::1%25%C3%BC]:80/",
		"http://xn--bcher-kva.example/\u00e4?\u00e4": "http://xn--bcher-kva.example/%C3%A4?\u00e4",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		before := *u
		if got := URL(u).String(); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
		if *u != before {
			t.Errorf("%s was changed", in)
		}
	}
}

// TestSameServer: http may become https on the default ports, and nothing else of the address may differ.
func TestSameServer(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"http://h/a", "http://H:80/b", true},
		{"http://h/a", "https://h/b", true},
		{"http://h:80/a", "https://h:443/b", true},
		{"https://h/a", "http://h/b", false},
		{"http://h:8080/a", "https://h/b", false},
		{"http://h/a", "https://h:8443/b", false},
		{"http://h:8443/a", "https://h:8443/b", false},
		{"https://h/a", "https://g/b", false},
		{"http://h/a", "http://h:8080/a", false},
		{"ftp://h/a", "https://h/a", false},
	} {
		a, _ := url.Parse(tt.a)
		b, _ := url.Parse(tt.b)
		if got := SameServer(a, b); got != tt.want {
			t.Errorf("%s, %s: %t", tt.a, tt.b, got)
		}
		if SameServer(a, nil) || SameServer(nil, b) || !SameServer(nil, nil) {
			t.Error("a URL and nil are on the same server")
		}
	}
}
