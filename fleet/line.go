package fleet

import "time"

// A Line orders the jobs that wait for a host with a limit. Each job gets a number. Jobs begin in the order of these
// numbers, so slowly that running jobs do not exceed the limit. The cost of a job is estimated from earlier jobs.
type Line struct {
	// Limit is the limit of the host, as configured at the worker that last called Enter.
	Limit Limit `json:"limit,omitzero"`
	// Last is the number that a job got last. Called is the number that had its turn at the time At.
	Last   uint64    `json:"last,omitempty"`
	Called float64   `json:"called,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Jobs is the number of counted jobs, and Requests the number of their requests. Over is the number of counted jobs
	// that have ended, and Bytes the number of their bytes.
	Jobs     float64 `json:"jobs,omitempty"`
	Requests float64 `json:"requests,omitempty"`
	Over     float64 `json:"over,omitempty"`
	Bytes    float64 `json:"bytes,omitempty"`
}

// A Place is the position of a job in the line of Host.
type Place struct {
	Host   string `json:"host"`
	Number uint64 `json:"number"`
}

const (
	// Soon is how long a job may wait for a host while it occupies a worker.
	Soon = time.Second
	// guessedRequests and guessedBytes are the requests and bytes expected of a job before any are counted. Whenever
	// more than fewJobs jobs are counted, all counts and sums are halved, so that recent jobs weigh more.
	guessedRequests = 3
	guessedBytes    = 1 << 20
	fewJobs         = 128
	// toNotice is the longest time between two jobs, in seconds, that a limit of bytes may cause while the running jobs
	// do not use up that limit.
	toNotice = 0.25
)

// Enter gives the next number in the line to a job. l is the limit of the host.
func (p *Pace) Enter(l Limit, now time.Time) (number uint64) {
	p.call(now)
	p.Line.Limit = l
	p.Line.Last++
	return p.Line.Last
}

// Wait estimates the time until it is the turn of number. A number above Last stands for the next one.
func (p *Pace) Wait(number uint64, now time.Time) time.Duration {
	back := p.setBack(now)
	now = now.Add(back)
	first := max(0, p.callsFrom().Sub(now))
	if back == 0 && p.full(now) {
		first = max(first, 2*Soon)
	}
	ahead := float64(min(number, p.Line.Last+1)) - 1 - p.called(now)
	requests, bytes := p.cost()
	return first + max(0, time.Duration(ahead*max(requests, bytes)*float64(time.Second)))
}

// setBack returns by how much the queue's clock was set back since the last change of p, at least a minute, or zero.
func (p *Pace) setBack(now time.Time) time.Duration {
	if back := p.Line.At.Sub(now); back >= time.Minute {
		return back
	}
	return 0
}

// call sets Called to the number that has its turn now, and At to now. It first moves the times if the queue's clock
// was set back, except Until, which toCome judges.
func (p *Pace) call(now time.Time) {
	if back := p.setBack(now); back > 0 {
		if p.Line.At = now; !p.Turn.IsZero() {
			p.Turn = p.Turn.Add(-back)
		}
		for name, s := range p.Shares {
			s.Until = s.Until.Add(-back)
			p.Shares[name] = s
		}
	}
	p.Line.Called = p.called(now)
	if now.After(p.Line.At) {
		p.Line.At = now
	}
}

// called returns the number that has its turn now, at most Last.
func (p *Pace) called(now time.Time) float64 {
	if p.full(now) {
		return p.Line.Called
	}
	requests, bytes := p.cost()
	each := max(requests, min(bytes, toNotice), 1e-6) // no more delay for bytes, because sizes vary too much; see full
	return min(p.Line.Called+max(0, now.Sub(p.callsFrom()).Seconds())/each, float64(p.Line.Last))
}

// callsFrom returns the time since which numbers have been called. Turns that running jobs reserved can put it in the future.
func (p *Pace) callsFrom() (at time.Time) {
	for _, t := range []time.Time{p.Line.At, p.Turn.Add(-Soon)} {
		if t.After(at) {
			at = t
		}
	}
	if toCome(p.Until, at, mostHeld) {
		at = p.Until
	}
	return at
}

// cost returns for how many seconds a job uses up the limit of requests, and for how many the limit of bytes.
func (p *Pace) cost() (requests, bytes float64) {
	l := p.Line.Limit
	if l.Requests > 0 {
		requests = (guessedRequests + p.Line.Requests) / (1 + p.Line.Jobs) / l.Requests
	}
	if l.Bytes > 0 {
		bytes = (guessedBytes + p.Line.Bytes) / (1 + p.Line.Over) / float64(l.Bytes)
	}
	return requests, bytes
}

// Began records that this number of jobs has begun.
func (p *Pace) Began(jobs int) {
	if p.Line.Jobs += float64(jobs); p.Line.Jobs > fewJobs {
		p.Line.Jobs, p.Line.Requests = p.Line.Jobs/2, p.Line.Requests/2
	}
}

// Ended records that a job has ended, and how many bytes it received from the host.
func (p *Pace) Ended(bytes int64) {
	p.Line.Bytes += float64(bytes)
	if p.Line.Over++; p.Line.Over > fewJobs {
		p.Line.Over, p.Line.Bytes = p.Line.Over/2, p.Line.Bytes/2
	}
}
