package download_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"braid/download"
)

// An each is a call of GetEach into its own folder.
type each struct {
	t      *testing.T
	dir    string
	jobs   chan download.Job
	resize chan int
	ended  chan ending
	begun  chan int
}

type ending struct {
	file   int
	result download.Result
	err    error
}

func newEach(ctx context.Context, t *testing.T, atOnce int) *each {
	e := &each{t, t.TempDir(), make(chan download.Job), make(chan int), make(chan ending, 99), make(chan int, 1)}
	go func() {
		e.begun <- new(download.Client).GetEach(ctx, e.jobs, download.Batch{AtOnce: atOnce, Resize: e.resize,
			Ended: func(file int, _ download.Request, r download.Result, err error) {
				e.ended <- ending{file, r, err}
			}})
	}()
	return e
}

func (e *each) job(u string) download.Job {
	return download.Job{Request: func() (download.Request, error) {
		return download.Request{URL: parse(e.t, u), Dir: e.dir}, nil
	}}
}

// TestGetEach: downloads come at any time, also after a while without any, and end one by one.
func TestGetEach(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	urls := many(s, 5)
	e := newEach(t.Context(), t, 0)
	for i, u := range urls {
		e.jobs <- e.job(u)
		if got := <-e.ended; got.file != i || got.err != nil || path.Base(got.result.Path) != path.Base(u) {
			t.Errorf("file %d: %+v", i, got)
		}
	}
	broken := errors.New("no such option")
	e.jobs <- download.Job{Request: func() (download.Request, error) { return download.Request{}, broken }}
	if got := <-e.ended; got.file != 5 || got.err != broken {
		t.Errorf("a request that cannot be made: %+v", got)
	}
	close(e.jobs)
	if n := <-e.begun; n != 6 {
		t.Errorf("%d were begun", n)
	}
}

// TestGetEachStops: a download that its own context ends does not affect the others, and its place becomes
// free.
func TestGetEachStops(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range 3 {
		s.files.Store(fmt.Sprintf("/%d", i), file(8*mib, 3))
	}
	s.delay = 1 << 40 // until all are hurried
	ctx, cancel := context.WithCancel(t.Context())
	one, stop := context.WithCancel(ctx)
	e := newEach(ctx, t, 2)
	first := e.job(s.URL + "/0")
	first.Context = one
	e.jobs <- first
	e.jobs <- e.job(s.URL + "/1")
	stop()
	var own *download.Error
	if got := <-e.ended; got.file != 0 || !errors.As(got.err, &own) || own.Kind != download.Interrupted {
		t.Errorf("the one that was stopped: %+v", got)
	}
	e.jobs <- e.job(s.URL + "/2")
	close(s.hurried)
	for range 2 {
		if got := <-e.ended; got.err != nil || got.file == 0 {
			t.Errorf("another one: %+v", got)
		}
	}
	cancel() // and jobs stays open
	if n := <-e.begun; n != 3 {
		t.Errorf("%d were begun", n)
	}
}

// TestGetEachResize: a new number of downloads counts at once.
func TestGetEachResize(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.delay = 1 << 40
	urls := many(s, 6)
	e := newEach(t.Context(), t, 1)
	e.jobs <- e.job(urls[0])
	full := func() bool {
		select {
		case e.jobs <- e.job(urls[5]):
			return false
		case e.resize <- 3: // it is taken while no job is
			return true
		}
	}
	if !full() {
		t.Error("a second one began")
	}
	e.jobs <- e.job(urls[1])
	e.jobs <- e.job(urls[2])
	if !full() {
		t.Error("a fourth one began")
	}
	e.resize <- 0 // measured: without bytes, none is added
	close(s.hurried)
	for range 3 {
		if got := <-e.ended; got.err != nil {
			t.Error(got.err)
		}
	}
	close(e.jobs)
	if n := <-e.begun; n != 3 {
		t.Errorf("%d were begun", n)
	}
}

// Downloads continue while the iterator of GetAll blocks, and their ends are reported when it returns.
func TestGetAllWaitsForFiles(t *testing.T) {
	t.Parallel()
	const n = 100
	s := newSite(t)
	urls, dir := many(s, n), t.TempDir()
	var ended sync.WaitGroup
	ended.Add(n)
	client := download.Client{JournalKey: filepath.Join(t.TempDir(), "key")}
	told := 0
	client.GetAll(t.Context(), func(yield func(download.Request) bool) {
		for _, u := range urls {
			var once sync.Once
			r := download.Request{URL: parse(t, u), Dir: dir, Observe: func(ev download.Event) {
				if _, ok := ev.(download.Complete); ok {
					once.Do(ended.Done)
				}
			}}
			if !yield(r) {
				return
			}
		}
		all := make(chan bool)
		go func() {
			ended.Wait()
			close(all)
		}()
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Error("the downloads do not go on")
		}
	}, download.Batch{AtOnce: n, Ended: func(_ int, _ download.Request, _ download.Result, err error) {
		if told++; err != nil {
			t.Error(err)
		}
	}})
	if told != n {
		t.Errorf("told of %d endings, want %d", told, n)
	}
}
