package daemon_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/download"
)

func Example() {
	server := httptest.NewServer(http.FileServer(http.Dir("queue")))
	defer server.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	d, err := daemon.Open(daemon.Config{Dir: dir, Request: func(_ context.Context, e queue.Entry) (download.Request, error) {
		u, err := url.Parse(e.URIs[0])
		return download.Request{URL: u, Dir: dir}, err
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx) }()

	notices, done := d.Subscribe()
	defer done()
	err = d.Do(ctx, func(q *queue.Queue) error {
		_, err := q.Add(time.Now(), queue.Entry{URIs: []string{server.URL + "/queue.go"}}, -1)
		return err
	})
	fmt.Println(err)
	for n := range notices {
		if fmt.Println(n.What); n.What == queue.OnComplete {
			break
		}
	}
	_, err = os.Stat(filepath.Join(dir, "queue.go"))
	fmt.Println(err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// <nil>
	// onDownloadStart
	// onDownloadComplete
	// <nil>
	// <nil>
}
