package fleet

import "time"

// mostHeld is how long a host is left alone at most: a longer Retry-After may be a mistake.
const mostHeld = time.Hour

// A Pace is what the whole fleet has to keep to at one host.
type Pace struct {
	// Until is the time until which the host is left alone, as it asked for, and Status that of its answer.
	Until  time.Time `json:"until,omitzero"`
	Status int       `json:"status,omitempty"`
	// Turn is the first free turn for a request.
	Turn time.Time `json:"turn,omitzero"`
	// Line has the jobs that are to begin there, and Shares, by worker, what each has of its bytes a second.
	Line   Line             `json:"line,omitzero"`
	Shares map[string]Share `json:"shares,omitempty"`
}

// A Limit is how many requests a second a host gets, and how many bytes a second it sends. Zero is no limit.
type Limit struct {
	Requests float64 `json:"requests,omitempty"`
	Bytes    int64   `json:"bytes,omitempty"`
}

// Hold keeps requests from the host for a time. It reports whether that is longer than before.
func (p *Pace) Hold(status int, wait time.Duration, now time.Time) bool {
	until := now.Add(min(wait, mostHeld))
	if toCome(p.Until, until, mostHeld) || until.Equal(p.Until) {
		return false
	}
	p.call(now)
	p.Until, p.Status = until, status
	return true
}

// Held returns how long the host is not to be asked, and the status with which it said so.
func (p *Pace) Held(now time.Time) (wait time.Duration, status int) {
	if !toCome(p.Until, now, mostHeld) {
		return 0, p.Status
	}
	return p.Until.Sub(now), p.Status
}

// Turns takes the next n turns at a host that gets so many requests a second. The first is at first, and the others
// follow every gap.
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
