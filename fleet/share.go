package fleet

import (
	"maps"
	"slices"
	"time"
)

// A Share is a worker's share of the bytes per second that a host may send. All shares together never exceed its limit.
type Share struct {
	Rate  int64     `json:"rate"`  // bytes per second
	Want  int64     `json:"want"`  // bytes per second that the worker can use
	Users int       `json:"users"` // number of the worker's downloads from the host
	Until time.Time `json:"until"` // end of the share, unless the worker asks again
}

const (
	// shareTime is how long a worker uses its share before it asks again. betweenAsks is the minimum average time
	// between the requests of all workers with shares of one host.
	shareTime   = 2 * time.Second
	betweenAsks = 100 * time.Millisecond
	// unheard is the number of requests that a worker must miss before its share is free.
	unheard = 3
	// enough is the number of downloads that can use the whole limit of a host.
	enough = 8
)

// TakeShare gives worker a share of the perSecond bytes that a host may send. rate is the share, and again is how long
// worker uses it before it must ask again. worker has users downloads from the host and can use want bytes per second.
// All workers get equal shares; bytes that some of them do not want are divided among the others. At first, a new
// worker gets only bytes that are free. It gets more after the others have asked again.
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

// LeaveShare frees the share of worker, and reports whether it had one.
func (p *Pace) LeaveShare(worker string, now time.Time) bool {
	p.call(now)
	_, ok := p.Shares[worker]
	delete(p.Shares, worker)
	return ok
}

// level returns the maximum of a share if all of amount is used. If the sum of wants is smaller, it returns amount.
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
