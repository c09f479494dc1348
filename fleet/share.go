package fleet

import (
	"maps"
	"slices"
	"time"
)

// A Share is one worker's share of the bytes per second that a host may send. The sum of all shares never exceeds the
// limit.
type Share struct {
	Rate  int64     `json:"rate"`  // bytes per second
	Want  int64     `json:"want"`  // bytes per second that the worker can use
	Users int       `json:"users"` // its downloads from the host
	Until time.Time `json:"until"` // the share is free afterwards, unless the worker asks again
}

const (
	// shareTime is how long a worker uses its share before it asks again. All workers with shares of one host together
	// ask at most ten times per second.
	shareTime   = 2 * time.Second
	betweenAsks = 100 * time.Millisecond
	// unheard is the number of these intervals after which the share of a worker that does not ask is free.
	unheard = 3
	// enough is the number of downloads that can use the whole limit of a host.
	enough = 8
)

// TakeShare gives a worker its share of the perSecond bytes of a host, and returns the time after which the worker must
// ask again. The worker has users downloads from the host and can use want bytes per second. All workers get equal
// shares, except that bytes which some workers do not want are divided among the others. A new worker gets only free
// bytes at first, and more after the others have asked again.
func (p *Pace) TakeShare(worker string, users int, want, perSecond int64, now time.Time) (rate int64, again time.Duration) {
	p.call(now)
	maps.DeleteFunc(p.Shares, func(name string, s Share) bool { return name == worker || !now.Before(s.Until) })
	free, wants := perSecond, []int64{want}
	for _, s := range p.Shares {
		free -= s.Rate
		wants = append(wants, s.Want)
	}
	fair := min(want, level(wants, perSecond))
	again = max(shareTime, time.Duration(len(wants))*betweenAsks)
	rate = max(0, min(fair, free))
	if p.Shares == nil {
		p.Shares = map[string]Share{}
	}
	p.Shares[worker] = Share{rate, want, users, now.Add(unheard * again)}
	if rate < fair/2 {
		again /= 4
	}
	return rate, again
}

// full reports whether the running downloads use the limit of the host, so that another download would not add speed.
func (p *Pace) full(now time.Time) bool {
	n, sum := 0, int64(0)
	for _, s := range p.Shares {
		if now.Before(s.Until) {
			n, sum = n+s.Users, sum+s.Rate
		}
	}
	return n >= enough && sum >= p.Line.Limit.Bytes/10*9
}

// LeaveShare frees the share of a worker. It reports whether the worker had one.
func (p *Pace) LeaveShare(worker string, now time.Time) bool {
	p.call(now)
	_, ok := p.Shares[worker]
	delete(p.Shares, worker)
	return ok
}

// level returns the maximum of each share with which all of amount is used, if the sum of wants is at least amount.
func level(wants []int64, amount int64) int64 {
	slices.Sort(wants)
	left := amount
	for i, w := range wants {
		each := left / int64(len(wants)-i)
		if w >= each {
			return each
		}
		left -= w
	}
	return amount
}
