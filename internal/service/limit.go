package service

import "sync"

// allowed is the limit of all downloads: the limit that a client set, else the limit for the time of day.
type allowed struct {
	mu             sync.Mutex
	set            func(int64)
	timed, clients int64
	overridden     bool
}

func (a *allowed) schedule(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timed = n
	a.apply()
}

func (a *allowed) byTime() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.timed
}

func (a *allowed) override(n int64, said bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients, a.overridden = n, said
	a.apply()
}

func (a *allowed) apply() {
	n := a.timed
	if a.overridden {
		n = a.clients
	}
	a.set(n)
}
