package fleet

import (
	"slices"
	"time"
)

// A Health finds out whether tries of a worker fail because of the worker itself. This is so if other workers succeed
// with the same jobs. The zero Health is healthy.
type Health struct {
	failed int      // consecutive failed tries
	few    int      // failures before a pause; 0 means fewFailed
	keys   []string // keys of the jobs that failed last
	looks  int      // calls of Judge since the failures began
	own    bool     // the worker itself is faulty
	pause  time.Duration
}

const (
	// fewFailed is the number of consecutive failures before a worker pauses. mostLooked limits the failed jobs whose
	// records are examined after the pause.
	fewFailed, mostLooked = 3, 4
	// shortPause is the first pause. Each further pause is twice as long, but at most longPause.
	shortPause, longPause = time.Second, time.Minute
	// mostLooks is the number of calls of Judge after which the servers are at fault if no other worker tried the jobs.
	mostLooks = 5
)

// Ended records the end of a try of the job with that key. others reports whether the job failed at other workers, too.
// Such a failure is no evidence against this worker.
func (h *Health) Ended(key string, k Kind, others bool) {
	switch {
	case k != Failed:
		*h = Health{}
	case !others:
		h.failed++
		h.keys = append(h.keys, key)
		h.keys = h.keys[max(0, len(h.keys)-mostLooked):]
	}
}

// Own reports whether tries fail because of the worker itself. The worker should then take only one job at a time,
// until a job succeeds.
func (h *Health) Own() bool { return h.own }

// Pause returns how long the worker must take no jobs. keys are the keys of the records to pass to Judge after the pause.
func (h *Health) Pause() (pause time.Duration, keys []string) {
	few := max(h.few, fewFailed)
	if h.own {
		few = 1
	}
	if h.failed < few {
		return 0, nil
	}
	return max(h.pause, shortPause), h.keys
}

// Judge decides from the records of the failed jobs, read after a pause, whether the worker or the servers are at fault.
func (h *Health) Judge(worker string, records []Record) {
	is := func(k Kind) bool {
		return slices.ContainsFunc(records,
			func(r Record) bool { return r.Last != nil && r.Last.Worker != worker && r.Last.Kind == k })
	}
	switch h.looks++; {
	case is(Right):
		h.own, h.failed, h.looks = true, 0, 0
		h.pause = min(2*max(h.pause, shortPause), longPause)
	case is(Failed), h.looks >= mostLooks: // the servers are at fault
		h.few, h.failed, h.looks, h.pause = 2*max(h.few, fewFailed), 0, 0, 0
		h.own = false
	}
}
