package rpc

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/byterange"
	"braid/daemon/queue"
)

const secret = "s3cret"

// An engine is a queue behind a mutex. The test sets the states of its downloads.
type engine struct {
	mu    sync.Mutex
	q     *queue.Queue
	visit int // number of calls of Do
	err   error
	subs  map[chan queue.Notice]bool
}

func newEngine() *engine {
	return &engine{q: queue.New(1), subs: map[chan queue.Notice]bool{}}
}

func (e *engine) Do(_ context.Context, f func(*queue.Queue) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.visit++
	if err := f(e.q); err != nil {
		return err
	}
	for _, n := range e.q.Drain().Notices {
		for sub := range e.subs {
			select {
			case sub <- n:
			default:
				delete(e.subs, sub)
				close(sub)
			}
		}
	}
	return e.err
}

func (e *engine) Subscribe() (<-chan queue.Notice, func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sub := make(chan queue.Notice, 4096)
	e.subs[sub] = true
	return sub, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.subs[sub] {
			delete(e.subs, sub)
			close(sub)
		}
	}
}

// listeners returns the number of subscribers.
func (e *engine) listeners() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.subs)
}

// end ends the downloads of the queue: that of g with this status, and those before it with an error.
func (e *engine) end(g queue.GID, status queue.Status) {
	e.Do(context.Background(), func(q *queue.Queue) error {
		now := time.Unix(1e9, 0)
		for {
			entry, _ := q.Entry(g)
			if entry.Status == queue.Active || entry.Status == status {
				break
			}
			if begun, ok := q.Start(now); !ok {
				break
			} else if begun.GID != g {
				q.Ended(now, begun.GID, queue.Outcome{Kind: "refused", Message: "no such file"})
			}
		}
		live := queue.Live{
			Path: "/srv/files/slow.bin", Done: 3 << 20, Size: 8 << 20, Speed: 1000, Connections: 2,
			Have: byterange.NewSet(byterange.Range{End: 3 << 20}),
		}
		entry, _ := q.Entry(g)
		for _, uri := range entry.URIs {
			live.Sources = append(live.Sources, queue.Source{URL: masked(uri, g), Host: "127.0.0.1", State: "in use",
				Working: true, Speed: 500})
		}
		switch status {
		case queue.Active:
			q.Progress(g, live)
		case queue.Complete:
			q.Progress(g, queue.Live{Path: "/srv/files/fast.bin", Done: 65536, Size: 65536})
			q.Ended(now, g, queue.Outcome{Verified: "sha-256"})
		case queue.Failed:
			q.Ended(now, g, queue.Outcome{Kind: "refused", Code: 3, Message: "no such file", Hint: "look at the URL"})
		case queue.Paused:
			q.Ended(now, g, queue.Outcome{Kind: queue.Interrupted})
		}
		return nil
	})
}

// start serves a handler that does not delay wrong tokens.
func start(t testing.TB, e *engine, o Options) (h *Handler, url string) {
	t.Helper()
	if o.Root == "" {
		o.Root = "/srv/files"
	}
	if o.Wait == nil {
		o.Wait = func(context.Context, time.Duration) {}
	}
	h = New(e, o)
	mux := http.NewServeMux()
	mux.Handle("/jsonrpc", h)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return h, s.URL + "/jsonrpc"
}

// say sends a request to a handler, without a network.
func say(h http.Handler, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:6800/jsonrpc", strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); wait(t.Context(), 25*time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("in vain: %s", what)
}
