package queue

import (
	"cmp"
	"slices"
	"sort"
)

// A list holds items ordered by rank.
type list struct{ items []*item }

const (
	waits = iota
	runs
	stops
)

func (q *Queue) listOf(s Status) *list {
	switch {
	case s == Active:
		return &q.lists[runs]
	case s.stopped():
		return &q.lists[stops]
	}
	return &q.lists[waits]
}

// byPriority orders items by descending priority.
func byPriority(a, b *item) int { return cmp.Compare(b.Priority, a.Priority) }

// take removes an item from its list.
func (q *Queue) take(it *item) {
	l := q.listOf(it.Status)
	if len(l.items) > 0 && l.items[0] == it { // the common case, when an item begins
		l.items[0] = nil
		l.items = l.items[1:]
		return
	}
	i := slices.Index(l.items, it)
	l.items = slices.Delete(l.items, i, i+1)
}

// insert inserts items of one priority into the list of their status at position, or as near to it as their priority
// allows. A negative position is the end. It returns the index of the first inserted item.
func (q *Queue) insert(position int, items ...*item) int {
	l := q.listOf(items[0].Status)
	low, high := 0, len(l.items)
	if l == &q.lists[waits] {
		low = sort.Search(high, func(i int) bool { return l.items[i].Priority <= items[0].Priority })
		high = low + sort.Search(high-low, func(i int) bool { return l.items[low+i].Priority < items[0].Priority })
	}
	i := high
	if position >= 0 {
		i = min(max(position, low), high)
	}
	l.items = slices.Insert(l.items, i, items...)
	q.rank(l, i, len(items))
	for _, it := range items {
		q.changed(it)
	}
	return i
}

// rankGap is the distance between the ranks of neighbours, so that items can be inserted between them.
const rankGap = 1 << 20

// rank gives the n items from index i on ranks between those of their neighbours. If the neighbours' ranks are too
// close, all items of the list get new ranks.
func (q *Queue) rank(l *list, i, n int) {
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
				q.changed(other)
			}
			return
		}
		first = before + step
	}
	for k, it := range l.items[i : i+n] {
		it.Rank = first + int64(k)*step
	}
}

// Entry returns the entry with this GID.
func (q *Queue) Entry(g GID) (Entry, bool) {
	it := q.items[g]
	if it == nil {
		return Entry{}, false
	}
	return it.Entry, true
}

// Live returns the state of an entry's download. It returns false if no download of the entry runs.
func (q *Queue) Live(g GID) (Live, bool) {
	it := q.items[g]
	if it == nil || !it.running {
		return Live{}, false
	}
	return *it.live, true
}

// Count returns the number of entries in each of the three lists.
func (q *Queue) Count() (active, waiting, stopped int) {
	return len(q.lists[runs].items), len(q.lists[waits].items), len(q.lists[stops].items)
}

// Active returns the active entries in the order in which they began.
func (q *Queue) Active() []Entry { return q.lists[runs].page(0, len(q.lists[runs].items)) }

// Waiting returns up to n waiting or paused entries, beginning at offset. A negative offset counts from the end, where
// -1 is the last entry; the entries are then in reverse order.
func (q *Queue) Waiting(offset, n int) []Entry { return q.lists[waits].page(offset, n) }

// Stopped returns up to n stopped entries. Its parameters are those of Waiting.
func (q *Queue) Stopped(offset, n int) []Entry { return q.lists[stops].page(offset, n) }

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

// Global returns the options of all downloads. The caller must not change them.
func (q *Queue) Global() map[string]string { return q.global }
