package address

import (
	"net/netip"
	"strings"
	"testing"
)

func excluding(t *testing.T, words ...string) *Exclusion {
	t.Helper()
	x := &Exclusion{Country: func(a netip.Addr) string {
		if netip.MustParsePrefix("203.0.113.0/24").Contains(a) {
			return "JP"
		}
		return ""
	}}
	for _, word := range words {
		if err := x.Add(word); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
	}
	return x
}

// TestExclusion_Rule65 checks what a word excludes: a name with its subdomains, an address in each of its forms, a
// network, or a country.
func TestExclusion_Rule65(t *testing.T) {
	for words, hosts := range map[string]struct{ out, in string }{
		"example.org": {"example.org EXAMPLE.ORG. a.example.org a.b.example.org.",
			"example.org.net notexample.org example.com 192.0.2.1"},
		".example.org":        {"example.org a.example.org", "example.net"},
		"*.example.org.":      {"example.org a.example.org", "example.net"},
		".org":                {"example.org", "example.net org.example.net"},
		"b\u00fccher.example": {"xn--bcher-kva.example B\u00dcCHER.example a.xn--bcher-kva.example", "bucher.example"},
		"10.0.0.0/8": {"10.1.2.3 10.1 0xa.1 167772161 ::ffff:10.0.0.1 64:ff9b::10.0.0.1 2002:a00:1::1 " +
			"012.0.0.1", "11.0.0.1 a.example"},
		"::ffff:10.0.0.0/104": {"10.1.2.3 ::ffff:10.0.0.1", "11.0.0.1"},
		"2001:db8::/32":       {"2001:db8::1 2001:DB8:0::1", "2001:db9::1 192.0.2.1"},
		"[2001:db8::1]":       {"2001:db8::1", "2001:db8::2"},
		"127.1":               {"127.0.0.1 2130706433", "127.0.0.2"},
		"jp":                  {"203.0.113.9 ::ffff:203.0.113.9", "192.0.2.1 jp.example a.jp"},
		".jp":                 {"a.jp", "203.0.113.9 jp.example"},
		"a.example,10.0.0.1":  {"a.example 10.0.0.1", "b.example 10.0.0.2"},
	} {
		x := excluding(t, strings.Split(words, ",")...)
		for _, host := range strings.Fields(hosts.out) {
			if err := (Policy{Scope: Anywhere, Not: x}).CheckProxied(host); err == nil {
				t.Errorf("%s does not exclude %s", words, host)
			}
			if a, err := netip.ParseAddr(host); err == nil && (Policy{Scope: Anywhere, Not: x}).Check(a) == nil {
				t.Errorf("%s does not exclude a connection to %s", words, host)
			}
		}
		for _, host := range strings.Fields(hosts.in) {
			if err := (Policy{Scope: Anywhere, Not: x}).CheckHost(host); err != nil {
				t.Errorf("%s: %v", words, err)
			}
		}
	}
	for _, word := range []string{"", "*", ".", "..", "a..b", "https://example.org/", "a b", "10.0.0.0/33",
		"a.example:80", "*.*", "a,b"} {
		if err := new(Exclusion).Add(word); err == nil {
			t.Errorf("%q is taken", word)
		}
	}
}

// TestExclusionCopies checks that a nil Exclusion excludes nothing, that a copy is independent of the original, and
// that countries are matched without a database.
func TestExclusionCopies(t *testing.T) {
	var none *Exclusion
	if none.Check(netip.MustParseAddr("127.0.0.1")) != nil || none.CheckHost("a.example") != nil || none.OfCountry("JP") != "" {
		t.Error("nil excludes something")
	}
	x := excluding(t, "jp")
	y := x.Clone()
	if err := y.Add("a.example"); err != nil || x.CheckHost("a.example") != nil || y.CheckHost("a.example") == nil ||
		none.Clone().Add("b") != nil {
		t.Error("a copy is not one")
	}
	x.Country = nil
	if x.OfCountry("JP") != "jp" || x.OfCountry("jp") != "jp" || x.OfCountry("") != "" ||
		x.Check(netip.MustParseAddr("203.0.113.1")) != nil {
		t.Error("countries")
	}
	err := excluding(t, "10.0.0.0/8").CheckHost("0xa.1")
	if want := `leads to "0xa.1", which is 10.0.0.1, which is excluded (10.0.0.0/8)`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
