package httpsource_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"braid/source"
	"braid/source/httpsource"
)

// TestPost checks that a body is sent, also after a redirect, and that secrets are sent only to the origin.
func TestPost(t *testing.T) {
	var last *http.Request
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		w.Write(body)
	}))
	defer elsewhere.Close()
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case "/long":
			io.WriteString(w, strings.Repeat("x", 101))
		default:
			elsewhere.Config.Handler.ServeHTTP(w, r)
		}
	}))
	defer here.Close()
	var c httpsource.Client
	defer c.CloseIdle()
	post := func(path string) (httpsource.Reply, error) {
		u, err := url.Parse(here.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		o := httpsource.Options{Header: map[string][]string{"X-Secret": {"s"}, "Accept": {"a/b"}}}
		return c.Post(t.Context(), u, o, []byte("a question"), 100)
	}
	for path, secret := range map[string]string{"/": "s", "/away": ""} {
		r, err := post(path)
		if err != nil || r.Status != http.StatusTeapot || string(r.Body) != "a question" {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
		if last.Method != http.MethodPost || last.Header.Get("X-Secret") != secret ||
			last.Header.Get("Accept") != "a/b" || last.ContentLength != 10 {
			t.Errorf("%s: %s with %v", path, last.Method, last.Header)
		}
	}
	var e *source.Error
	if _, err := post("/long"); !errors.As(err, &e) || e.Fault != source.FaultLimit {
		t.Errorf("a long answer: %v", err)
	}
	here.Close()
	if _, err := post("/"); !errors.As(err, &e) || e.Fault != source.FaultNetwork || !e.Retry {
		t.Errorf("no server: %v", err)
	}
}
