package jetstream

import (
	"time"

	"braid/fleet"
)

// A stranger is a host at which no job of this process has made progress, or none since a job failed there. Such a host
// may send one byte per second for as long as a slow download may take. A few such jobs could occupy all workers, so a
// process runs one job of a stranger at a time. The others wait in the queue for a moment.

const (
	// passFirst is how long a job of a stranger stays in the queue when it is skipped first, and passAgain how long
	// when it is skipped again.
	passFirst, passAgain = 250 * time.Millisecond, time.Second
	// mostPassed is the number of jobs skipped in a row after which the process waits passFirst before it looks again.
	mostPassed = 32
	// introduces is the number of bytes after which a host is no longer a stranger.
	introduces = 64 << 10
)

// strangers records which hosts are known. The zero value knows none.
type strangers struct {
	known  map[string]bool
	passed map[string]bool // keys of skipped jobs
	row    int             // skipped jobs since a job was taken
}

// wait returns how long a job of a host is skipped. there is the number of the process's jobs at the host.
func (s *strangers) wait(host, key string, there int) time.Duration {
	if there == 0 || s.known[host] {
		return 0
	}
	if s.passed == nil || len(s.passed) > 1000 { // other workers may have taken the jobs
		s.passed = map[string]bool{}
	}
	s.row++
	if s.passed[key] {
		return passAgain
	}
	s.passed[key] = true
	return passFirst
}

// took records that a job was taken.
func (s *strangers) took(key string) {
	s.row = 0
	delete(s.passed, key)
}

// ended records how a job of a host has ended. Right also stands for a running job that makes progress.
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

// passedMany reports whether a process has skipped so many jobs that it should wait before it looks for another.
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
