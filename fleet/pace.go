package fleet

import "time"

// mostHeld limits how long a host is not asked. A longer Retry-After may be a mistake.
const mostHeld = time.Hour

// A Pace is the pace of requests to one host that the whole fleet keeps.
type Pace struct {
	// Until is the time before which the host must not be asked, because of a Retry-After. Status is the status of that
	// response.
	Until  time.Time `json:"until,omitzero"`
	Status int       `json:"status,omitempty"`
	// Turn is the time of the next free turn for a request.
	Turn time.Time `json:"turn,omitzero"`
	// Line has the jobs that wait for the host. Shares has each worker's share of the bytes per second.
	Line   Line             `json:"line,omitzero"`
	Shares map[string]Share `json:"shares,omitempty"`
}

// A Limit limits the requests per second to a host, and the bytes per second from it. Zero means no limit.
type Limit struct {
	Requests float64 `json:"requests,omitempty"`
	Bytes    int64   `json:"bytes,omitempty"`
}

// Hold forbids requests to the host for the duration wait, mostHeld at most. It reports whether this extends the pause.
func (p *Pace) Hold(status int, wait time.Duration, now time.Time) bool {
	until := now.Add(min(wait, mostHeld))
	if toCome(p.Until, until, mostHeld) || until.Equal(p.Until) {
		return false
	}
	p.call(now)
	p.Until, p.Status = until, status
	return true
}

// Held returns how long the host must not be asked, and the status of the response that demanded the wait.
func (p *Pace) Held(now time.Time) (wait time.Duration, status int) {
	if !toCome(p.Until, now, mostHeld) {
		return 0, p.Status
	}
	return p.Until.Sub(now), p.Status
}

// Turns takes the next n turns at a host with a limit of requests per second. The first turn is at first, and the
// others follow at intervals of gap.
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
