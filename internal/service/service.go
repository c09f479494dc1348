// Package service runs a daemon for a command. It converts the daemon's entries to requests with files below one
// folder, or to jobs for a fleet. It also serves the clients, and handles signals and the service manager.
//
//	s := &service.Service{Job: defaults, Root: folder, State: state, Log: log}
//	err := s.Run(ctx)
//
// The queue belongs to package daemon.
package service

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/download"
	"braid/download/limit"
	"braid/internal/database"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
	"braid/internal/watch"
)

// A Service is a daemon with its queue, its clients, its log and its notifications.
type Service struct {
	Job         *job.Defaults
	Root, State string // folders of the downloads and of the queue
	AtOnce      int
	LowestSpeed int64
	Server      Server
	Files       []string // files that the daemon depends on, besides those of Job
	Log         *watch.ServiceLog
	Notify      watch.Notifier
	Watching    *watch.Delegate // if nil, nothing is watched
	Jobs        *FleetJobs      // if nil, the daemon downloads
	Session     string          // file for the unfinished entries when the daemon ends, or ""
	Empty       bool            // drop the queue of an earlier run
	// First, if not nil, is called with the queue before clients are answered. Without that call, because the daemon was
	// stopped before, no session is saved: it would lack the entries that First adds.
	First func(q *queue.Queue) error

	begun bool // begin was called; belongs to the goroutine that owns the queue

	mu       sync.RWMutex // guards Job.HTTP.Sites, which a reload replaces
	timed    option.RatesValue
	rate     allowed
	unfollow func()
	// documents is the client of all downloads. The service also uses it to read the documents of entries.
	documents *download.Client
}

// ServeFleet makes the workers of a fleet download the entries; see [NewFleetJobs].
func (s *Service) ServeFleet(q *jetstream.Queue, prefix string, kind func(code int) download.Kind) {
	s.Jobs = NewFleetJobs(q, prefix, s.jobOf, kind)
}

// Run downloads and answers clients until ctx is done.
func (s *Service) Run(ctx context.Context) error {
	engine, client, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer client.HTTP.CloseIdle()
	defer client.State.Save()
	defer func() { s.unfollow() }()
	if s.Watching != nil {
		if err := s.Watching.Open(s.Log, engine, client); err != nil {
			return errors.Join(err, engine.Close())
		}
		defer s.Watching.Close()
	}
	listeners, err := s.listen()
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	return s.serve(ctx, engine, client, listeners)
}

// open returns the engine and the client of all downloads.
func (s *Service) open(ctx context.Context) (*daemon.Daemon, *download.Client, error) {
	s.timed, s.Job.Transfer.LimitRate = s.Job.Transfer.LimitRate, option.RatesValue{} // s.rate applies this limit
	s.Job.OfClients = true
	client, err := s.Job.Client(s.Watching.Typed()...)
	if err != nil {
		return nil, nil, err
	}
	if s.Watching != nil {
		s.Watching.KeepPace()
	}
	client.HTTP.IdlePerHost = max(s.AtOnce, download.MostAtOnce)
	client.Limit, client.LowestSpeed = &limit.Limiter{}, s.LowestSpeed
	s.Job.Within(client.Limit)
	s.rate.set = client.Limit.Set
	s.follow()
	if own := job.StateFolder(); own == "" || filepath.Dir(s.State) != own { // a service may have no home folder
		client.JournalKey, client.State.Dir = filepath.Join(s.State, "journal-key"), s.State
	}
	if err := s.Job.Prepare(client); err != nil {
		return nil, nil, err
	}
	if err := s.Job.ReadSums(ctx, client, nil); err != nil {
		return nil, nil, err
	}
	s.documents = client
	config := daemon.Config{
		Dir: s.State, Client: client, AtOnce: s.AtOnce, Request: s.request,
		Limit: s.rate.override, Log: s.Log.Logger,
		Empty: s.Empty, Last: s.lastSession, Stopped: s.Watching.Stopped, Hide: s.Log.Clean,
	}
	if s.Jobs != nil {
		config.Jobs = s.Jobs
	}
	engine, err := daemon.Open(config)
	if locked, ok := errors.AsType[*database.LockedError](err); ok {
		return nil, nil, &problem.Problem{
			Kind: download.Local, What: "daemon", Where: "queue", Why: locked.Error(),
			Hint: "choose another state folder with --state FOLDER: only one daemon can use each",
		}
	}
	if err != nil {
		return nil, nil, problem.Local("daemon", s.State, err)
	}
	return engine, client, nil
}

// follow adjusts the limits to the time of day.
func (s *Service) follow() {
	s.Job.HTTP.Sites.Limits.Add(s.timed, s.rate.schedule)
	s.unfollow = s.Job.HTTP.Sites.Limits.Follow()
}

// serve downloads and answers clients until ctx is done.
func (s *Service) serve(ctx context.Context, engine *daemon.Daemon, client *download.Client, listeners []net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	handler, begun := s.handler(engine, stop), make(chan struct{})
	for i, l := range listeners {
		wg.Go(func() {
			<-begun
			s.answer(ctx, handler, l, i == 0)
		})
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	wg.Go(func() { s.attend(ctx, engine, client, hup) })
	wg.Go(func() { s.tell(ctx, engine) })
	if s.Jobs != nil {
		wg.Go(func() { s.Jobs.follow(ctx) })
	}
	watched := make(chan error, 1)
	go func() {
		watched <- s.Watching.Run(ctx)
		stop()
	}()
	wg.Go(func() {
		defer close(begun)
		if err := engine.Do(ctx, s.begin); err != nil && ctx.Err() == nil {
			s.Log.Error("the download is not in the queue", "error", err)
		}
	})
	s.ready(listeners[0])
	err := engine.Run(ctx)
	stop()
	s.Watching.End()
	if failed := <-watched; failed != nil {
		return failed
	}
	if err != nil {
		return &problem.Problem{Kind: download.Local, What: "daemon", Where: "queue", Why: err.Error()}
	}
	return nil
}
