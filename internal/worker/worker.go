// Package worker takes jobs from a fleet's queue, downloads their files and places them.
//
// A [Worker] takes a job whenever it has a free slot. Its [Place] is the folder or the object store where all workers
// of the queue place files. The Place makes sure that only the worker that has a job places the job's file. The result
// of a job is stored in the queue, which decides whether another attempt follows. A worker that is itself the reason
// why attempts fail pauses.
//
//	w := worker.New(queue, place, log)
//	w.AtOnce, w.Request, w.ExitCode = 4, request, exitCode
//	w.Run(ctx, client)
//
// The caller converts a job to a request, because that depends on settings, passwords and keys.
package worker

import (
	"context"
	"log/slog"
	"maps"
	"net/url"
	"sync"

	"braid/download"
	"braid/download/limit"
	"braid/fleet"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
)

// A Worker is the process that downloads the files of jobs in a queue. Its exported fields must be set before Run is called.
type Worker struct {
	AtOnce int // maximum of concurrent downloads
	// Request returns the download request for a job. The worker sets where its file is stored.
	Request func(*fleet.Job) (download.Request, error)
	// ExitCode returns the exit code for a problem. It is stored in the ending of a job.
	ExitCode func(*problem.Problem) int
	// Stopping, if not nil, is called when the worker takes no more jobs and stops its running jobs.
	Stopping func()

	queue   *jetstream.Queue
	place   Place
	log     *slog.Logger
	running context.Context // context of Run
	pacer   *jetstream.Pacer
	ending  sync.WaitGroup

	mu     sync.Mutex
	tasks  map[int]*task // by number; the first is 0
	health fleet.Health
	counts map[string]int64
}

// New returns a worker that takes jobs of queue and places files in place.
func New(queue *jetstream.Queue, place Place, log *slog.Logger) *Worker {
	return &Worker{queue: queue, place: place, log: log, tasks: map[int]*task{}, counts: map[string]int64{}}
}

// The counted events, besides the final states of jobs.
const (
	CountUnchanged = "unchanged"
	CountGivenBack = "given-back"
	CountLost      = "lost"
	CountTakenOver = "taken-over"
	CountBytes     = "bytes"
	CountPaused    = "paused"
	CountPauses    = "pauses"
)

func (w *Worker) count(name string, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[name] += n
}

// Counts returns the number of jobs that the worker has, and the count of each event.
func (w *Worker) Counts() (jobs int, counts map[string]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.tasks), maps.Clone(w.counts)
}

// pace makes a client share the limits of hosts with the other workers.
func (w *Worker) pace(client *download.Client) {
	hosts := client.HostLimits
	w.pacer = w.queue.Pacer(w.AtOnce, func(u *url.URL) fleet.Limit {
		return fleet.Limit{Requests: client.HTTP.HostRate(u), Bytes: hosts.Rate(u)}
	})
	client.HTTP.Pace = w.pacer
	hosts.Share = func(host string, perSecond int64, l *limit.Limiter) func() {
		return w.pacer.Share(host, perSecond, l)
	}
}

// Run takes jobs and downloads their files until ctx is done. Then it gives all jobs back. The limits of hosts in
// client (HostRate of its HTTP client, HostLimits) apply to all workers together.
func (w *Worker) Run(ctx context.Context, client *download.Client) {
	w.running = ctx
	w.pace(client)
	jobs, room := make(chan download.Job), make(chan struct{}, w.AtOnce)
	var taking sync.WaitGroup
	taking.Go(func() { w.sweep(ctx) })
	taking.Go(func() {
		defer close(jobs)
		w.take(ctx, jobs, room)
	})
	ended := func(n int, r download.Request, x download.Result, err error) {
		t := w.task(n)
		w.ending.Go(func() {
			t.end(r, x, err)
			<-room
		})
	}
	client.GetEach(ctx, jobs, download.Batch{AtOnce: w.AtOnce, Ended: ended})
	if w.Stopping != nil {
		w.Stopping()
	}
	w.log.Info("ending")
	taking.Wait()
	w.ending.Wait()
}

// take takes a job whenever room has a free slot.
func (w *Worker) take(ctx context.Context, jobs chan<- download.Job, room chan struct{}) {
	for n := 0; ; n++ {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if w.fit(ctx, room) != nil {
			return
		}
		claim, err := w.queue.Next(ctx)
		if err != nil {
			return
		}
		if claim.TakenOver {
			w.count(CountTakenOver, 1)
		}
		t := newTask(w, claim)
		w.mu.Lock()
		w.tasks[n] = t
		w.mu.Unlock()
		select {
		case jobs <- download.Job{Context: t.sent.Context(claim.Context), Request: t.request}:
		case <-ctx.Done():
			t.release()
			return
		}
	}
}

// task removes and returns the running task with the number n.
func (w *Worker) task(n int) *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[n]
	delete(w.tasks, n)
	return t
}
