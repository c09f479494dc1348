package fleet

import "time"

// A Line is the order in which jobs begin at a host that has a limit, each with a number, so that those that have begun
// need no more than the host gives. A job is expected to need what those before it did.
type Line struct {
	// Limit is that of the host, as given by the worker that asked for a number last.
	Limit Limit `json:"limit,omitzero"`
	// Last is the number that was given last, and Called the one whose turn it was at At.
	Last   uint64    `json:"last,omitempty"`
	Called float64   `json:"called,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Requests are how many the last Jobs made, and Bytes what the last Over brought that have ended.
	Jobs     float64 `json:"jobs,omitempty"`
	Requests float64 `json:"requests,omitempty"`
	Over     float64 `json:"over,omitempty"`
	Bytes    float64 `json:"bytes,omitempty"`
}

// A Place is that of a job in the line of a host.
type Place struct {
	Host   string `json:"host"`
	Number uint64 `json:"number"`
}

const (
	// Soon is how long a job may wait for a host in a worker.
	Soon = time.Second
	// guessedRequests and guessedBytes are what a job is expected to need while none has ended. After fewJobs those
	// before count half.
	guessedRequests = 3
	guessedBytes    = 1 << 20
	fewJobs         = 128
	// toNotice is how long after a job the next one begins at a host that may send more than those before make use of.
	toNotice = 0.25
)

// Enter gives a job the next number.
func (p *Pace) Enter(l Limit, now time.Time) (number uint64) {
	p.call(now)
	p.Line.Limit = l
	p.Line.Last++
	return p.Line.Last
}

// Wait estimates how long it is until the turn of a number. A number that was never given stands for the next one.
func (p *Pace) Wait(number uint64, now time.Time) time.Duration {
	first := max(0, p.callsFrom().Sub(now))
	if p.full(now) {
		first = max(first, 2*Soon)
	}
	ahead := float64(min(number, p.Line.Last+1)) - 1 - p.called(now)
	requests, bytes := p.cost()
	return first + max(0, time.Duration(ahead*max(requests, bytes)*float64(time.Second)))
}

// call takes down which number's turn it is.
func (p *Pace) call(now time.Time) {
	p.Line.Called = p.called(now)
	if now.After(p.Line.At) {
		p.Line.At = now
	}
}

// called is the number whose turn it is. While no job waits none is called ahead.
func (p *Pace) called(now time.Time) float64 {
	if p.full(now) {
		return p.Line.Called
	}
	requests, bytes := p.cost()
	each := max(requests, min(bytes, toNotice), 1e-6) // sizes differ much: with bytes, it is the shares that tell when it is enough
	return min(p.Line.Called+max(0, now.Sub(p.callsFrom()).Seconds())/each, float64(p.Line.Last))
}

// callsFrom is from when on numbers are called: those that began before may have taken turns that are to come.
func (p *Pace) callsFrom() (at time.Time) {
	for _, t := range []time.Time{p.Line.At, p.Until, p.Turn.Add(-Soon)} {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// cost is for how many seconds a job keeps a host busy with requests, and with bytes.
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

// Began takes down that jobs have begun.
func (p *Pace) Began(jobs int) {
	if p.Line.Jobs += float64(jobs); p.Line.Jobs > fewJobs {
		p.Line.Jobs, p.Line.Requests = p.Line.Jobs/2, p.Line.Requests/2
	}
}

// Ended takes down how many bytes a job has brought from the host.
func (p *Pace) Ended(bytes int64) {
	p.Line.Bytes += float64(bytes)
	if p.Line.Over++; p.Line.Over > fewJobs {
		p.Line.Over, p.Line.Bytes = p.Line.Over/2, p.Line.Bytes/2
	}
}
