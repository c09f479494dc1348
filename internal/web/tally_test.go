package web

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"testing"
)

// TestTally checks that a request counts for its context, and for the Tally around that.
func TestTally(t *testing.T) {
	refused := errors.New("refused")
	c := &Client{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}
	var inner, outer Tally
	ctx := inner.Context(t.Context())
	for _, text := range []string{"http://a.example/x", "http://A.example:80/y", "http://b.example/"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r := &Request{Method: http.MethodGet, Trail: Trail{URL: u, Named: 0}, Header: http.Header{}}
		if _, err := c.Do(ctx, r); !errors.Is(err, refused) {
			t.Errorf("%s: %v", text, err)
		}
		TallyOf(ctx).Within(&outer)
	}
	if got, want := inner.Sent(), map[string]int{"a.example:80": 2, "b.example:80": 1}; !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	if got, want := outer.Sent(), map[string]int{"a.example:80": 1, "b.example:80": 1}; !maps.Equal(got, want) {
		t.Errorf("around it %v, want %v", got, want)
	}
	none := TallyOf(t.Context())
	none.Within(&outer)
	if none.Add(&url.URL{Host: "a.example"}); none.Sent() != nil {
		t.Error("a context without a Tally has one")
	}
}
