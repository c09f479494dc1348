package jetstream

import (
	"time"

	"braid/fleet"
)

// A stranger is a host at which no job of this process has got anywhere since one failed there. It may send a byte a
// second, for as long as a download may be that slow, and with a few jobs it would have all places of all workers: a
// process has one of its jobs at a time. The others wait in the queue for a moment.

const (
	// passFirst is for how long a job of a stranger is left to the queue at first, and passAgain if it is one still.
	passFirst, passAgain = 250 * time.Millisecond, time.Second
	// mostPassed is how many are in a row before the process looks for another job no sooner than after passFirst.
	mostPassed = 32
	// introduces is how many bytes a job has brought from a host that is none any more.
	introduces = 64 << 10
)

// strangers are what a process knows of hosts. The zero value knows none.
type strangers struct {
	known  map[string]bool
	passed map[string]bool // the keys of jobs that were passed over
	row    int             // how many of them since a job was taken
}

// wait returns for how long a job of a host is passed over. The process has so many jobs there.
func (s *strangers) wait(host, key string, there int) time.Duration {
	if there == 0 || s.known[host] {
		return 0
	}
	if s.passed == nil || len(s.passed) > 1000 { // others may have taken them
		s.passed = map[string]bool{}
	}
	s.row++
	if s.passed[key] {
		return passAgain
	}
	s.passed[key] = true
	return passFirst
}

// took takes down that a job was taken.
func (s *strangers) took(key string) {
	s.row = 0
	delete(s.passed, key)
}

// ended takes down how a job of a host has ended, or that it gets somewhere, which is Right.
func (s *strangers) ended(host string, k fleet.Kind) {
	if s.known == nil {
		s.known = map[string]bool{}
	}
	switch k {
	case fleet.Right, fleet.Wrong: // it answers
		s.known[host] = true
	case fleet.Failed:
		delete(s.known, host)
	}
}

// passedMany reports whether a process has passed over so many jobs that it is to wait before it looks for another one.
func (p *Pacer) passedMany() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	many := p.strangers.row >= mostPassed
	if many {
		p.strangers.row = 0
	}
	return many
}
