package queue

import (
	"fmt"
	"net/url"
	"slices"
)

// Hosts have turns, so that many or slow downloads of one leave places for others. While several of them have entries
// that wait, a host has three quarters of the places at most. Priorities come first, and within its host each entry
// keeps its place.

// leastPlaces is how many downloads run at once where their number is measured, if so many wait.
const leastPlaces = 4

// mostPassed is how many entries are passed over for one of another host. Beyond it the order alone counts.
const mostPassed = 10_000

// SetPlaces says how many downloads run at once; 0 is as many as turn out to be of use, and below it they run elsewhere.
func (q *Queue) SetPlaces(n int) { q.places = n }

// host is the server that an entry is asked of first; empty if it is none or many, as for a document.
func (it *item) host() string {
	if it.at == nil {
		at := ""
		if len(it.URIs) > 0 {
			if u, err := url.Parse(it.URIs[0]); err == nil {
				at = u.Host
			}
		}
		it.at = &at
	}
	return *it.at
}

// number counts an item by its status, n of 1 or -1.
func (q *Queue) number(it *item, n int) {
	q.count[it.Status] += n
	if it.Status != Waiting {
		return
	}
	if q.hosts[it.host()] += n; q.hosts[it.host()] == 0 {
		delete(q.hosts, it.host())
	}
}

// relink gives an item other URIs, and so perhaps another host.
func (q *Queue) relink(it *item, uris []string) {
	q.number(it, -1)
	it.URIs, it.at = uris, nil
	q.number(it, 1)
}

// part is how many places one of several hosts has.
func (q *Queue) part() (part, places int) {
	if places = q.places; places <= 0 {
		places = max(leastPlaces, len(q.lists[runs].items)+1)
	}
	return max(1, places-max(1, places/4)), places
}

// full are the hosts that have their part of the places.
func (q *Queue) full() map[string]bool {
	part, _ := q.part()
	running, full := map[string]int{}, map[string]bool{}
	for _, it := range q.lists[runs].items {
		if host := it.host(); host != "" {
			running[host]++
			full[host] = running[host] >= part
		}
	}
	return full
}

// turn returns the first entry whose host has its turn: the first of all if no host with room waits.
func (q *Queue) turn() *item {
	var first *item
	var full map[string]bool
	for i, it := range q.lists[waits].items {
		if it.Status != Waiting || it.running {
			continue
		}
		if first == nil {
			if first = it; len(q.hosts) < 2 {
				return it
			}
			full = q.full()
		}
		if it.Priority != first.Priority || i > mostPassed {
			break
		}
		if !full[it.host()] {
			return it
		}
	}
	return first
}

// Fresh reports whether no download runs of the host of the entry that Next returns.
func (q *Queue) Fresh() bool {
	it := q.turn()
	return it != nil && it.host() != "" && !slices.ContainsFunc(q.lists[runs].items, func(o *item) bool { return o.host() == it.host() })
}

// Why returns a function that says what an entry waits for now; empty if it does not, or is the next one.
func (q *Queue) Why() func(GID) string {
	next, full, active := q.turn(), q.full(), len(q.lists[runs].items)
	part, places := q.part()
	return func(g GID) string {
		it := q.items[g]
		switch {
		case it == nil || it.Status != Waiting:
			return ""
		case it.running:
			return "until the download that is under way has stopped"
		case q.places < 0:
			return "for a worker"
		case active == 0 || it == next:
			return ""
		case len(q.hosts) > 1 && full[it.host()]:
			return fmt.Sprintf("for its host, which has %d of %d places while others wait", part, places)
		}
		return fmt.Sprintf("for a place: %d at once", active)
	}
}
