// Package queue holds a list of downloads: what to download, in which order, and with which outcome.
//
// A [Queue] is a deterministic state machine. Its methods take commands and times. [Queue.Drain] returns the work that
// these commands require: entries to store, downloads to stop, notices to send. A Queue has no clock, no locks and no
// files. It downloads nothing and does not interpret options. A remote control reads its answers from the Queue.
//
//	q := queue.New(seed)
//	g, err := q.Add(now, queue.Entry{URIs: []string{"https://example.org/disk.iso"}}, -1)
//	e, ok := q.Start(now)                  // the first waiting entry, once there is room
//	q.Ended(now, e.GID, queue.Outcome{})   // the file is in place
//	store(q.Drain())
//
// Each entry is in one of three lists: entries that wait or are paused, in the order in which they will begin; active
// entries; and stopped entries, in the order in which they stopped. An entry with a higher [Entry].Priority comes
// before one with a lower priority.
package queue

import (
	"cmp"
	"slices"
	"time"
)

// A Queue is a list of downloads. It must be used by one goroutine at a time. New and Restore create one.
type Queue struct {
	items  map[GID]*item
	lists  [3]list
	count  [Removed + 1]int // indexed by status
	hosts  map[string]int   // number of waiting entries by host
	places int
	global map[string]string
	chance uint64 // state of the generator of GIDs
	news   Changes
	dirty  []*item
	// leaving holds the GIDs of entries that were forgotten while their downloads still ran.
	leaving map[GID]bool
	// version counts changes. whole is the oldest version since which dropped lists every removed entry.
	version, whole uint64
	dropped        []dropped
}

// An item is an entry with its state that is not stored.
type item struct {
	Entry
	live    *Live
	running bool // a download of it runs, whatever its status has become meanwhile
	dirty   bool // it is in Queue.dirty
	gone    bool // it was removed from the queue
	settled int  // number of entries at the front of FollowedBy that no longer need its document
	version uint64
	at      *string // cached result of host; nil until host is called
}

// Changes is the work that commands require.
type Changes struct {
	Store   []Entry           // entries to write
	Delete  []GID             // entries to remove from the store
	Global  map[string]string // global options that replace the stored ones; nil if they did not change
	Stop    []GID             // downloads to stop
	Changed []GID             // downloads that continue with changed options
	Notices []Notice          // in order
}

// Stored reports whether c changes the store.
func (c *Changes) Stored() bool { return len(c.Store)+len(c.Delete) > 0 || c.Global != nil }

// New returns an empty queue that derives GIDs from seed. Each start should use another seed.
func New(seed uint64) *Queue {
	return &Queue{items: map[GID]*item{}, hosts: map[string]int{}, leaving: map[GID]bool{}, chance: seed, version: 1}
}

// Restore returns a queue of the stored entries, which may be in any order. Entries that were active wait at the front,
// because no download runs yet.
func Restore(seed uint64, entries []Entry, global map[string]string) *Queue {
	q := New(seed)
	q.global = merged(nil, global)
	var active []*item
	for _, e := range slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Rank, b.Rank) }) {
		it := &item{Entry: e}
		q.items[e.GID] = it
		q.number(it, 1)
		if e.Status == Active {
			active = append(active, it)
			continue
		}
		l := q.listOf(e.Status)
		l.items = append(l.items, it)
	}
	slices.SortStableFunc(q.lists[waits].items, byPriority)
	for _, it := range slices.Backward(active) {
		q.set(it, Waiting)
		q.insert(0, it)
	}
	return q
}

// Drain returns the changes since the previous call.
func (q *Queue) Drain() Changes {
	c := q.news
	for _, it := range q.dirty {
		it.dirty = false
		if !it.gone {
			c.Store = append(c.Store, it.Entry)
		}
	}
	q.news, q.dirty = Changes{}, nil
	return c
}

// nextGID returns an unused GID. The generator is splitmix64.
func (q *Queue) nextGID() GID {
	for {
		q.chance += 0x9e3779b97f4a7c15
		z := q.chance
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		if g := GID(z ^ z>>31); g != 0 && !q.taken(g) {
			return g
		}
	}
}

func (q *Queue) taken(g GID) bool { return q.items[g] != nil || q.leaving[g] }

// changed records that an item changed and must be stored.
func (q *Queue) changed(it *item) {
	q.version++
	it.version = q.version
	if !it.dirty {
		it.dirty = true
		q.dirty = append(q.dirty, it)
	}
}

func (q *Queue) tell(what What, it *item) {
	q.news.Notices = append(q.news.Notices, Notice{what, it.GID})
}

// set changes the status of an item. The item must be in no list.
func (q *Queue) set(it *item, s Status) {
	q.number(it, -1)
	it.Status = s
	q.number(it, 1)
	q.changed(it)
}

// Next returns the entry that Start would return.
func (q *Queue) Next() (Entry, bool) {
	if it := q.next(); it != nil {
		return it.Entry, true
	}
	return Entry{}, false
}

func (q *Queue) next() *item {
	if q.count[Waiting] == 0 {
		return nil
	}
	return q.turn()
}

// Start makes the first waiting entry active and returns it. It returns false if every entry is paused, stopped or
// active, or waits for its previous download to stop. The caller must call Ended when the download ends.
func (q *Queue) Start(now time.Time) (Entry, bool) {
	it := q.next()
	if it == nil {
		return Entry{}, false
	}
	it.Outcome.Attempts++
	q.begin(now, it)
	return it.Entry, true
}

// Begin makes a waiting entry active, whatever its place. It is for a download in another process, which counts the
// attempts itself. The caller must call Ended when the download ends.
func (q *Queue) Begin(now time.Time, g GID) {
	if it := q.items[g]; it != nil && it.Status == Waiting && !it.running {
		q.begin(now, it)
	}
}

func (q *Queue) begin(now time.Time, it *item) {
	q.take(it)
	q.set(it, Active)
	it.Began, it.Ended, it.running = now, time.Time{}, true
	it.Outcome = Outcome{Attempts: it.Outcome.Attempts}
	it.live = &Live{Path: it.Path, Done: it.Done, Size: it.Size}
	q.insert(-1, it)
	q.tell(OnStart, it)
}

// Progress records the current state of a download.
func (q *Queue) Progress(g GID, l Live) {
	it := q.items[g]
	if it == nil || !it.running {
		return
	}
	if l.Seeding && !it.live.Seeding && it.Status == Active {
		q.tell(OnSeed, it)
	}
	if l.Size < 0 {
		l.Size = it.Size // as the last attempt found it, until this one knows
	}
	it.live = &l
	if l.Path != "" && l.Path != it.Path {
		it.Path = l.Path
		q.changed(it)
	}
}

// Ended records that a download ended with outcome o. An interrupted entry waits at the front, unless its status has
// changed meanwhile. An entry that yielded its place waits at the end. An entry that was paused or restarted but
// finished before it could be stopped is complete. A removed entry stays removed. o.Attempts counts only the attempts
// that Start did not count.
func (q *Queue) Ended(now time.Time, g GID, o Outcome) {
	delete(q.leaving, g)
	it := q.items[g]
	if it == nil || !it.running {
		return
	}
	it.running = false
	it.Done, it.Size = it.live.Done, it.live.Size
	it.live = nil
	q.changed(it)
	o.Attempts += it.Outcome.Attempts
	switch {
	case it.Status == Removed:
	case o.Kind == "":
		q.stop(now, it, Complete, o, OnComplete)
	case it.Status != Active:
	case o.Kind == Interrupted:
		q.take(it)
		q.set(it, Waiting)
		q.insert(0, it)
	case o.Kind == Yielded:
		q.take(it)
		q.set(it, Waiting)
		q.insert(-1, it)
	default:
		q.stop(now, it, Failed, o, OnError)
	}
}

// Settled records that the journal of an entry's file has been removed (Outcome.Due).
func (q *Queue) Settled(g GID) {
	if it := q.items[g]; it != nil && it.Outcome.Due {
		it.Outcome.Due = false
		q.changed(it)
	}
}

// stop moves an item to the stopped entries with status s.
func (q *Queue) stop(now time.Time, it *item, s Status, o Outcome, what What) {
	q.take(it)
	q.set(it, s)
	it.Ended, it.Outcome = now, o
	q.insert(-1, it)
	q.tell(what, it)
	q.limit()
}

// MostStopped limits the number of complete and removed entries that are kept. Beyond it the oldest are forgotten.
// Failed entries are always kept.
const MostStopped = 10_000

func (q *Queue) limit() {
	if q.count[Complete]+q.count[Removed] <= MostStopped {
		return
	}
	for _, it := range q.lists[stops].items {
		if it.Status != Failed && !it.running && !q.needed(it) {
			q.forget(it)
			return
		}
	}
}

// needed reports whether an item holds the document of another entry that is not complete.
func (q *Queue) needed(it *item) bool {
	if len(it.Document) == 0 {
		return false
	}
	for ; it.settled < len(it.FollowedBy); it.settled++ {
		f := q.items[it.FollowedBy[it.settled]]
		if f != nil && len(f.URIs)+len(f.Document) == 0 && f.Status != Complete && f.Status != Removed {
			return true
		}
	}
	return false
}

// forget removes an item from its list and from the queue.
func (q *Queue) forget(it *item) {
	q.take(it)
	q.drop(it)
}

// drop removes an item that is in no list from the queue.
func (q *Queue) drop(it *item) {
	delete(q.items, it.GID)
	q.number(it, -1)
	it.gone = true
	q.noteDropped(it.GID)
	if it.running {
		q.leaving[it.GID] = true
	}
	q.news.Delete = append(q.news.Delete, it.GID)
}
