package daemon

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"braid/daemon/queue"
	"braid/download"
	"braid/internal/option"
	"braid/internal/partfile"
)

// A loop is the goroutine that owns the queue. It never waits for a disk, a server or a client.
type loop struct {
	*Daemon
	q         *queue.Queue
	downloads context.Context // of all runs
	runs      map[queue.GID]*run
	begun     int               // jobs that were taken
	numbers   map[int]queue.GID // of those that run, by their place among them
	offer     *offer            // what the next place is for
	results   map[queue.GID]ended
	stale     bool // the offer has to be looked at anew
	atOnce    int
	resized   bool // that was not told yet
	looked    time.Time

	pending batch
	new     map[queue.GID]bool   // entries that are not on disk yet, in pending or being written
	waiters []waiter             // whose changes are in pending
	due     map[queue.GID]string // journals to be removed when pending is on disk, by the paths of their files
	writing bool
	written chan commit // has room for one
	failed  error       // of the last time
	timer   *time.Timer // when pending is written though no call waits for it
	timed   bool
}

// An offer is the entry that begins next.
type offer struct {
	run   *run
	job   download.Job
	fresh bool // nothing of its host runs
}

// ended is the end of the download with a number.
type ended struct {
	number int
	res    download.Result
	err    error
	entry  queue.Entry // as it was then
}

const (
	// writeAfter is how long changes that no call waits for are held for others.
	writeAfter = 300 * time.Millisecond
	// writeAgain is how long they wait after the disk has failed.
	writeAgain = 10 * time.Second
	// parkTime is how long downloads may take to park.
	parkTime = 9 * time.Second
	// lookAfter is how old may be what the queue says of active downloads.
	lookAfter = 200 * time.Millisecond
)

func newLoop(ctx context.Context, d *Daemon) *loop {
	l := &loop{
		Daemon: d, q: queue.Restore(seed(), d.store.entries, d.store.global), downloads: ctx, runs: map[queue.GID]*run{},
		numbers: map[int]queue.GID{}, results: map[queue.GID]ended{}, due: map[queue.GID]string{}, stale: true, written: make(chan commit, 1), timer: time.NewTimer(0),
	}
	<-l.timer.C
	for _, e := range d.store.entries {
		if e.Outcome.Due {
			l.due[e.GID] = e.Path
		}
	}
	d.store.entries = nil
	l.configure(l.q.Global())
	l.resized = false
	l.absorb()
	return l
}

// configure takes up global options.
func (l *loop) configure(global map[string]string) {
	limit, err := option.ParseSize(global[OptionGlobalLimit])
	l.config.Limit(limit, err == nil && global[OptionGlobalLimit] != "")
	atOnce := l.config.AtOnce
	if n, err := strconv.Atoi(global[OptionAtOnce]); err == nil && n >= 0 {
		atOnce = n
	}
	l.resized, l.atOnce = atOnce != l.atOnce || l.resized, atOnce
	if l.config.Jobs != nil {
		atOnce = -1
	}
	l.q.SetPlaces(atOnce)
}

// run runs the loop until ctx has ended, all downloads have, and everything is on disk.
func (l *loop) run(ctx context.Context, stopped <-chan struct{}) error {
	ending, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		l.write(ctx.Err() != nil && l.failed == nil)
		if stopped == nil && !l.writing {
			if l.config.Last != nil && l.failed == nil {
				l.config.Last(l.q)
			}
			return l.failed
		}
		job, jobs, spare := l.next(ctx)
		resize := l.resize
		if !l.resized || ctx.Err() != nil {
			resize = nil
		}
		select {
		case c := <-l.calls:
			l.call(c)
		case jobs <- job:
			l.begin()
		case spare <- job:
			l.begin()
		case resize <- l.atOnce:
			l.resized = false
		case e := <-l.ended:
			l.end(e)
		case g := <-l.news:
			l.look(g)
		case c := <-l.written:
			l.commit(c)
		case <-l.timer.C:
			l.timed = false
			l.writeNow()
		case <-ending:
			ending, late = nil, time.After(parkTime)
		case <-stopped:
			stopped = nil
			l.park()
		case <-late:
			return fmt.Errorf("%s did not stop within %v", option.Count(len(l.runs), "download"), parkTime)
		}
		l.absorb()
	}
}

// next is the job that is offered to the batch, which takes it when there is room. One of a host of which nothing runs may have a spare place.
func (l *loop) next(ctx context.Context) (job download.Job, jobs, spare chan<- download.Job) {
	if l.stale {
		l.prepare(ctx)
	}
	if l.offer == nil || l.unwritten(l.offer.run.gid) {
		return download.Job{}, nil, nil
	}
	if l.offer.fresh && l.atOnce == 0 {
		spare = l.spare
	}
	return l.offer.job, l.jobs, spare
}

// prepare makes an offer of the entry that is first.
func (l *loop) prepare(ctx context.Context) {
	if l.offer != nil {
		l.offer.run.cancel()
	}
	l.offer, l.stale = nil, false
	e, ok := l.q.Next()
	if l.crowded.Store(ok); !ok || ctx.Err() != nil || l.config.Jobs != nil {
		return
	}
	if parent, ok := l.q.Entry(e.Following); ok && len(e.URIs) == 0 && len(e.Document) == 0 {
		e.Document = parent.Document
	}
	e.Options = optionsOf(l.q, &e)
	own, end := context.WithCancelCause(l.downloads)
	own = context.WithValue(own, endKey{}, end)
	r := newRun(e, func() { end(nil) })
	r.why = func() error { return context.Cause(own) }
	l.offer = &offer{fresh: l.q.Fresh(), run: r, job: download.Job{Context: own, Request: func() (download.Request, error) { return l.request(own, r, e) }}}
}

// optionsOf are the options of an entry, and those of all downloads where it does not say them.
func optionsOf(q *queue.Queue, e *queue.Entry) map[string]string {
	options := maps.Clone(q.Global())
	delete(options, OptionGlobalLimit) // which is one limit for all of them
	delete(options, OptionAtOnce)
	if len(options) == 0 {
		return e.Options
	}
	maps.Copy(options, e.Options)
	return options
}

// request makes the request of an entry. It is called in the goroutine of the download.
func (d *Daemon) request(ctx context.Context, r *run, e queue.Entry) (download.Request, error) {
	req, err := d.config.Request(ctx, e)
	if err != nil {
		return req, err
	}
	outer := req.Limit
	if outer == nil {
		outer = d.client.Limit
	}
	req.Limit, req.Lowest = r.limit.Within(outer), lowestOf(e.Options, d.client.LowestSpeed, &d.crowded)
	req.Due, req.Detail = true, true
	observe := req.Observe
	req.Observe = func(ev download.Event) {
		if observe != nil {
			observe(ev)
		}
		if r.observe(ev) {
			select {
			case d.news <- r.gid:
			case <-d.over:
			}
		}
	}
	return req, nil
}

// begin takes note that the offer was taken.
func (l *loop) begin() {
	r := l.offer.run
	l.offer = nil
	l.q.Start(time.Now())
	l.runs[r.gid], l.numbers[l.begun] = r, r.gid
	l.pictures.begin(r)
	l.begun++
}

// end takes note that a download has ended. One that found its file in use by another one that is being stopped waits for its end, and
// begins again.
func (l *loop) end(e ended) {
	r := l.runs[l.numbers[e.number]]
	if why, ok := r.why().(*failed); ok && e.err != nil {
		e.err = why.error
	}
	o := l.outcomeOf(e.res, e.err)
	if _, used := errors.AsType[*partfile.InUseError](e.err); used {
		for other := range l.rivals(r) {
			if other.stopping {
				other.after = append(other.after, e)
				return
			}
		}
		if r.rival { // which is gone by now
			o = queue.Outcome{Kind: queue.Interrupted}
		}
	}
	l.finish(e, o)
}

// rivals are the runs that are about the same file.
func (l *loop) rivals(r *run) iter.Seq[*run] {
	path := r.now().Path
	return func(yield func(*run) bool) {
		for _, other := range l.runs {
			if other != r && path != "" && other.now().Path == path && !yield(other) {
				return
			}
		}
	}
}

func (l *loop) finish(e ended, o queue.Outcome) {
	g := l.numbers[e.number]
	r := l.runs[g]
	delete(l.numbers, e.number)
	delete(l.runs, g)
	r.cancel()
	if r.stopping {
		for other := range l.rivals(r) {
			other.rival = true
		}
	}
	live := r.end(e.res, e.err)
	r.record(e.res, e.err)
	l.pictures.end(r)
	was, _ := l.q.Entry(g)
	if several, ok := errors.AsType[*download.SeveralError](e.err); ok && was.Watch == "" { // a watch wants one file
		o = l.split(g, several.Document)
	}
	if o.Due {
		l.due[g] = live.Path
	}
	l.q.Progress(g, live)
	if o.Kind != queue.Interrupted || l.downloads.Err() == nil { // else all of them are parked in their order
		l.q.Ended(time.Now(), g, o)
	}
	var there bool
	e.entry, there = l.q.Entry(g)
	l.results[g] = e
	if !there || e.entry.Status < queue.Complete {
		l.tellStopped(g)
	}
	for _, waiting := range r.after {
		l.finish(waiting, queue.Outcome{Kind: queue.Interrupted})
	}
}

// split has the files of a document follow the entry that is the document, which is complete then.
func (l *loop) split(g queue.GID, d *download.Document) queue.Outcome {
	e, _ := l.q.Entry(g)
	if _, err := strconv.Atoi(e.Options[OptionSelect]); err == nil && e.Following != 0 { // it is of one file, which that is not
		return queue.Outcome{Kind: download.Protocol.String(), Code: 1, Message: "the document describes several files where it described one"}
	}
	var children []queue.Entry
	if e.Options[OptionSignature] != "" {
		return queue.Outcome{Kind: download.Usage.String(), Code: 1, Message: "the signature is of one file, and the document has several"}
	}
	for i := range d.Files.Len() {
		if !queue.Selected(e.Options[OptionSelect], i+1) {
			continue
		}
		child := queue.Entry{URIs: e.URIs, Priority: e.Priority, Following: g, Options: maps.Clone(e.Options)}
		if len(e.Document) > 0 {
			child.URIs = nil
		}
		if child.Options == nil {
			child.Options = map[string]string{}
		}
		delete(child.Options, "out")
		child.Options[OptionSelect] = strconv.Itoa(i + 1)
		children = append(children, child)
	}
	if _, err := l.q.AddAll(time.Now(), children, len(e.FollowedBy)); err != nil {
		return queue.Outcome{Kind: download.Protocol.String(), Code: 1, Message: err.Error()}
	}
	if len(children) == 0 {
		return queue.Outcome{Kind: download.Usage.String(), Code: 1, Message: "the document has no file with a number of the option " + OptionSelect}
	}
	return queue.Outcome{}
}

// park has what was interrupted by the end of the daemon wait in front, in the order in which it began.
func (l *loop) park() {
	for _, e := range slices.Backward(l.q.Active()) {
		l.q.Ended(time.Now(), e.GID, queue.Outcome{Kind: queue.Interrupted})
	}
}

// call runs a function.
func (l *loop) call(c call) {
	if now := time.Now(); now.Sub(l.looked) >= lookAfter {
		l.looked = now
		for g := range l.runs {
			l.look(g)
		}
		l.absorb()
	}
	err := c.do(l.q)
	if l.absorb() {
		l.waiters = append(l.waiters, waiter{c.done, err})
		return
	}
	c.done <- err
}

// look has the queue know what a download does.
func (l *loop) look(g queue.GID) {
	if r := l.runs[g]; r != nil {
		l.q.Progress(g, r.now())
	}
}

// absorb does what the queue calls for. It reports whether something is to be written.
func (l *loop) absorb() bool {
	c := l.q.Drain()
	for _, g := range c.Stop {
		if r := l.runs[g]; r != nil { // none if it has parked, while others still do
			r.stopping = true
			r.cancel()
		} else if l.config.Jobs != nil {
			l.q.Ended(time.Now(), g, queue.Outcome{Kind: queue.Interrupted})
		}
	}
	for _, g := range c.Changed {
		if r := l.runs[g]; r != nil {
			e, _ := l.q.Entry(g)
			r.setLimit(optionsOf(l.q, &e))
		}
	}
	if c.Global != nil {
		l.configure(c.Global)
	}
	l.subs.tell(c.Notices)
	if !c.Stored() {
		return false
	}
	l.enter(&c)
	l.stale = true
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return true
}
