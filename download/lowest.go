package download

import (
	"errors"
	"fmt"
	"time"
)

// lowestTime is for how long a download may be slower than Client.LowestSpeed. The first bytes of a slow start are a
// few seconds away.
const lowestTime = 30 * time.Second

// A pulse finds out that a download is too slow. It is asked with each beat of a session.
type pulse struct {
	since   time.Time // zero: nothing is waited for
	arrived int64
}

// tooSlow reports whether less than least bytes a second have come for lowestTime while they were waited for, of all
// that has arrived.
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

// fairPart is what part of a limit a download has at least that shares it with others: one that the limit holds back is
// not too slow.
const fairPart = 64

// ErrTooSlow is what a download ended with that was slower than its least speed (Client.LowestSpeed).
var ErrTooSlow = errors.New("too slow")

// lowest is the least speed of a session now: what the client or the request say, and less where a limit holds it back.
func (x *fetches) lowest(c *Client, least int64, limit *Limiter) int64 {
	for l := limit; l != nil; l = l.within {
		if now := l.now.Load(); now != nil {
			least = min(least, now.bytes/fairPart)
		}
	}
	for _, f := range x.running {
		if c.HostLimits.limited(f.from.url) {
			least = min(least, c.HostLimits.Rate(f.from.url)/fairPart)
		}
	}
	return least
}

// keepsUp returns an error if what comes is too slow for the client. A swarm may be a long time without peers.
func (x *fetches) keepsUp(c *Client, req *Request, limit *Limiter, now time.Time) error {
	least := c.LowestSpeed
	if req.Lowest != nil {
		least = req.Lowest()
	}
	if least <= 0 {
		x.pulse.since = time.Time{}
		return nil
	}
	waits := false
	for _, f := range x.running {
		waits = waits || !f.from.swarm
	}
	if !x.pulse.tooSlow(now, waits, x.lowest(c, least, limit), x.stats.arrived) {
		return nil
	}
	return &fault{kind: Budget, what: fmt.Sprintf("slower than %d bytes a second for %v", least, lowestTime),
		cause: ErrTooSlow, final: true}
}
