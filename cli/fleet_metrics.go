package cli

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/problem"
	"braid/internal/watch"
	"braid/internal/worker"
)

// counts are numbers of what happened, by name. They may be used by several goroutines.
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

// expose writes how the queue stands.
func (q *fleetQueue) expose(e *watch.Exposition) {
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

// expose writes what the worker counted.
func (w *workCommand) expose(e *watch.Exposition) {
	w.queue.expose(e)
	jobs, now := w.worker.Counts()
	e.Family("braid_work_jobs", "gauge", "Jobs that this worker has.")
	e.Sample(float64(jobs))
	e.Family("braid_work_tries_total", "counter",
		"How tries ended: the file came, it was there already, it is tried again, the job is dead, was given back, or is another worker's.")
	for _, result := range []string{string(fleet.Done), worker.CountUnchanged, string(fleet.Waiting),
		string(fleet.Dead), worker.CountGivenBack, worker.CountLost} {
		e.Sample(float64(now[result]), "result", result)
	}
	e.Family("braid_work_takeovers_total", "counter", "Jobs that were taken over from a worker whose lease had run out.")
	e.Sample(float64(now[worker.CountTakenOver]))
	e.Family("braid_work_paused", "gauge", "Whether this worker takes no job for a while, as what it tries fails.")
	e.Sample(float64(now[worker.CountPaused]))
	e.Family("braid_work_pauses_total", "counter", "How often it took no job for a while.")
	e.Sample(float64(now[worker.CountPauses]))
	e.Family("braid_work_bytes_total", "counter", "Bytes that downloads brought.")
	e.Sample(float64(now[worker.CountBytes]))
}

// expose writes what the watcher counted for the fleet.
func (v *watchCommand) expose(e *watch.Exposition) {
	v.fleet.expose(e)
	e.Family("braid_watch_jobs_total", "counter", "Updates that were put into the queue, by what became of them.")
	now := v.fleet.tally.now()
	for _, news := range slices.Sorted(maps.Keys(now)) {
		e.Sample(float64(now[news]), "news", news)
	}
}

// serveMetrics answers Prometheus until ctx ends or end is called, if there is an address.
func serveMetrics(ctx context.Context, address string, m *watch.Metrics, log *slog.Logger) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &problem.Problem{
			Kind: download.Other, What: "listen", Where: address, Why: listenReason(err),
			Hint: "--metrics ADDRESS names another",
		}
	}
	log.Info("metrics", "url", localURL("http", l.Addr())+"metrics")
	mux := http.NewServeMux()
	mux.Handle("/metrics", m)
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	ctx, stop := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serveUntil(ctx, server, l, log); err != nil {
			log.Error("metrics", "error", err)
		}
	})
	return func() { stop(); serving.Wait() }, nil
}
