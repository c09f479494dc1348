package httpsource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"braid/byterange"
	"braid/source"
	"braid/source/httpsource"
)

// A part is a sink for a range of a file.
type part struct{ strings.Builder }

// Answer refuses an answer with another range than the requested one.
func (p *part) Answer(a source.Answer) error {
	if !a.Ranged {
		return errors.New("the server has no ranges")
	}
	fmt.Println("from", a.Start, "of", a.Size, "by", a.ETag)
	return nil
}

// WriteAt appends bytes. A Fetch delivers them in order.
func (p *part) WriteAt(b []byte, _ int64) (int, error) { return p.Write(b) }

// Fetch downloads a range over a connection that is kept for the next one. Its error has the kind of fault.
func ExampleSource_Fetch() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.URL.Path == "/hello.txt" {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("hello world"))
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	var c httpsource.Client
	defer c.CloseIdle()
	for _, path := range []string{"/hello.txt", "/gone.txt"} {
		u, err := url.Parse(s.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		var p part
		err = c.Source(u, httpsource.Options{}).Fetch(context.Background(), byterange.Range{Start: 6, End: 11}, &p)
		if e, ok := errors.AsType[*source.Error](err); ok {
			fmt.Println(e.Fault, e.Status, "another try:", e.Retry)
			continue
		}
		fmt.Println(p.String(), err)
	}
	// Output:
	// from 6 of 11 by "1"
	// world <nil>
	// refused 404 another try: false
}

// A counter counts the requests of the client.
type counter struct {
	next http.RoundTripper
	n    int
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	return c.next.RoundTrip(r)
}

// Wrap puts a RoundTripper of the program around the connections of a client, whose checks still apply.
func ExampleClient_wrap() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("hello world"))
	}))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	var around counter
	c := httpsource.Client{Wrap: func(own http.RoundTripper) http.RoundTripper {
		around.next = own
		return &around
	}}
	defer c.CloseIdle()
	a, err := c.Head(context.Background(), u, httpsource.Options{})
	fmt.Println(a.Size, err, around.n)
	// Output: 11 <nil> 1
}
