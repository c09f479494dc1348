package queue

import (
	"cmp"
	"iter"
	"slices"
	"sort"
)

// An order holds the items of a queue in three lists: waiting and paused items, active items, and stopped items. It
// counts them by status and by host.
type order struct {
	record *record
	lists  [3]list
	count  [Removed + 1]int // by status
	hosts  map[string]int   // number of waiting items by host
}

// A list holds items ordered by rank.
type list struct{ items []*item }

const (
	waits = iota
	runs
	stops
)

// of returns the list for items of status s.
func (o *order) of(s Status) *list {
	switch {
	case s == Active:
		return &o.lists[runs]
	case s.stopped():
		return &o.lists[stops]
	}
	return &o.lists[waits]
}

// all returns the items of all lists.
func (o *order) all() iter.Seq[*item] {
	return func(yield func(*item) bool) {
		for i := range o.lists {
			for _, it := range o.lists[i].items {
				if !yield(it) {
					return
				}
			}
		}
	}
}

// set changes the status of an item to s, without moving the item to another list.
func (o *order) set(it *item, s Status) {
	o.number(it, -1)
	it.Status = s
	o.number(it, 1)
	o.record.changed(it)
}

// move moves an item to a position in the list for status s, and sets its status to s.
func (o *order) move(it *item, s Status, position int) {
	o.take(it)
	o.set(it, s)
	o.insert(position, it)
}

// number adds n, which is 1 or -1, to the counters for the status and the host of an item.
func (o *order) number(it *item, n int) {
	o.count[it.Status] += n
	if it.Status != Waiting {
		return
	}
	if o.hosts[it.host()] += n; o.hosts[it.host()] == 0 {
		delete(o.hosts, it.host())
	}
}

// relink sets the URIs of an item, which may change the item's host.
func (o *order) relink(it *item, uris []string) {
	o.number(it, -1)
	it.URIs, it.at = uris, nil
	o.number(it, 1)
}

// byPriority orders items by descending priority.
func byPriority(a, b *item) int { return cmp.Compare(b.Priority, a.Priority) }

// take removes an item from its list.
func (o *order) take(it *item) {
	l := o.of(it.Status)
	if len(l.items) > 0 && l.items[0] == it { // common when a download begins
		l.items[0] = nil
		l.items = l.items[1:]
		return
	}
	i := slices.Index(l.items, it)
	l.items = slices.Delete(l.items, i, i+1)
}

// insert inserts items, which have the same priority, into the list for their status: at position, or as near to it as
// their priority allows. A negative position is the end. It returns the index of the first inserted item.
func (o *order) insert(position int, items ...*item) int {
	l := o.of(items[0].Status)
	low, high := 0, len(l.items)
	if l == &o.lists[waits] {
		low = sort.Search(high, func(i int) bool { return l.items[i].Priority <= items[0].Priority })
		high = low + sort.Search(high-low, func(i int) bool { return l.items[low+i].Priority < items[0].Priority })
	}
	i := high
	if position >= 0 {
		i = min(max(position, low), high)
	}
	l.items = slices.Insert(l.items, i, items...)
	o.rank(l, i, len(items))
	for _, it := range items {
		o.record.changed(it)
	}
	return i
}

// rankGap is the usual difference between the ranks of two neighbors. It leaves ranks for items that are inserted later.
const rankGap = 1 << 20

// rank gives n items of l, beginning at index i, ranks between those of their neighbors. If the neighbors' ranks are
// too close, all items of l get new ranks.
func (o *order) rank(l *list, i, n int) {
	first, step := int64(0), int64(rankGap)
	switch atStart, atEnd := i == 0, i+n == len(l.items); {
	case atStart && atEnd:
	case atStart:
		first = l.items[n].Rank - int64(n)*rankGap
	case atEnd:
		first = l.items[i-1].Rank + rankGap
	default:
		before, after := l.items[i-1].Rank, l.items[i+n].Rank
		if step = (after - before) / int64(n+1); step == 0 {
			for n, other := range l.items {
				other.Rank = int64(n) * rankGap
				o.record.changed(other)
			}
			return
		}
		first = before + step
	}
	for k, it := range l.items[i : i+n] {
		it.Rank = first + int64(k)*step
	}
}

// page returns up to n entries, beginning at offset, as [Queue.Waiting] describes.
func (l *list) page(offset, n int) []Entry {
	step, from := 1, offset
	if offset < 0 {
		step, from = -1, len(l.items)+offset
	}
	entries := []Entry{}
	for i := from; i >= 0 && i < len(l.items) && len(entries) < n; i += step {
		entries = append(entries, l.items[i].Entry)
	}
	return entries
}
