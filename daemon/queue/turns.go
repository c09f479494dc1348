package queue

import (
	"fmt"
	"net/url"
	"slices"
)

// Hosts take turns, so that many or slow downloads from one host leave places for others. While entries of several
// hosts wait, one host gets at most three quarters of the places. Priorities come first, and the entries of one host
// keep their order.

// leastPlaces is the number of downloads that run at once, if that many wait and the number is measured.
const leastPlaces = 4

// mostPassed limits how many entries are passed over to find one of another host. Beyond it only the order counts.
const mostPassed = 10_000

// SetPlaces sets the number of downloads that run at once. Zero means that the daemon measures it, and a negative
// number that other processes download.
func (q *Queue) SetPlaces(n int) { q.places = n }

// host returns the host of the first URI. It is empty if the entry has no URI with a host, as for a document.
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

// number adds n, which is 1 or -1, to the counters of an item's status and host.
func (q *Queue) number(it *item, n int) {
	q.count[it.Status] += n
	if it.Status != Waiting {
		return
	}
	if q.hosts[it.host()] += n; q.hosts[it.host()] == 0 {
		delete(q.hosts, it.host())
	}
}

// relink sets the URIs of an item, which may change its host.
func (q *Queue) relink(it *item, uris []string) {
	q.number(it, -1)
	it.URIs, it.at = uris, nil
	q.number(it, 1)
}

// part returns how many of the places one host may use while several hosts have waiting entries.
func (q *Queue) part() (part, places int) {
	if places = q.places; places <= 0 {
		places = max(leastPlaces, len(q.lists[runs].items)+1)
	}
	return max(1, places-max(1, places/4)), places
}

// full returns the hosts that use all places they may have.
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

// turn returns the first waiting item whose host may use another place. If every such host is full, it returns the
// first waiting item.
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

// Fresh reports whether no active download uses the host of the entry that Next returns.
func (q *Queue) Fresh() bool {
	it := q.turn()
	return it != nil && it.host() != "" && !slices.ContainsFunc(q.lists[runs].items,
		func(o *item) bool { return o.host() == it.host() })
}

// Why returns a function that describes what an entry waits for. The description is empty if the entry does not wait or
// is the next one.
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
