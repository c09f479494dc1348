package download

import (
	"cmp"
	"fmt"
	"time"
)

// lowestTime is for how long a download may be slower than Client.LowestSpeed. The first bytes of a slow start are a few seconds away.
const lowestTime = 30 * time.Second

// A pulse finds out that a download is too slow. It is asked with each beat of a session.
type pulse struct {
	patience time.Duration // lowestTime
	since    time.Time     // zero: nothing is waited for
	arrived  int64
}

// tooSlow reports whether less than least bytes a second have come for lowestTime while they were waited for, of all that has arrived.
func (p *pulse) tooSlow(now time.Time, waits bool, least, arrived int64) bool {
	switch {
	case !waits || least <= 0:
		p.since = time.Time{}
	case p.since.IsZero():
		p.since, p.arrived = now, arrived
	case now.Sub(p.since) < p.patience:
	case float64(arrived-p.arrived) < float64(least)*p.patience.Seconds():
		return true
	default:
		p.since, p.arrived = now, arrived
	}
	return false
}

// fairPart is what part of a limit a download has at least that shares it with others: one that the limit holds back is not too slow.
const fairPart = 64

// lowest is the least speed of a session: that of the client, and less where a limit holds it back.
func (x *fetches) lowest(c *Client, limit *Limiter) int64 {
	least := c.LowestSpeed
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
func (x *fetches) keepsUp(c *Client, limit *Limiter, now time.Time) error {
	if c.LowestSpeed <= 0 {
		return nil
	}
	waits := false
	for _, f := range x.running {
		waits = waits || !f.from.swarm
	}
	x.pulse.patience = cmp.Or(c.lowestTime, lowestTime)
	if !x.pulse.tooSlow(now, waits, x.lowest(c, limit), x.stats.arrived) {
		return nil
	}
	return &fault{kind: Budget, what: fmt.Sprintf("slower than %d bytes a second for %v", c.LowestSpeed, x.pulse.patience), final: true}
}
