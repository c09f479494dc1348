package page_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"braid/daemon/page"
	"braid/daemon/queue"
)

// plain implements page.Engine with a queue and downloads nothing.
type plain struct{ q *queue.Queue }

func (p plain) Do(_ context.Context, f func(q *queue.Queue) error) error { return f(p.q) }
func (p plain) Draw(context.Context, queue.GID) ([]byte, error)          { return nil, nil }

func Example() {
	q := queue.New(1)
	q.Add(time.Now(), queue.Entry{URIs: []string{"https://example.org/a.iso"}}, -1)
	h := page.New(plain{q}, page.Options{Admit: func(w http.ResponseWriter, r *http.Request) bool { return true }})
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	html, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, len(html) > 1000, err)
	// Output: 200 OK true <nil>
}
