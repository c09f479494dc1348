package address

import "testing"

func TestASCII(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/a%20b?c=ü":           "https://example.org/a%20b?c=%C3%BC",
		"https://BÜCHER.example:8443/é/*.iso":     "https://xn--bcher-kva.example:8443/%C3%A9/*.iso",
		"https://mé:pw@bücher.example":            "https://m%C3%A9:pw@xn--bcher-kva.example",
		"http://[2001:db8::1]:80/é":               "http://[2001:db8::1]:80/%C3%A9",
		"https://Example.org/As-It-Is":            "https://Example.org/As-It-Is",
		"https://bücher.example./":                "https://xn--bcher-kva.example/",
		"no URL, and ü":                           "no URL, and ü",
		"https://bücher。example/":                 "https://xn--bcher-kva.example/",
		"https://example.org/**/ü?x=1#fragment-ü": "https://example.org/**/%C3%BC?x=1#fragment-%C3%BC",
	} {
		if got, err := ASCII(in); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
	if got, err := ASCII("https://ü\u200d..x/"); err == nil {
		t.Errorf("a host that is none is %s", got)
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"Example.ORG.": "example.org", "0:0:0:0:0:0:0:1": "::1", "bücher.example": "xn--bcher-kva.example",
		"XN--bcher-kva.example": "xn--bcher-kva.example",
		"127.0.0.1":             "127.0.0.1",
	} {
		if got, err := Name(in); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
}
