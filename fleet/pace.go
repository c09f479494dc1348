package fleet

import "time"

// mostHeld is how long a host is left alone that wants more: its word may be a mistake.
const mostHeld = time.Hour

// A Pace is what the whole fleet has to keep to at one host.
type Pace struct {
	// Until is until when the host is left alone, as it said, and Status that of its answer.
	Until  time.Time `json:"until,omitzero"`
	Status int       `json:"status,omitempty"`
	// Turn is the first free turn for a request, and Room when there is room for another byte.
	Turn time.Time `json:"turn,omitzero"`
	Room time.Time `json:"room,omitzero"`
}

// Hold keeps requests from the host for a time. It reports whether that is longer than before.
func (p *Pace) Hold(status int, wait time.Duration, now time.Time) bool {
	until := now.Add(min(wait, mostHeld))
	if !until.After(p.Until) {
		return false
	}
	p.Until, p.Status = until, status
	return true
}

// Held returns how long the host is not to be asked, and the status with which it said so.
func (p *Pace) Held(now time.Time) (wait time.Duration, status int) {
	return max(0, p.Until.Sub(now)), p.Status
}

// Turns takes the next n turns at a host that gets so many requests a second. The first is at first, and the others follow every gap.
func (p *Pace) Turns(n int, perSecond float64, now time.Time) (first time.Time, gap time.Duration) {
	gap = time.Duration(float64(time.Second) / perSecond)
	return reserve(&p.Turn, time.Duration(n)*gap, now), gap
}

// Bytes takes room for n bytes at a host that gives so many a second, and returns when they may come.
func (p *Pace) Bytes(n int64, perSecond float64, now time.Time) time.Time {
	return reserve(&p.Room, time.Duration(float64(n)/perSecond*float64(time.Second)), now)
}

// reserve takes a time of that length from what is free, and returns its beginning.
func reserve(free *time.Time, length time.Duration, now time.Time) time.Time {
	if free.Before(now) {
		*free = now
	}
	begin := *free
	*free = begin.Add(length)
	return begin
}

// Idle reports whether nothing is left that the host has to be spared for.
func (p *Pace) Idle(now time.Time) bool {
	return !now.Before(p.Until) && !now.Before(p.Turn) && !now.Before(p.Room)
}
