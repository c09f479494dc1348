package fleet

import (
	"slices"
	"time"
)

// A Health judges whether the tries of a worker fail by its own fault: other workers do right what failed here. The
// zero Health is good.
type Health struct {
	failed int      // tries in a row
	few    int      // how many of them call for a look; 0: fewFailed
	keys   []string // of the last jobs that failed
	looks  int      // since then
	own    bool     // it was the worker's fault
	pause  time.Duration
}

const (
	// fewFailed is how many tries fail in a row before a worker looks what became of the last of them, mostLooked.
	fewFailed, mostLooked = 3, 4
	// shortPause and longPause bound for how long it takes no job, twice as long each time.
	shortPause, longPause = time.Second, time.Minute
	// mostLooks is how often it looks while no other worker has tried them.
	mostLooks = 5
)

// Ended takes down how a try ended. A failure at which another worker has failed, too, is not the fault of this one.
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

// Own reports whether tries fail by the worker's own fault. Then it takes one job at a time, to find out whether it is over.
func (h *Health) Own() bool { return h.own }

// Pause returns for how long the worker is to take no job now, if it is, and whose records Judge wants to see after that.
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

// Judge takes the records of the last jobs that failed at a worker, as they are after a pause.
func (h *Health) Judge(worker string, records []Record) {
	is := func(k Kind) bool {
		return slices.ContainsFunc(records, func(r Record) bool { return r.Last != nil && r.Last.Worker != worker && r.Last.Kind == k })
	}
	switch h.looks++; {
	case is(Right):
		h.own, h.failed, h.looks = true, 0, 0
		h.pause = min(2*max(h.pause, shortPause), longPause)
	case is(Failed), h.looks >= mostLooks: // it is the servers
		h.few, h.failed, h.looks, h.pause = 2*max(h.few, fewFailed), 0, 0, 0
		h.own = false
	}
}
