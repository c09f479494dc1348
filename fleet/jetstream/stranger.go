package jetstream

import (
	"time"

	"braid/fleet"
)

// A stranger is a host where no job of this process has made progress, or none since a job failed there. It might send
// one byte per second, for as long as a slow download is allowed to take. A few jobs at such a host could occupy all
// workers, so a process runs only one job at a stranger at a time. The others stay in the queue for a moment.

const (
	// passFirst is how long a job at a stranger stays in the queue when it is skipped for the first time. passAgain is
	// the same for each further time.
	passFirst, passAgain = 250 * time.Millisecond, time.Second
	// mostPassed is the number of jobs skipped in a row before the process waits passFirst and then takes a message.
	mostPassed = 32
	// introduces is the number of bytes that a host must send to be no longer a stranger.
	introduces = 64 << 10
)

// strangers records which hosts are not strangers. With the zero value, all hosts are.
type strangers struct {
	known  map[string]bool
	passed map[string]bool // keys of skipped jobs
	row    int             // number of jobs skipped since a job was last taken
}

// wait returns how long a job at host is skipped; 0 means not at all. The last argument is the number of this process's
// jobs at host.
func (s *strangers) wait(host, key string, there int) time.Duration {
	if there == 0 || s.known[host] {
		return 0
	}
	if s.passed == nil || len(s.passed) > 1000 { // forget jobs that other workers may have taken
		s.passed = map[string]bool{}
	}
	s.row++
	if s.passed[key] {
		return passAgain
	}
	s.passed[key] = true
	return passFirst
}

// took records that the job with that key was taken.
func (s *strangers) took(key string) {
	s.row = 0
	delete(s.passed, key)
}

// ended records how a job at host has ended. k is also Right for a running job that makes progress.
func (s *strangers) ended(host string, k fleet.Kind) {
	if s.known == nil {
		s.known = map[string]bool{}
	}
	switch k {
	case fleet.Right, fleet.Wrong: // the host answers
		s.known[host] = true
	case fleet.Failed:
		delete(s.known, host)
	}
}

// passedMany reports whether the process has skipped so many jobs that it should wait before it takes another message.
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
