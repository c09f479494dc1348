package download

import (
	"context"
	"iter"
	"sync"
	"time"

	"braid/scheduler"
)

// MostAtOnce is how many downloads of a batch run at once, at most, where their number is measured.
const MostAtOnce = scheduler.MostAtOnce

// A Batch says how many files are downloaded together.
type Batch struct {
	// AtOnce is how many downloads run at a time. If zero, that is measured: another begins as long as the
	// aggregate grows by it, and at most MostAtOnce do.
	AtOnce int
	// Ended, if not nil, is called at the end of each download, from one goroutine. Files are numbered from 0 in
	// the order in which they came. It should not block for long: no download begins meanwhile.
	Ended func(file int, req Request, result Result, err error)
}

// A batch is one call of GetAll. Its fields belong to the goroutine of run; downloads are done by workers, which
// take jobs and send messages.
type batch struct {
	client   *Client
	http     network
	trees    mirrorTrees
	options  Batch
	growth   *scheduler.Batch
	running  map[scheduler.JobID]Request
	jobs     chan batchJob
	idle     int // workers without a job
	workers  sync.WaitGroup
	messages chan batchMessage
}

// A batchJob is a download to be done. JobIDs are counted from 1, so that of the first file is 1.
type batchJob struct {
	id  scheduler.JobID
	req Request
}

// A batchMessage is of a download that was answered, that got bytes, or that ended.
type batchMessage struct {
	id       scheduler.JobID
	answered bool
	rtt      time.Duration
	bytes    int64
	ended    bool
	result   Result
	err      error
}

func (b *batch) run(ctx context.Context, files iter.Seq[Request]) (begun int) {
	next, stop := iter.Pull(files)
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for more := true; ; {
		room, wake := b.growth.More(time.Now())
		for ; room > 0 && more && ctx.Err() == nil; room-- {
			var req Request
			if req, more = next(); more {
				b.begin(ctx, req)
				begun++
			}
		}
		if len(b.running) == 0 {
			return begun
		}
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case m := <-b.messages:
			b.handle(m)
		case <-timer.C:
		}
	}
}

// begin gives a download to a worker. There are as many as downloads have run at once.
func (b *batch) begin(ctx context.Context, req Request) {
	id := b.growth.Began(time.Now())
	b.running[id] = req
	if b.idle--; b.idle < 0 {
		b.idle = 0
		b.workers.Go(func() { b.work(ctx) })
	}
	b.jobs <- batchJob{id, req}
}

// work does one download after the other.
func (b *batch) work(ctx context.Context) {
	for j := range b.jobs {
		r := &reporter{id: j.id, out: b.messages, next: j.req.Observe}
		j.req.Observe = r.observe
		result, err := get(ctx, b.client, b.http, j.req, &b.trees)
		b.messages <- batchMessage{id: j.id, bytes: result.Fetched - r.counted, ended: true, result: result, err: err}
	}
}

// handle takes a message of a download.
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
	req := b.running[m.id]
	delete(b.running, m.id)
	b.idle++
	if b.options.Ended != nil {
		b.options.Ended(int(m.id)-1, req, m.result, m.err)
	}
}

// A reporter observes one download for the batch.
type reporter struct {
	id      scheduler.JobID
	out     chan<- batchMessage
	next    func(Event)
	up      bool
	done    int64 // as the last progress had it
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
	if r.next != nil {
		r.next(ev)
	}
}
