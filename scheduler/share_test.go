package scheduler

import (
	"slices"
	"time"
)

// share divides the capacity of the hosts and of the client's link among the flights: each gets what it can use, up to
// a fair part.
func (n *network) share() {
	for _, f := range n.flights {
		f.rate = 0
		if f.answers && !f.cancels {
			h := &n.sc.hosts[f.h]
			f.rate = n.conns[f.source].limit(n.now, h, n.rtt(h))
			if h.most > 0 {
				f.rate = min(f.rate, h.most)
			}
		}
	}
	for i, f := range n.flights {
		link := n.links[f.h]
		if first := slices.IndexFunc(n.flights, func(o *flight) bool { return n.links[o.h] == link }); first == i {
			n.shareHost(n.flights[i:], link)
		}
	}
	n.shareAccess()
}

// shareHost divides the link of a host.
func (n *network) shareHost(flights []*flight, link int) {
	n.wants = n.wants[:0]
	for _, f := range flights {
		if n.links[f.h] == link {
			n.wants = append(n.wants, want{rate: f.rate, weight: 1})
		}
	}
	fair(n.wants, n.sc.hosts[link].offers(n.now, n.sent[link]))
	rates := n.wants
	for _, f := range flights {
		if n.links[f.h] == link {
			f.rate, rates = rates[0].rate, rates[1:]
		}
	}
}

// shareAccess divides the client's link. Answers whose connections were closed still take their part.
func (n *network) shareAccess() {
	if n.sc.access == nil {
		return
	}
	n.ghosts = slices.DeleteFunc(n.ghosts, func(g ghost) bool { return g.until <= n.now })
	n.wants = n.wants[:0]
	total, link := 0.0, n.sc.access(n.now)
	for _, f := range n.flights {
		weight := 1.0
		if n.sc.near {
			weight = time.Second.Seconds() / n.sc.hosts[f.h].rtt.Seconds()
		}
		n.wants = append(n.wants, want{rate: f.rate, weight: weight})
		total += f.rate
	}
	for _, g := range n.ghosts {
		n.wants = append(n.wants, want{rate: g.rate, weight: 1})
		total += g.rate
	}
	n.crowded = total > link
	fair(n.wants, link)
	for i, f := range n.flights {
		f.rate = n.wants[i].rate
	}
}

// want is the rate that a user of a link could use, and the weight of its share.
type want struct{ rate, weight float64 }

// fair lowers the rates so that together they fit through a link: a user that wants less than its share gets all of it,
// and the others divide the rest.
func fair(wants []want, link float64) {
	total := 0.0
	for i, w := range wants {
		wants[i].rate = min(w.rate, link)
		total += wants[i].rate
	}
	if total <= link {
		return
	}
	for settled := false; !settled; {
		settled = true
		rest, weights := link, 0.0
		for _, w := range wants {
			if w.weight > 0 {
				weights += w.weight
			} else {
				rest -= w.rate
			}
		}
		for i, w := range wants {
			if w.weight > 0 && w.rate <= rest*w.weight/weights {
				wants[i].weight, settled = 0, false
			}
		}
		if !settled {
			continue
		}
		for i, w := range wants {
			if w.weight > 0 {
				wants[i].rate = rest * w.weight / weights
			}
		}
	}
}
