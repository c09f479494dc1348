package watch

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"braid/download"
	"braid/internal/listen"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
)

// ServeMetrics serves the metrics at address until ctx is done or end is called. If address is empty, it does nothing.
func ServeMetrics(ctx context.Context, address string, m *Metrics, log *slog.Logger) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &problem.Problem{
			Kind: download.Other, What: "listen", Where: address, Why: listen.Reason(err),
			Hint: "choose another address with --metrics ADDRESS",
		}
	}
	log.Info("metrics", "url", listen.URL("http", l.Addr())+"metrics")
	mux := http.NewServeMux()
	mux.Handle("/metrics", m)
	server := &http.Server{
		Handler: mux, MaxHeaderBytes: 64 << 10,
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	ctx, stop := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := listen.Serve(ctx, server, l, log); err != nil {
			log.Error("metrics", "error", err)
		}
	})
	return func() { stop(); serving.Wait() }, nil
}

// counts counts events by name. It is safe for concurrent use.
type counts struct {
	mu sync.Mutex
	of map[string]int64
}

func (c *counts) add(name string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int64{}
	}
	c.of[name] += n
}

func (c *counts) now() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.of)
}

// ExposeQueue writes the metrics of q to e.
func ExposeQueue(e *Exposition, q *jetstream.Queue) {
	up := 1.0
	unfinished, err := q.Unfinished(context.Background())
	if err != nil {
		up = 0
	}
	e.Family("braid_queue_up", "gauge", "Whether the queue answers.")
	e.Sample(up)
	if err == nil {
		e.Family("braid_queue_jobs", "gauge", "Jobs that are neither done nor dead.")
		e.Sample(float64(unfinished))
	}
}
