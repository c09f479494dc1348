package queue

import (
	"fmt"
	"slices"
)

// Hosts take turns, so that many or slow downloads from one host do not delay those from others. While entries of
// several hosts wait, one host gets at most three quarters of the concurrent downloads. Priorities come first, and
// entries of one host keep their order.

// leastPlaces is the minimum number of concurrent downloads if the daemon measures the number.
const leastPlaces = 4

// mostPassed limits the number of entries that are skipped to find an entry of another host.
const mostPassed = 10_000

// turns chooses the next item to download.
type turns struct {
	order  *order
	places int // number of concurrent downloads; 0 if the daemon measures it, negative if other processes download
}

// part returns the number of concurrent downloads, as places, and how many of them may be from one host while entries
// of several hosts wait.
func (t *turns) part() (part, places int) {
	if places = t.places; places <= 0 {
		places = max(leastPlaces, len(t.order.lists[runs].items)+1)
	}
	return max(1, places-max(1, places/4)), places
}

// full returns the hosts that already have as many downloads as one host may have.
func (t *turns) full() map[string]bool {
	part, _ := t.part()
	running, full := map[string]int{}, map[string]bool{}
	for _, it := range t.order.lists[runs].items {
		if host := it.host(); host != "" {
			running[host]++
			full[host] = running[host] >= part
		}
	}
	return full
}

// next returns the first waiting item with a host that may have another download. Without such an item of the highest
// priority, it returns the first waiting item.
func (t *turns) next() *item {
	if t.order.count[Waiting] == 0 {
		return nil
	}
	var first *item
	var full map[string]bool
	for i, it := range t.order.lists[waits].items {
		if it.Status != Waiting || it.running {
			continue
		}
		if first == nil {
			if first = it; len(t.order.hosts) < 2 {
				return it
			}
			full = t.full()
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

// fresh reports whether no active download is from the host of the item that next returns.
func (t *turns) fresh() bool {
	it := t.next()
	return it != nil && it.host() != "" && !slices.ContainsFunc(t.order.lists[runs].items,
		func(o *item) bool { return o.host() == it.host() })
}

// why returns a function that describes what an item is waiting for. The function returns "" for an item that is not
// waiting, and for the item that next returns.
func (t *turns) why() func(*item) string {
	next, full, active := t.next(), t.full(), len(t.order.lists[runs].items)
	part, places := t.part()
	return func(it *item) string {
		switch {
		case it == nil || it.Status != Waiting:
			return ""
		case it.running:
			return "until the active download has stopped"
		case t.places < 0:
			return "for a worker"
		case active == 0 || it == next:
			return ""
		case len(t.order.hosts) > 1 && full[it.host()]:
			return fmt.Sprintf("for its host, which uses %d of %d places while others wait", part, places)
		}
		return fmt.Sprintf("for a free place: at most %d at once", active)
	}
}
