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
