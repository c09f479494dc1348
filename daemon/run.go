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

// A run is a running download of an entry.
type run struct {
	gid    queue.GID
	cancel context.CancelFunc
	limit  *limit.Limiter // of this download alone

	// The loop owns stopping, rival and after. stopping reports that this run is being stopped. rival reports that
	// another run of the same file was stopped and has ended. after holds the runs that ended because this run used the
	// file.
	stopping, rival bool
	after           []ended
	why             func() error // returns the cause of its context's end

	mu   sync.Mutex // protects the fields below
	rec  *report.Recorder
	have byterange.Set
	live queue.Live // as of the last observed event
}

func newRun(e queue.Entry, cancel context.CancelFunc) *run {
	r := &run{gid: e.GID, cancel: cancel, limit: &limit.Limiter{}, rec: report.NewRecorder(time.Now())}
	r.setLimit(e.Options)
	return r
}

// Options that the daemon itself interprets. OptionLimit limits the speed of an entry's download. OptionSelect lists
// the numbers of the wanted files in the entry's document. OptionSignature is a signature of the entry's file in
// base64. A download that is slower than OptionLowest ends if other entries wait for a place. The global options limit
// the speed of all downloads together and the number of downloads at once.
const (
	OptionSelect      = "select-file"
	OptionSignature   = "signature"
	OptionLimit       = "max-download-limit"
	OptionGlobalLimit = "max-overall-download-limit"
	OptionAtOnce      = "max-concurrent-downloads"
	OptionLowest      = "lowest-speed-limit"
)

// setLimit sets the limit from an entry's options. An invalid value means no limit; setting the option refused it.
func (r *run) setLimit(options map[string]string) {
	n, _ := option.ParseSize(options[OptionLimit])
	r.limit.Set(n)
}

// lowestOf returns a function that returns the lowest acceptable speed of a download. It is the entry's option, or
// least. The function returns 0 while no entry waits for a place.
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

// observe records an event. It reports whether the loop should read the run's state at once.
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

// end returns the final state of the download.
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

// optionsOf returns the options of an entry, with the global options as defaults.
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
