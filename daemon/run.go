package daemon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/daemon/queue"
	"braid/download"
	"braid/internal/option"
	"braid/internal/report"
)

// A run is a download that is at work for an entry.
type run struct {
	gid    queue.GID
	cancel context.CancelFunc
	limit  *download.Limiter // its own

	// These are the loop's: it is being stopped; another one of the same file was, and ended; what ended because this
	// one has the file.
	stopping, rival bool
	after           []ended
	why             func() error // what ended its context

	mu   sync.Mutex // for what follows
	rec  *report.Recorder
	have byterange.Set
	live queue.Live // as of the last time that something was worth it
}

func newRun(e queue.Entry, cancel context.CancelFunc) *run {
	r := &run{gid: e.GID, cancel: cancel, limit: &download.Limiter{}, rec: report.NewRecorder(time.Now())}
	r.setLimit(e.Options)
	return r
}

// OptionLimit is the option of an entry that limits its download, OptionSelect has the numbers of the files of its
// document that are wanted, and OptionSignature is a signature of its file, in base64. One that is slower than
// OptionLowest makes room for those that wait. The global ones limit all, and say how many run at once.
const (
	OptionSelect      = "select-file"
	OptionSignature   = "signature"
	OptionLimit       = "max-download-limit"
	OptionGlobalLimit = "max-overall-download-limit"
	OptionAtOnce      = "max-concurrent-downloads"
	OptionLowest      = "lowest-speed-limit"
)

// setLimit sets the limit of an entry. What makes no sense was refused when it was set, and is none here.
func (r *run) setLimit(options map[string]string) {
	n, _ := option.ParseSize(options[OptionLimit])
	r.limit.Set(n)
}

// lowestOf is the least speed of a download, if its options name none that of all. One that is slower keeps its place
// as long as nothing waits for it.
func lowestOf(options map[string]string, least int64, crowded *atomic.Bool) func() int64 {
	if n, err := option.ParseSize(options[OptionLowest]); err == nil {
		least = n
	}
	return func() int64 {
		if !crowded.Load() {
			return 0
		}
		return least
	}
}

// observe takes down what happens. It reports whether the loop should hear of it at once.
func (r *run) observe(ev download.Event) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.live
	r.rec.Observe(time.Now(), ev)
	switch ev := ev.(type) {
	case download.Started:
		r.live.Path = ev.Path
	case download.Resumed:
		r.have = ev.Have.Clone()
	case download.Restarted:
		r.have = byterange.Set{}
	case download.Voided:
		r.have.Remove(ev.Range)
	case download.Brought:
		for _, p := range ev.Pieces {
			r.have.Add(p.Range)
		}
	case download.Seeding:
		r.live.Seeding, r.live.Given, r.live.Path = true, ev.Given, ev.Path
	}
	return was.Path != r.live.Path || was.Seeding != r.live.Seeding
}

// now returns what the download does.
func (r *run) now() queue.Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, at, p := r.live, time.Now(), r.rec.Progress
	l.Done, l.Size, l.Speed, l.Connections = p.Done, p.Size, int64(p.Rate), p.Active
	l.Have = r.have.Clone()
	for _, m := range r.rec.Mirrors {
		l.Sources = append(l.Sources, queue.Source{
			URL: m.URL, Host: m.Host, State: r.rec.State(m), Working: m.AtWork(), Speed: int64(m.Speed.Now(at, m.Bytes)), Bytes: m.Bytes,
		})
	}
	return l
}

// end returns what the download has come to.
func (r *run) end(res download.Result, err error) queue.Live {
	l := r.now()
	l.Speed, l.Connections, l.Sources = 0, 0, nil
	if res.Path != "" {
		l.Path = res.Path
	}
	if err == nil {
		l.Done, l.Size = res.Size, res.Size
	}
	return l
}
