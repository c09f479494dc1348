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
