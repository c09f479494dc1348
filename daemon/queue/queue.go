// Package queue holds a list of downloads: what to download, in which order, and with which outcome.
//
// A [Queue] is a deterministic state machine. Its methods take commands and times. [Queue.Drain] returns the work that
// these commands require: entries to store, downloads to stop, notices to send. A Queue has no clock, no locks and no
// files. It downloads nothing and does not interpret options. A remote control reads its answers from the Queue.
//
//	q := queue.New(seed)
//	g, err := q.Add(now, queue.Entry{URIs: []string{"https://example.org/disk.iso"}}, -1)
//	e, ok := q.Start(now)                  // the first waiting entry, when a download can begin
//	q.Ended(now, e.GID, queue.Outcome{})   // the file is complete
//	store(q.Drain())
//
// Each entry is in one of three lists: waiting and paused entries, the next one first; active entries; and stopped
// entries, in the order in which they stopped. In the first list, entries are sorted by descending [Entry].Priority.
package queue

import (
	"cmp"
	"slices"
	"time"
)

// A Queue is a list of downloads. Only one goroutine may use it at a time. New and Restore return one.
type Queue struct {
	items  items
	order  order
	turns  turns
	record record
	global map[string]string
}

// New returns an empty queue. It generates GIDs from seed, which should differ for each start of the process.
func New(seed uint64) *Queue {
	q := &Queue{record: record{version: 1}}
	q.items = items{by: map[GID]*item{}, leaving: map[GID]bool{}, chance: seed}
	q.order = order{record: &q.record, hosts: map[string]int{}}
	q.turns.order = &q.order
	return q
}

// Restore returns a queue of the stored entries, which may be in any order. Entries that were active wait at the front,
// because no download runs yet.
func Restore(seed uint64, entries []Entry, global map[string]string) *Queue {
	q := New(seed)
	q.global = merged(nil, global)
	var active []*item
	for _, e := range slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Rank, b.Rank) }) {
		it := &item{Entry: e}
		q.items.by[e.GID] = it
		q.order.number(it, 1)
		if e.Status == Active {
			active = append(active, it)
			continue
		}
		l := q.order.of(e.Status)
		l.items = append(l.items, it)
	}
	slices.SortStableFunc(q.order.lists[waits].items, byPriority)
	for _, it := range slices.Backward(active) {
		q.order.set(it, Waiting)
		q.order.insert(0, it)
	}
	return q
}

// Drain returns the changes since the previous call of Drain.
func (q *Queue) Drain() Changes { return q.record.drain() }

// Since returns the changes since the given version. If the version is 0, or so old that later removals are no longer
// known, it returns all entries.
func (q *Queue) Since(version uint64) Delta { return q.record.since(version, q.order.all()) }

// SetPlaces sets the number of concurrent downloads. 0 means that the daemon measures the number. A negative number
// means that other processes download.
func (q *Queue) SetPlaces(n int) { q.turns.places = n }

// Fresh reports whether no active download uses the host of the entry that Next returns.
func (q *Queue) Fresh() bool { return q.turns.fresh() }

// Why returns a function that describes what an entry is waiting for. The function returns "" for an entry that is not
// waiting, and for the entry that Next returns.
func (q *Queue) Why() func(GID) string {
	why := q.turns.why()
	return func(g GID) string { return why(q.items.by[g]) }
}

// Next returns the entry that Start would return.
func (q *Queue) Next() (Entry, bool) {
	if it := q.turns.next(); it != nil {
		return it.Entry, true
	}
	return Entry{}, false
}

// Start makes the first waiting entry active and returns it. It returns false if no entry can start: each is paused,
// stopped or active, or waits until its previous download has stopped. The caller must call Ended when the download ends.
func (q *Queue) Start(now time.Time) (Entry, bool) {
	it := q.turns.next()
	if it == nil {
		return Entry{}, false
	}
	it.Outcome.Attempts++
	q.Begin(now, it.GID)
	return it.Entry, true
}

// Begin makes a waiting entry active, wherever it is in the list. It is for a download in another process, which counts
// attempts itself. The caller must call Ended when the download ends.
func (q *Queue) Begin(now time.Time, g GID) {
	it := q.items.by[g]
	if it == nil || it.Status != Waiting || it.running {
		return
	}
	q.order.move(it, Active, -1)
	it.Began, it.Ended, it.running, it.changed = now, time.Time{}, true, false
	it.Outcome = Outcome{Attempts: it.Outcome.Attempts}
	it.live = &Live{Path: it.Path, Done: it.Done, Size: it.Size}
	q.record.tell(OnStart, it)
}

// Progress records l as the current state of the download of entry g.
func (q *Queue) Progress(g GID, l Live) {
	it := q.items.by[g]
	if it == nil || !it.running {
		return
	}
	if l.Seeding && !it.live.Seeding && it.Status == Active {
		q.record.tell(OnSeed, it)
	}
	if l.Size < 0 {
		l.Size = it.Size // keep the size from the previous attempt until this attempt knows a size
	}
	it.live = &l
	if l.Path != "" && l.Path != it.Path {
		it.Path = l.Path
		q.record.changed(it)
	}
}

// Ended records that a download of entry g ended with outcome o. If its status is still Active, an interrupted entry then
// waits at the front, a yielded one waits at the end, and an early one is forgotten. An entry that was paused or
// restarted, but complete before its download could be stopped, becomes Complete, unless its options or URIs were
// changed meanwhile: the file may lack what they demand. A removed entry stays Removed. o.Attempts must not include
// attempts that Start counted.
func (q *Queue) Ended(now time.Time, g GID, o Outcome) {
	delete(q.items.leaving, g)
	it := q.items.by[g]
	if it == nil || !it.running {
		return
	}
	it.running = false
	it.Done, it.Size = it.live.Done, it.live.Size
	it.live = nil
	q.record.changed(it)
	o.Attempts += it.Outcome.Attempts
	switch {
	case it.Status == Removed:
	case o.Kind == "" && !it.changed:
		q.stop(now, it, Complete, o, OnComplete)
	case it.Status != Active:
	case o.Kind == Interrupted:
		q.order.move(it, Waiting, 0)
	case o.Kind == Yielded:
		q.order.move(it, Waiting, -1)
	case o.Kind == Early && !q.items.needed(it):
		q.order.take(it)
		q.drop(it)
		q.record.tell(OnStop, it)
	default:
		q.stop(now, it, Failed, o, OnError)
	}
}

// Settled records that the journal of the entry's file has been removed. It clears Outcome.Due.
func (q *Queue) Settled(g GID) {
	if it := q.items.by[g]; it != nil && it.Outcome.Due {
		it.Outcome.Due = false
		q.record.changed(it)
	}
}

// MostStopped limits the number of complete and removed entries that are kept. Beyond that number the oldest are
// forgotten. Failed entries are always kept.
const MostStopped = 10_000

// stop moves an item to the stopped entries, with status s and outcome o, and records the event.
func (q *Queue) stop(now time.Time, it *item, s Status, o Outcome, what What) {
	q.order.move(it, s, -1)
	it.Ended, it.Outcome = now, o
	q.record.tell(what, it)
	if q.order.count[Complete]+q.order.count[Removed] <= MostStopped {
		return
	}
	for _, old := range q.order.lists[stops].items {
		if old.Status != Failed && !old.running && !q.items.needed(old) {
			q.order.take(old)
			q.drop(old)
			return
		}
	}
}

// drop removes an item from the queue. The item must no longer be in a list.
func (q *Queue) drop(it *item) {
	q.order.number(it, -1)
	q.items.remove(it)
	q.record.removed(it)
}

// Entry returns the entry with GID g. It returns false if the queue has no such entry.
func (q *Queue) Entry(g GID) (Entry, bool) {
	it := q.items.by[g]
	if it == nil {
		return Entry{}, false
	}
	return it.Entry, true
}

// Live returns the state of the download of entry g. It returns false if no download of that entry is running.
func (q *Queue) Live(g GID) (Live, bool) {
	it := q.items.by[g]
	if it == nil || !it.running {
		return Live{}, false
	}
	return *it.live, true
}

// Count returns the numbers of active entries, of waiting or paused entries, and of stopped entries.
func (q *Queue) Count() (active, waiting, stopped int) {
	return len(q.order.lists[runs].items), len(q.order.lists[waits].items), len(q.order.lists[stops].items)
}

// Active returns the active entries. The entry that has been active longest comes first.
func (q *Queue) Active() []Entry { return q.order.lists[runs].page(0, len(q.order.lists[runs].items)) }

// Waiting returns up to n waiting or paused entries, beginning at offset. A negative offset counts from the end, where
// -1 is the last entry. The entries are then returned in reverse order.
func (q *Queue) Waiting(offset, n int) []Entry { return q.order.lists[waits].page(offset, n) }

// Stopped returns up to n stopped entries. Its parameters have the meaning of those of Waiting.
func (q *Queue) Stopped(offset, n int) []Entry { return q.order.lists[stops].page(offset, n) }

// Global returns the options that apply to all downloads. The caller must not change the map.
func (q *Queue) Global() map[string]string { return q.global }
