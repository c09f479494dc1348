package download_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"braid/download"
	"braid/source/httpsource"
)

// server starts a web server with one file and states its digest (RFC 6249, section 6).
func server(body string) (u *url.URL, stop func()) {
	sum := sha256.Sum256([]byte(body))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Digest", "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]))
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	}))
	u, err := url.Parse(s.URL + "/hello.txt")
	if err != nil {
		panic(err)
	}
	return u, s.Close
}

// The zero Client works. Without the required proof, the file does not get its name.
func ExampleClient_Get() {
	u, stop := server("hello world")
	defer stop()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	var client download.Client
	result, err := client.Get(context.Background(), download.Request{
		URL: u, Dir: dir, Trust: download.Trust{Require: download.RequireDigest},
	})
	if err != nil {
		failed, _ := errors.AsType[*download.Error](err)
		fmt.Println(failed.Kind, err)
		return
	}
	fmt.Println(filepath.Base(result.Path), result.Size, result.Proof)
	// Output: hello.txt 11 sha-256 from Digest over http
}

// One line is enough.
func ExampleGet() {
	u, stop := server("hello world")
	defer stop()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	result, err := download.Get(context.Background(), u.String(), dir)
	fmt.Println(filepath.Base(result.Path), result.Proof, err)
	// Output: hello.txt sha-256 from Digest over http <nil>
}

// Events are sent while the download runs, so a program can draw its progress.
func ExampleRequest_observe() {
	u, stop := server(strings.Repeat("hello world\n", 100_000))
	defer stop()
	var out strings.Builder
	var client download.Client
	_, err := client.Get(context.Background(), download.Request{URL: u, Stream: &out, Observe: func(ev download.Event) {
		switch ev := ev.(type) {
		case download.Offered:
			fmt.Println("mirrors:", len(ev.File.Mirrors))
		case download.SourceUp:
			fmt.Println("a source is in use")
		case download.Progress:
			_ = float64(ev.Done) / float64(ev.Size) // draw it
		}
	}})
	fmt.Println(out.Len(), err)
	// Output:
	// mirrors: 0
	// a source is in use
	// 1200000 <nil>
}

// Requests go through any http.RoundTripper.
func ExampleClient_transport() {
	u, stop := server("hello world")
	defer stop()
	counted := &agentCounter{next: http.DefaultTransport}
	client := download.Client{HTTP: &httpsource.Client{Transport: counted, UserAgent: "example/1.0"}}
	var out strings.Builder
	_, err := client.Get(context.Background(), download.Request{URL: u, Stream: &out})
	fmt.Println(out.String(), err, counted.agents)
	// Output: hello world <nil> map[example/1.0:1]
}

// An agentCounter counts the requests of each agent.
type agentCounter struct {
	next   http.RoundTripper
	agents map[string]int
}

func (c *agentCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.agents == nil {
		c.agents = map[string]int{}
	}
	c.agents[r.UserAgent()]++
	return c.next.RoundTrip(r)
}
