package download

import (
	"context"
	"iter"
	"sync"
	"time"

	"braid/internal/fsys"
	"braid/scheduler"
	"braid/source/httpsource"
)

// MostAtOnce limits how many downloads of a batch run at once if Batch.AtOnce is zero.
const MostAtOnce = scheduler.MostAtOnce

// A Batch configures how many files are downloaded together.
type Batch struct {
	// AtOnce is the number of downloads that run at a time. If zero, the number is measured: it grows up to MostAtOnce,
	// as long as each added download raises the total speed.
	AtOnce int
	// AtLeast is the minimum of downloads that run at a time if AtOnce is measured. If zero, it is 1.
	AtLeast int
	// Spare, if not nil, delivers more jobs for GetEach. While AtOnce downloads run, one of these jobs may run in
	// addition. Such jobs are meant for hosts without another running download.
	Spare <-chan Job
	// Resize, if not nil, delivers new values of AtOnce while downloads run. Running downloads are not stopped.
	Resize <-chan int
	// Ended, if not nil, is called at the end of each download, from one goroutine. Files are numbered from 0 in order
	// of arrival. Ended should not block for long, because no download begins meanwhile.
	Ended func(file int, req Request, result Result, err error)

	distinct bool // no download replaces the file of another
}

// A placed has the files that the downloads of one GetAll have put or found in place. A server may choose names, and two
// paths may lead to one file, so the caller cannot exclude that two downloads have the same file. A nil *placed is empty.
type placed struct {
	mu    sync.Mutex
	files map[fsys.ID]bool
}

func (x *placed) add(id fsys.ID) {
	if x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.files[id] = true
	}
}

func (x *placed) has(id fsys.ID) bool {
	if x == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.files[id]
}

// A Job is one download of GetEach.
type Job struct {
	// Context limits this download. It should be derived from the context of GetEach, which is used if Context is nil.
	Context context.Context
	// Request returns the request. It is called in a goroutine of the download. Its error becomes that of the download.
	Request func() (Request, error)
}

// GetAll downloads files, each as Get does, and returns how many were begun. The downloads share the connections of c,
// and the mirrors of one file are tried for the files beside it (RFC 6249, section 3.4). No download replaces a file that
// another one put in place. GetAll takes at most one request from files ahead of time. Once ctx is done, GetAll begins no
// more downloads, and returns when the running ones have ended.
func (c *Client) GetAll(ctx context.Context, files iter.Seq[Request], o Batch) (begun int) {
	jobs, told := make(chan Job), o.Ended
	o.distinct = true
	endings := &endings{news: make(chan struct{}, 1)}
	if o.Ended = endings.add; told == nil {
		told = func(int, Request, Result, error) {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		begun = c.GetEach(ctx, jobs, o)
	}()
	put := func(j Job) bool {
		for {
			select {
			case jobs <- j:
				endings.tell(told) // the downloads that ended before j began are reported before the next file is taken
				return true
			case <-endings.news:
				endings.tell(told)
			case <-done:
				return false
			case <-ctx.Done():
				return false
			}
		}
	}
	for req := range files {
		if !put(Job{Request: func() (Request, error) { return req, nil }}) {
			break
		}
	}
	close(jobs)
	for {
		select {
		case <-endings.news:
			endings.tell(told)
		case <-done:
			endings.tell(told)
			return begun
		}
	}
}

// endings holds the downloads that ended and were not yet reported to the caller of GetAll. So the other downloads
// continue while the iterator of the caller blocks.
type endings struct {
	mu   sync.Mutex
	list []batchMessage
	news chan struct{} // has a value while list is not empty
}

func (e *endings) add(file int, req Request, result Result, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, batchMessage{id: scheduler.JobID(file), req: req, result: result, err: err})
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// tell calls told for each download in the list, in order.
func (e *endings) tell(told func(file int, req Request, result Result, err error)) {
	e.mu.Lock()
	list := e.list
	e.list = nil
	e.mu.Unlock()
	for _, m := range list {
		told(int(m.id), m.req, m.result, m.err)
	}
}

// GetEach is like GetAll for jobs that arrive one by one, until jobs is closed. It receives a job only when the job can
// begin.
func (c *Client) GetEach(ctx context.Context, jobs <-chan Job, o Batch) (begun int) {
	client := *c
	if client.HTTP == nil {
		client.HTTP = &httpsource.Client{IdlePerHost: max(o.AtOnce, MostAtOnce)}
		defer client.HTTP.CloseIdle()
	}
	hc, done := client.network(ctx)
	defer done()
	hc.files = fsys.Shared(hc.files)
	if o.distinct {
		hc.placed = &placed{files: map[fsys.ID]bool{}}
	}
	b := &batch{
		client: &client, http: hc, options: o, growth: scheduler.NewBatch(o.AtOnce),
		jobs: make(chan batchJob, 1), messages: make(chan batchMessage, 64),
	}
	b.growth.AtLeast(o.AtLeast)
	defer b.workers.Wait()
	defer close(b.jobs)
	return b.run(ctx, jobs)
}

// A batch is one call of GetEach. Its fields belong to the goroutine of run. Workers download and send messages.
type batch struct {
	client   *Client
	http     network
	trees    mirrorTrees
	options  Batch
	growth   *scheduler.Batch
	running  int
	spare    scheduler.JobID // the job from Batch.Spare that is running; 0: none
	jobs     chan batchJob
	idle     int // workers without a job
	workers  sync.WaitGroup
	messages chan batchMessage
}

// A batchJob is a download to be done. A JobID is the number of the file plus 1.
type batchJob struct {
	id scheduler.JobID
	Job
}

// A batchMessage reports that a download was answered, received bytes, or ended.
type batchMessage struct {
	id       scheduler.JobID
	answered bool
	rtt      time.Duration
	bytes    int64
	ended    bool
	req      Request
	result   Result
	err      error
}

func (b *batch) run(ctx context.Context, jobs <-chan Job) (begun int) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	over := ctx.Done()
	for {
		room, wake := b.growth.More(time.Now())
		if ctx.Err() != nil {
			jobs, over = nil, nil
		}
		if jobs == nil && b.running == 0 {
			return begun
		}
		come := jobs
		spare := b.options.Spare
		if room <= 0 {
			come = nil
		}
		if room > 0 || jobs == nil || b.spare != 0 {
			spare = nil
		}
		if b.running == 0 { // nothing would change before a new job
			timer.Stop()
		} else if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case j, more := <-come:
			if !more {
				jobs = nil
				continue
			}
			begun++
			b.begin(ctx, j)
		case j := <-spare:
			begun++
			b.spare = b.begin(ctx, j)
		case n := <-b.options.Resize:
			b.growth.Resize(time.Now(), n)
		case m := <-b.messages:
			b.handle(m)
		case <-timer.C:
		case <-over:
		}
	}
}

// begin gives j to a worker. The number of workers is the largest number of downloads that ran at once.
func (b *batch) begin(ctx context.Context, j Job) scheduler.JobID {
	id := b.growth.Began(time.Now())
	b.running++
	if j.Context == nil {
		j.Context = ctx
	}
	if b.idle--; b.idle < 0 {
		b.idle = 0
		b.workers.Go(b.work)
	}
	b.jobs <- batchJob{id, j}
	return id
}

// work runs one download after another.
func (b *batch) work() {
	for j := range b.jobs {
		m := batchMessage{id: j.id, ended: true}
		if m.req, m.err = j.Request(); m.err == nil {
			req := m.req
			req.reporter = &reporter{id: j.id, out: b.messages}
			m.result, m.err = get(j.Context, b.client, b.http, req, &b.trees)
			m.bytes = m.result.Fetched - req.reporter.counted
		}
		b.messages <- m
	}
}

func (b *batch) handle(m batchMessage) {
	now := time.Now()
	if m.answered {
		b.growth.Answered(now, m.id, m.rtt)
		return
	}
	b.growth.Arrived(now, m.id, m.bytes)
	if !m.ended {
		return
	}
	b.growth.Ended(now, m.id, m.err == nil)
	if b.running--; m.id == b.spare {
		b.spare = 0
	}
	b.idle++
	if b.options.Ended != nil {
		b.options.Ended(int(m.id)-1, m.req, m.result, m.err)
	}
}

// A reporter observes one download for the batch.
type reporter struct {
	id      scheduler.JobID
	out     chan<- batchMessage
	up      bool
	done    int64 // Done in the last Progress event
	counted int64 // bytes that were reported to the batch
}

func (r *reporter) observe(ev Event) {
	switch ev := ev.(type) {
	case SourceUp:
		if !r.up {
			r.up = true
			r.out <- batchMessage{id: r.id, answered: true, rtt: ev.RTT}
		}
	case Resumed:
		r.done = ev.Bytes
	case Restarted:
		r.done = 0
	case Progress:
		if n := ev.Done - r.done; n > 0 {
			r.counted += n
			r.out <- batchMessage{id: r.id, bytes: n}
		}
		r.done = ev.Done
	}
}
