package download_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"braid/byterange"
	"braid/download"
	"braid/source"
)

// A bucket is a program's own source.
type bucket struct{ data string }

func (b bucket) Traits() source.Traits { return source.Traits{Align: 1, InOrder: true} }

func (b bucket) Fetch(_ context.Context, r byterange.Range, w source.Sink) error {
	end, size := min(r.End, int64(len(b.data))), int64(len(b.data))
	if err := w.Answer(source.Answer{Start: r.Start, End: end, Size: size, Ranged: true}); err != nil {
		return err
	}
	_, err := w.WriteAt([]byte(b.data[r.Start:end]), r.Start)
	if err == source.ErrEnough {
		return nil
	}
	return err
}

// A program's own source is a mirror like others, proven by the digest.
func ExampleClient_open() {
	body := strings.Repeat("hello world\n", 100_000)
	u, stop := server(body)
	defer stop()
	client := download.Client{Open: map[string]func(*url.URL) source.Source{
		"bucket": func(*url.URL) source.Source { return bucket{body} },
	}}
	var out strings.Builder
	result, err := client.Get(context.Background(), download.Request{
		URL: u, Mirrors: []*url.URL{{Scheme: "bucket", Host: "isos", Path: "/hello.txt"}}, Stream: &out,
	})
	fmt.Println(out.String() == body, result.Proof, err)
	// Output: true sha-256 from Digest over http <nil>
}
