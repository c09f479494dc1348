package fleet

import "time"

// mostHeld limits how long a host is not contacted. A longer Retry-After may be a mistake.
const mostHeld = time.Hour

// A Pace is the pace of the requests that the whole fleet sends to one host.
type Pace struct {
	// Until is the end of the time when the host must not be contacted, because of a Retry-After field. Status is the
	// HTTP status of the response with that field.
	Until  time.Time `json:"until,omitzero"`
	Status int       `json:"status,omitempty"`
	// Turn is the time of the next free turn for a request.
	Turn time.Time `json:"turn,omitzero"`
	// Line has the jobs that wait for the host. Shares has each worker's share of the host's bytes per second.
	Line   Line             `json:"line,omitzero"`
	Shares map[string]Share `json:"shares,omitempty"`
}

// A Limit limits the requests per second to a host, and the bytes per second from the host. Zero means no limit.
type Limit struct {
	Requests float64 `json:"requests,omitempty"`
	Bytes    int64   `json:"bytes,omitempty"`
}

// Hold forbids requests to the host for the duration wait, but at most mostHeld. It reports whether the pause became longer.
func (p *Pace) Hold(status int, wait time.Duration, now time.Time) bool {
	until := now.Add(min(wait, mostHeld))
	if toCome(p.Until, until, mostHeld) || until.Equal(p.Until) {
		return false
	}
	p.call(now)
	p.Until, p.Status = until, status
	return true
}

// Held returns how long the host must not be contacted, and the HTTP status of the response that asked for this.
func (p *Pace) Held(now time.Time) (wait time.Duration, status int) {
	if !toCome(p.Until, now, mostHeld) {
		return 0, p.Status
	}
	return p.Until.Sub(now), p.Status
}

// Turns reserves the next n turns at a host that allows perSecond requests per second. first is the time of the first
// turn, and gap the time between two turns.
func (p *Pace) Turns(n int, perSecond float64, now time.Time) (first time.Time, gap time.Duration) {
	p.call(now)
	gap = time.Duration(float64(time.Second) / perSecond)
	if p.Turn.Before(now) {
		p.Turn = now
	}
	first = p.Turn
	p.Turn = first.Add(time.Duration(n) * gap)
	p.Line.Requests += float64(n)
	return first, gap
}
