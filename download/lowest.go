package download

import (
	"errors"
	"fmt"
	"time"

	"braid/download/limit"
)

// lowestTime is how long a download may be slower than Client.LowestSpeed, for example at a slow start.
const lowestTime = 30 * time.Second

// A pulse finds out whether a download is too slow. tooSlow is called at each beat of a session.
type pulse struct {
	since   time.Time // start of the measured period; zero: no bytes are awaited
	arrived int64
}

// tooSlow reports whether fewer than least bytes a second were received for lowestTime. waits reports whether bytes are
// awaited, and arrived is the number of bytes received so far.
func (p *pulse) tooSlow(now time.Time, waits bool, least, arrived int64) bool {
	switch {
	case !waits || least <= 0:
		p.since = time.Time{}
	case p.since.IsZero():
		p.since, p.arrived = now, arrived
	case now.Sub(p.since) < lowestTime:
	case float64(arrived-p.arrived) < float64(least)*lowestTime.Seconds():
		return true
	default:
		p.since, p.arrived = now, arrived
	}
	return false
}

// A limited download is too slow only if it gets less than 1/fairPart of a limit that it shares with others.
const fairPart = 64

// ErrTooSlow is the cause of the error of a download that was slower than Client.LowestSpeed.
var ErrTooSlow = errors.New("too slow")

// lowest returns the current minimum speed of a session: least, or less if a limit slows the session down.
func (x *fetches) lowest(c *Client, least int64, all *limit.Limiter) int64 {
	if perSecond := all.Rate(); perSecond > 0 {
		least = min(least, perSecond/fairPart)
	}
	for _, f := range x.running {
		if c.HostLimits.Limited(f.from.url) {
			least = min(least, c.HostLimits.Rate(f.from.url)/fairPart)
		}
	}
	return least
}

// keepsUp returns an error if the session is too slow. Only servers count: a swarm may be without peers for long.
func (x *fetches) keepsUp(c *Client, req *Request, all *limit.Limiter, now time.Time) error {
	least := c.LowestSpeed
	if req.Limits.Lowest != nil {
		least = req.Limits.Lowest()
	}
	if least <= 0 {
		x.pulse.since = time.Time{}
		return nil
	}
	waits := false
	for _, f := range x.running {
		waits = waits || !f.from.swarm
	}
	if !x.pulse.tooSlow(now, waits, x.lowest(c, least, all), x.stats.arrived) {
		return nil
	}
	return &fault{kind: Budget, what: fmt.Sprintf("slower than %d bytes a second for %v", least, lowestTime),
		cause: ErrTooSlow, final: true}
}
