package fleet

import (
	"slices"
	"time"
)

// A Health decides whether the tries of a worker fail because of the worker itself, if other workers succeed with the
// same jobs. The zero Health is healthy.
type Health struct {
	failed int      // consecutive failed tries
	few    int      // failures before a pause; 0 means fewFailed
	keys   []string // of the last failed jobs
	looks  int      // calls of Judge since the failures began
	own    bool     // the worker itself is faulty
	pause  time.Duration
}

const (
	// fewFailed is the number of consecutive failures after which a worker looks at the records of the last mostLooked
	// failed jobs.
	fewFailed, mostLooked = 3, 4
	// shortPause and longPause limit the pauses without jobs. Each pause is twice the previous one.
	shortPause, longPause = time.Second, time.Minute
	// mostLooks is the number of calls of Judge after which the servers count as faulty, if only this worker tried.
	mostLooks = 5
)

// Ended records the end of a try. others reports whether other workers failed at the job, too; the failure is then not
// counted against this worker.
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

// Own reports whether tries fail because of the worker itself. Such a worker should take only one job at a time, to
// find out whether the fault is gone.
func (h *Health) Own() bool { return h.own }

// Pause returns how long the worker must not take jobs, and the keys of the records to pass to Judge after the pause.
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

// Judge evaluates the records of the last failed jobs after a pause.
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
