package fleet

import (
	"maps"
	"slices"
	"time"
)

// A Share is how many of the bytes that a host may send are one worker's. All shares together are never more than the
// host may send.
type Share struct {
	Rate  int64     `json:"rate"`  // bytes a second
	Want  int64     `json:"want"`  // bytes a second that the worker can use
	Users int       `json:"users"` // its downloads there
	Until time.Time `json:"until"` // then the share is free, unless the worker has asked again
}

const (
	// shareTime is for how long a worker keeps to its share before it asks again. Those of one host ask ten times a
	// second at most.
	shareTime   = 2 * time.Second
	betweenAsks = 100 * time.Millisecond
	// unheard is how many such times a share is kept for a worker that does not ask.
	unheard = 3
	// enough downloads make use of all that a host may send.
	enough = 8
)

// TakeShare gives a worker its share of the perSecond bytes that a host may send, and returns after how long it is to
// ask again. The worker has users downloads there, and can use want bytes a second. All workers get the same, and what
// some do not want goes to the others. A new worker gets what is free, and more when the others have asked again.
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

// full reports whether so many downloads share what the host may send that one more would make it no faster.
func (p *Pace) full(now time.Time) bool {
	n, sum := 0, int64(0)
	for _, s := range p.Shares {
		if now.Before(s.Until) {
			n, sum = n+s.Users, sum+s.Rate
		}
	}
	return n >= enough && sum >= p.Line.Limit.Bytes/10*9
}

// LeaveShare gives the share of a worker back. It reports whether there was one.
func (p *Pace) LeaveShare(worker string, now time.Time) bool {
	p.call(now)
	_, ok := p.Shares[worker]
	delete(p.Shares, worker)
	return ok
}

// level is the most that each may have of an amount, so that all of it is used if they want that much together.
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
