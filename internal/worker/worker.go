// Package worker takes jobs of a fleet's queue, downloads their files and puts them in place.
//
// A [Worker] takes a job whenever it has room for one. Its [Place] is the folder or the object store that all
// workers of the queue put files in, and lets only the worker that has a job put the file of it there. What became
// of a job is stored in the queue, and the queue decides by that whether another try follows. A worker whose tries
// fail by its own fault takes no job for a while.
//
//	w := worker.New(queue, place, log)
//	w.AtOnce, w.Request, w.ExitCode = 4, request, exitCode
//	w.Run(ctx, client)
//
// It does not know how a job becomes a request: the caller says so, as that depends on settings, passwords and keys.
package worker

import (
	"context"
	"log/slog"
	"maps"
	"net/url"
	"sync"

	"braid/download"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/problem"
)

// A Worker is one process that downloads jobs of a queue. Its exported fields are set before Run.
type Worker struct {
	AtOnce int // how many downloads at once
	// Request makes the request of a job. The place of the file in it is of no account.
	Request func(*fleet.Job) (download.Request, error)
	// ExitCode returns the exit code of a problem, which is stored with the ending of a job.
	ExitCode func(*problem.Problem) int
	// Stopping, if set, is called when no more jobs are taken; those at work end then.
	Stopping func()

	queue   *jetstream.Queue
	place   Place
	log     *slog.Logger
	running context.Context // of Run
	pacer   *jetstream.Pacer
	ending  sync.WaitGroup

	mu     sync.Mutex
	tasks  map[int]*task // by number, from 0
	health fleet.Health
	counts map[string]int64
}

// New returns a worker that takes jobs of queue and puts files in place.
func New(queue *jetstream.Queue, place Place, log *slog.Logger) *Worker {
	return &Worker{queue: queue, place: place, log: log, tasks: map[int]*task{}, counts: map[string]int64{}}
}

// What a worker counts beside the states that jobs come to.
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

// Counts returns how many jobs the worker has, and how often each of what it counts has happened.
func (w *Worker) Counts() (jobs int, counts map[string]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.tasks), maps.Clone(w.counts)
}

// pace has a client keep to the pace of hosts together with the other workers.
func (w *Worker) pace(client *download.Client) {
	hosts := client.HostLimits
	w.pacer = w.queue.Pacer(w.AtOnce, func(u *url.URL) fleet.Limit {
		return fleet.Limit{Requests: client.HTTP.HostRate(u), Bytes: hosts.Rate(u)}
	})
	client.HTTP.Pace = w.pacer
	hosts.Share = func(host string, perSecond int64, l *download.Limiter) func() {
		return w.pacer.Share(host, perSecond, l)
	}
}

// Run takes jobs and downloads their files until ctx ends. Then it gives all back that it has. The client has
// limits of hosts (HostRate of its HTTP client, HostLimits), which all workers keep together.
func (w *Worker) Run(ctx context.Context, client *download.Client) {
	w.running = ctx
	w.pace(client)
	jobs, room := make(chan download.Job), make(chan struct{}, w.AtOnce)
	var taking sync.WaitGroup
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

// take takes a job whenever there is room for one.
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
		case jobs <- download.Job{Context: claim.Context, Request: t.request}:
		case <-ctx.Done():
			t.release()
			return
		}
	}
}

// task removes the task of a number from those at work, and returns it.
func (w *Worker) task(n int) *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[n]
	delete(w.tasks, n)
	return t
}
