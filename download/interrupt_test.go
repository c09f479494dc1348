package download_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"braid/download"
)

// A fetch that is cancelled while its answer is judged does not wait for the judgment, and shares no memory
// with it. The race detector would report that.
func TestInterruptedAtAnAnswer(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-q.Context().Done()
		close(left)
	}))
	defer origin.Close()
	r := newRun(t, origin.URL+"/file.bin")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.ctx = ctx
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.RangeAnswered); ok {
			cancel()
			<-left
		}
		observe(ev)
	}
	r.wrong(download.Interrupted)
}

// TestInterruptedWithoutHead: a request that is canceled after a refused HEAD is an interruption, no failure of the network.
func TestInterruptedWithoutHead(t *testing.T) {
	for name, ask := range map[string]func(context.Context, download.Request) error{
		"probe": func(ctx context.Context, r download.Request) error {
			_, err := new(download.Client).Probe(ctx, r)
			return err
		},
		"name": func(ctx context.Context, r download.Request) error {
			r.RemoteName, r.Dir = true, t.TempDir()
			_, err := new(download.Client).Get(ctx, r)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			cancel()
			<-q.Context().Done()
		}))
		defer s.Close()
		if err := ask(ctx, download.Request{URL: parse(t, s.URL+"/f")}); kindOfError(err) != download.Interrupted {
			t.Errorf("%s: %v", name, err)
		}
	}
}
