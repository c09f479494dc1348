package httpsource

import (
	"net/url"
	"testing"

	"braid/address"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

func not(t *testing.T, word string) *address.Exclusion {
	t.Helper()
	x := &address.Exclusion{}
	if err := x.Add(word); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestExcludedAddress_Rule65 checks that the address of a connection is compared with the exclusions, so that a host
// with two addresses can still be reached at the other one, and that this includes idle connections of requests without
// exclusions.
func TestExcludedAddress_Rule65(t *testing.T) {
	s, origin := mirrortest.New(t, file), mirrortest.New(t, file)
	dns := &names{lists: map[string][][]string{"both.example": {{"127.0.0.2", "127.0.0.1"}}, "one.example": {{"127.0.0.1"}}}}
	c := newClient(t)
	c.Resolver = dns.resolver(t)
	mustFetch(t, c, at(t, s, "both.example"), Options{Not: not(t, "127.0.0.2")}, part(0, 10))
	mustFetch(t, c, at(t, s, "one.example"), Options{}, part(0, 10))
	requests := len(s.Requests())
	for _, word := range []string{"127.0.0.1", "127.0.0.0/8", "one.example", ".example"} {
		_, err := fetch(t, c, at(t, s, "one.example"), Options{Not: not(t, word)}, part(0, 10))
		sourcetest.Fault(t, err, source.FaultRefused, false)
		origin.Reset(mirrortest.Redirect(at(t, s, "one.example")))
		if word == "one.example" || word == ".example" { // the other words exclude the origin too
			_, err = fetch(t, c, origin.URL, Options{Not: not(t, word)}, part(0, 10))
			sourcetest.Fault(t, err, source.FaultRefused, false)
		}
	}
	if n := len(s.Requests()); n != requests {
		t.Errorf("it was asked %d times", n-requests)
	}
}

// TestExcludedByProxy_Rule65 checks that exclusions apply to the host in the URL and not to the proxy.
func TestExcludedByProxy_Rule65(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	c.Proxy = func(*url.URL) (*url.URL, error) { return &url.URL{Scheme: "http", Host: s.Addr}, nil }
	mustFetch(t, c, "http://a.example/file.bin", Options{Not: not(t, "127.0.0.0/8")}, part(0, 10))
	_, err := fetch(t, c, "http://a.example/file.bin", Options{Not: not(t, "a.example")}, part(0, 10))
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if len(s.Requests()) != 1 {
		t.Error("the proxy was asked for it")
	}
}
