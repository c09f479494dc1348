package watch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"braid/internal/reach"
)

func link(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestTransport_Rule63: what the user typed is asked, what others name only if they are as near.
func TestTransport_Rule63(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			w.Header().Set("Location", "/there")
			w.WriteHeader(http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	tr := NewTransport([]string{s.URL + "/away", "http://nas.example/x"}, reach.Hosts{})
	t.Cleanup(tr.CloseIdle)
	ask := func(path string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return err
	}
	refused := func(err error) bool { _, ok := errors.AsType[*reach.Error](err); return ok }
	if err := ask("/there"); !refused(err) {
		t.Errorf("nobody named it, and it is asked: %v", err)
	}
	if err := ask("/away"); err != nil {
		t.Error(err)
	}
	if err := ask("/there"); err != nil {
		t.Errorf("a server here redirected to it: %v", err)
	}
	if err := ask("/elsewhere"); !refused(err) {
		t.Errorf("nobody named it, and it is asked on a connection that waited: %v", err)
	}

	far, near := link(t, "http://8.8.8.8/x"), link(t, "http://127.0.0.1/x")
	for _, tt := range []struct {
		by, named *url.URL
		ok        bool
	}{
		{far, near, false}, {nil, near, false}, {near, near, true}, {near, far, true}, {far, link(t, "http://10.0.0.1/"), false},
		{link(t, "http://name.example/"), link(t, s.URL+"/there"), true}, {far, link(t, "http://name.example/"), true},
	} {
		if err := tr.Allow(tt.by, tt.named); (err == nil) != tt.ok {
			t.Errorf("%v names %v: %v", tt.by, tt.named, err)
		}
	}
	var hosts reach.Hosts
	if err := hosts.Add("127.0.0.0/8"); err != nil {
		t.Fatal(err)
	}
	tr = NewTransport(nil, hosts)
	t.Cleanup(tr.CloseIdle)
	if err := ask("/elsewhere"); err != nil {
		t.Errorf("the user allows it: %v", err)
	}
	for i := range mostRedirects + 2 {
		tr.redirected(link(t, fmt.Sprint("http://a.example/", i)), reach.Public)
	}
	if len(tr.from) > mostRedirects {
		t.Errorf("%d redirects are remembered", len(tr.from))
	}
}
