package daemon

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/daemon/queue"
	"braid/download"
	"braid/download/limit"
	"braid/internal/option"
	"braid/internal/report"
)

// A run is a download of an entry that is running.
type run struct {
	gid    queue.GID
	cancel context.CancelFunc
	limit  *limit.Limiter // for this download alone

	// The loop owns stopping, rival and after. stopping reports that this run is being stopped. rival reports that
	// another run for the same file was stopped and has ended. after holds the results of runs that failed because this
	// run was using the file.
	stopping, rival bool
	after           []ended
	why             func() error // returns why the context of the run was canceled

	mu   sync.Mutex // protects the fields below
	rec  *report.Recorder
	have byterange.Set
	live queue.Live // state after the last observed event
}

func newRun(e queue.Entry, cancel context.CancelFunc) *run {
	r := &run{gid: e.GID, cancel: cancel, limit: &limit.Limiter{}, rec: report.NewRecorder(time.Now())}
	r.setLimit(e.Options)
	return r
}

// Options that the daemon itself interprets. OptionSelect lists the numbers of the files that are wanted from the
// entry's document. OptionSignature is a signature of the entry's file, in base64. OptionLimit limits the speed of the
// entry's download, and OptionGlobalLimit that of all downloads together. OptionAtOnce is the number of concurrent
// downloads. A download that is slower than OptionLowest ends if other entries are waiting.
const (
	OptionSelect      = "select-file"
	OptionSignature   = "signature"
	OptionLimit       = "max-download-limit"
	OptionGlobalLimit = "max-overall-download-limit"
	OptionAtOnce      = "max-concurrent-downloads"
	OptionLowest      = "lowest-speed-limit"
)

// setLimit sets the speed limit from an entry's options. An invalid value, which clients cannot set, means no limit.
func (r *run) setLimit(options map[string]string) {
	n, _ := option.ParseSize(options[OptionLimit])
	r.limit.Set(n)
}

// lowestOf returns a function that returns the lowest acceptable speed of a download, in bytes per second. This is the
// value in options or, if that is missing, least. While crowded is false, no entry is waiting, and the function returns 0.
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

// observe records the event ev. It reports whether the loop should read the state of the run immediately.
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

// now returns the current state of the download.
func (r *run) now() queue.Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, at, p := r.live, time.Now(), r.rec.Progress
	l.Done, l.Size, l.Speed, l.Connections = p.Done, p.Size, int64(p.Rate), p.Active
	l.Have = r.have.Clone()
	for _, m := range r.rec.Mirrors {
		l.Sources = append(l.Sources, queue.Source{
			URL: m.URL, Host: m.Host, State: r.rec.State(m), Working: m.AtWork(),
			Speed: int64(m.Speed.Now(at, m.Bytes)), Bytes: m.Bytes,
		})
	}
	return l
}

// end returns the final state of a download that ended with res and err.
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

// optionsOf returns the options of e and, where e has none, the global options.
func optionsOf(q *queue.Queue, e *queue.Entry) map[string]string {
	options := maps.Clone(q.Global())
	delete(options, OptionGlobalLimit) // applies to all downloads together
	delete(options, OptionAtOnce)
	if len(options) == 0 {
		return e.Options
	}
	maps.Copy(options, e.Options)
	return options
}
