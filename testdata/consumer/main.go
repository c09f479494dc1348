// The command consumer uses braid's packages as another program would: it reads what a server offers, downloads and
// proves the file, brings one from a source to a target of its own, serves a folder, watches a feed, and asks the
// scheduler. It is built and run by the tests (internal/test/e2e/consumer_test.go).
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/linkheader"
	"braid/metalink"
	"braid/scheduler"
	"braid/source/httpsource"
	"braid/verify"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: consumer URL FOLDER FEED")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, dir, feedFile string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if err := look(ctx, u); err != nil {
		return err
	}
	if err := get(ctx, u, dir); err != nil {
		return err
	}
	if err := transfer(ctx); err != nil {
		return err
	}
	if err := publish(ctx, dir); err != nil {
		return err
	}
	if err := read(feedFile); err != nil {
		return err
	}
	s := scheduler.New(scheduler.Config{Size: 1000})
	actions, _ := s.Step(feed.Time(1794261900).UTC(), scheduler.SourceAdded{ID: 1, Host: u.Host})
	fmt.Println("scheduler:", len(actions), "action")
	return watch(ctx, address, feedFile)
}

// look reads header fields without the client.
func look(ctx context.Context, u *url.URL) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	links, problems := linkheader.Parse(resp.Header.Values("Link"))
	claims, err := verify.FromHeader(resp.Header, verify.HTTP)
	if err != nil {
		return err
	}
	f, err := metalink.FromHops([]metalink.Hop{{URL: u, Status: resp.StatusCode, Header: resp.Header}}, false)
	if err != nil {
		return err
	}
	fmt.Printf("links: %d, problems: %d, digests: %d, strong: %t, mirrors: %d\n",
		len(links), len(problems), len(claims), verify.Strong(claims), len(f.Mirrors))
	return nil
}

// A tracer is an http.RoundTripper that knows who was asked.
type tracer struct{ methods map[string]bool }

func (t *tracer) RoundTrip(r *http.Request) (*http.Response, error) {
	t.methods[r.Method] = true
	return http.DefaultTransport.RoundTrip(r)
}

// get downloads and proves a file, and describes what came.
func get(ctx context.Context, u *url.URL, dir string) error {
	t := &tracer{methods: map[string]bool{}}
	client := download.Client{HTTP: &httpsource.Client{Transport: t}}
	told := 0
	result, err := client.Get(ctx, download.Request{
		URL: u, Dir: dir, Trust: download.Trust{Require: download.RequireDigest},
		Observe: func(ev download.Event) {
			if _, ok := ev.(download.SourceUp); ok {
				told++
			}
		},
	})
	if err != nil {
		return err
	}
	fmt.Println("download:", result.Size, "bytes,", result.Proof, "- asked:", t.methods["GET"], "- told:", told > 0)
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
		Name: "file", Size: result.Size,
		Claims: []verify.Claim{{Digest: result.Proof.Digests()[0]}}, Mirrors: []metalink.Mirror{{URL: u}},
	}}})
	if err != nil {
		return err
	}
	back, err := metalink.Parse(strings.NewReader(string(doc)))
	if err != nil {
		return err
	}
	fmt.Println("meta4:", back.Files[0].Name, back.Files[0].Size)
	return nil
}

// read reads a feed of any format.
func read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, format, err := antenna.OpenFeed(f, feed.Limits{})
	if err != nil {
		return err
	}
	for r, err := range antenna.NewDecoder(format, in, feed.Options{}).Records() {
		if err != nil {
			return err
		}
		fmt.Println("feed:", format, r.Title)
	}
	return nil
}

// watch takes one round of updates.
func watch(ctx context.Context, address, feedFile string) error {
	a := &antenna.Antenna{
		Feeds:   []antenna.Feed{{Name: "local", URL: feedFile, Local: true}},
		Watches: []antenna.Watch{{Name: "file", URL: address}},
	}
	return a.Once(ctx, func(_ context.Context, u antenna.Update) (antenna.Outcome, error) {
		fmt.Println("antenna:", u.Watch, "by", u.Feed)
		return antenna.Outcome{Changed: true}, nil
	})
}
