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
	"braid/internal/problem"
	"braid/internal/web"
)

// A loop is the state of the goroutine that owns the queue. That goroutine never waits for a disk, a server or a client.
type loop struct {
	*Daemon
	q         *queue.Queue
	downloads context.Context // parent of the contexts of all runs
	runs      map[queue.GID]*run
	begun     int               // number of downloads that the batch has begun
	numbers   map[int]queue.GID // entries of the running downloads, by download number
	offer     *offer            // the entry to be downloaded next; nil if none waits
	results   map[queue.GID]ended
	stale     bool // the offer is out of date
	atOnce    int
	resized   bool // atOnce has changed, and the batch has not received it yet
	looked    time.Time

	pending batch
	new     map[queue.GID]bool   // entries that are not on disk yet
	waiters []waiter             // calls with changes in pending
	due     map[queue.GID]string // by entry, paths of files; their journals are removed once pending is on disk
	writing bool
	written chan commit // has a capacity of one
	failed  error       // error of the last write
	timer   *time.Timer // fires when pending must be written, although no call waits
	timed   bool
}

// An offer is the entry to be downloaded next.
type offer struct {
	run   *run
	job   download.Job
	fresh bool // no active download uses the entry's host
}

// An ended is the result of the download with the number.
type ended struct {
	number int
	res    download.Result
	err    error
	entry  queue.Entry // state of the entry after the download ended
}

const (
	// writeAfter is how long changes are collected before a write while no call waits for them.
	writeAfter = 300 * time.Millisecond
	// writeAgain is the pause after a failed write.
	writeAgain = 10 * time.Second
	// parkTime is how long downloads may take to stop when the daemon ends.
	parkTime = 9 * time.Second
	// lookAfter is the maximum age of the download states that a call sees in the queue.
	lookAfter = 200 * time.Millisecond
)

func newLoop(ctx context.Context, d *Daemon) *loop {
	l := &loop{
		Daemon: d, q: queue.Restore(seed(), d.store.entries, d.store.global), downloads: ctx,
		runs: map[queue.GID]*run{}, numbers: map[int]queue.GID{}, results: map[queue.GID]ended{},
		due: map[queue.GID]string{}, stale: true, written: make(chan commit, 1), timer: time.NewTimer(0),
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

// configure applies global options.
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

// run runs the loop until ctx is done, all downloads have ended and all changes are on disk. stopped is closed when no
// download runs any more.
func (l *loop) run(ctx context.Context, stopped <-chan struct{}) error {
	ending, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		l.write(ctx.Err() != nil && l.failed == nil)
		if stopped == nil && !l.writing {
			l.config.Last(l.q)
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
			l.config.Last(l.q)
			return fmt.Errorf("%s did not stop within %v", option.Count(len(l.runs), "download"), parkTime)
		}
		l.absorb()
	}
}

// next returns the job to begin next, and the channels to which the job may be sent. Only a job for a host without
// active downloads may be sent to spare.
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

// prepare makes an offer of the entry that should be downloaded next.
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
	own = new(web.Tally).Context(context.WithValue(own, endKey{}, end))
	r := newRun(e, func() { end(nil) })
	r.why = func() error { return context.Cause(own) }
	request := func() (download.Request, error) { return l.request(own, r, e) }
	l.offer = &offer{fresh: l.q.Fresh(), run: r, job: download.Job{Context: own, Request: request}}
}

// request returns the download request for e. It is called in the download's goroutine.
func (d *Daemon) request(ctx context.Context, r *run, e queue.Entry) (download.Request, error) {
	req, err := d.config.Request(ctx, e)
	if err != nil {
		return req, err
	}
	outer := req.Limits.Rate
	if outer == nil {
		outer = d.client.Limit
	}
	req.Limits.Rate, req.Limits.Lowest = r.limit.Within(outer), lowestOf(e.Options, d.client.LowestSpeed, &d.crowded)
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

// begin records that the batch has begun the offered download.
func (l *loop) begin() {
	r := l.offer.run
	l.offer = nil
	l.q.Start(time.Now())
	l.runs[r.gid], l.numbers[l.begun] = r, r.gid
	l.pictures.begin(r)
	l.begun++
}

// end handles the end of a download. If the download failed because another run still used the file, and that run is
// stopping, the download begins again after that run has ended.
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
		if r.rival { // the stopped run has ended in the meantime
			o = queue.Outcome{Kind: queue.Interrupted}
		}
	}
	l.finish(e, o)
}

// rivals returns the other runs that write the same file as r.
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
	was, had := l.q.Entry(g)
	if several, ok := errors.AsType[*download.SeveralError](e.err); ok && was.Watch == "" { // a watch wants one file
		o = l.split(g, several.Document)
	}
	if _, missing := problem.Missing(e.err); missing && was.Tentative {
		o.Kind = queue.Early
	}
	l.q.Progress(g, live)
	if o.Kind != queue.Interrupted || l.downloads.Err() == nil { // when the daemon ends, park orders them
		l.q.Ended(time.Now(), g, o)
	}
	var there bool
	e.entry, there = l.q.Entry(g)
	if o.Due && (!there || e.entry.Status >= queue.Complete) { // else the next download of the entry needs the journal
		l.due[g] = live.Path
	}
	if had && !there { // reported once the store has forgotten the entry
		e.entry = was
		e.entry.Status, e.entry.Outcome = queue.Failed, o
	}
	if l.results[g] = e; !had || there && e.entry.Status < queue.Complete {
		l.tellStopped(g)
	}
	for _, waiting := range r.after {
		l.finish(waiting, queue.Outcome{Kind: queue.Interrupted})
	}
}

// split adds an entry for each file of the document that the entry g downloaded, and returns the outcome of g.
func (l *loop) split(g queue.GID, d *download.Document) queue.Outcome {
	e, _ := l.q.Entry(g)
	if _, err := strconv.Atoi(e.Options[OptionSelect]); err == nil && e.Following != 0 { // e stands for one file
		return refusal(download.Protocol, "the document describes several files now, but described one when this entry was added")
	}
	var children []queue.Entry
	if e.Options[OptionSignature] != "" {
		return refusal(download.Usage, "the signature is of one file, but the document has several")
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
		return refusal(download.Protocol, err.Error())
	}
	if len(children) == 0 {
		return refusal(download.Usage, "no file of the document has a number that is given in the option "+OptionSelect)
	}
	return queue.Outcome{}
}

// park makes the interrupted entries wait at the front, in the order in which they began, when the daemon ends.
func (l *loop) park() {
	for _, e := range slices.Backward(l.q.Active()) {
		l.q.Ended(time.Now(), e.GID, queue.Outcome{Kind: queue.Interrupted})
	}
}

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

// look updates the state of the download of entry g in the queue.
func (l *loop) look(g queue.GID) {
	if r := l.runs[g]; r != nil {
		l.q.Progress(g, r.now())
	}
}

// absorb carries out the changes that the queue requires. It reports whether entries or options must be written.
func (l *loop) absorb() bool {
	c := l.q.Drain()
	for _, g := range c.Stop {
		if r := l.runs[g]; r != nil { // nil if the download has ended already
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
