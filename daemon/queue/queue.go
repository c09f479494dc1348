// Package queue says what is to be downloaded, in which order, and what became of it.
//
// A [Queue] is a deterministic machine: commands and times go in, and [Queue.Drain] says what they call for: what is to
// be stored, which downloads are to be stopped, what is to be told. It has no clock, no locks and no files, downloads
// nothing, and does not know what an option means. What a remote control asks for is answered from it.
//
//	q := queue.New(seed)
//	g, err := q.Add(now, queue.Entry{URIs: []string{"https://example.org/disk.iso"}}, -1)
//	e, ok := q.Start(now)                  // whatever is first, when there is room
//	q.Ended(now, e.GID, queue.Outcome{})   // it is in place
//	store(q.Drain())
//
// There are three lists, and each entry is in one of them: those that wait or are paused, in the order in which they
// will begin; those that are active; and those that stopped, in the order in which they did. A higher [Entry].Priority
// stands before a lower one.
package queue

import (
	"cmp"
	"slices"
	"time"
)

// A Queue is for one goroutine. New and Restore make one.
type Queue struct {
	items  map[GID]*item
	lists  [3]list
	count  [Removed + 1]int // by status
	hosts  map[string]int   // how many entries wait for each
	places int
	global map[string]string
	chance uint64 // where the next GID comes from
	news   Changes
	dirty  []*item
	// leaving are GIDs of entries that were forgotten before their downloads had ended.
	leaving map[GID]bool
	// version counts changes, whole is the oldest one from which dropped tells what is no more.
	version, whole uint64
	dropped        []dropped
}

// An item is an entry and what is not stored of it.
type item struct {
	Entry
	live    *Live
	running bool // a download is at work for it, whatever its status has become meanwhile
	dirty   bool // it is in Queue.dirty
	gone    bool // it was forgotten
	settled int  // of FollowedBy, so many from the first on need its document no more
	version uint64
	at      *string // its host, once it was asked for
}

// Changes are what commands call for.
type Changes struct {
	Store   []Entry           // to be written
	Delete  []GID             // to be removed from the store
	Global  map[string]string // global options to be written in place of those before; nil if they did not change
	Stop    []GID             // downloads to be stopped
	Changed []GID             // downloads that go on with other options
	Notices []Notice          // in order
}

// Stored reports whether something is to be written.
func (c *Changes) Stored() bool { return len(c.Store)+len(c.Delete) > 0 || c.Global != nil }

// New makes an empty queue. GIDs come from seed, which should be another one each time.
func New(seed uint64) *Queue {
	return &Queue{items: map[GID]*item{}, hosts: map[string]int{}, leaving: map[GID]bool{}, chance: seed, version: 1}
}

// Restore makes a queue of what was stored, in any order. What was active waits in front, as no download is at work.
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

// Drain returns what was called for since the last time.
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

// nextGID is one that is free (splitmix64).
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

// changed has an entry stored.
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

// set is where a status changes. The item must be in no list.
func (q *Queue) set(it *item, s Status) {
	q.number(it, -1)
	it.Status = s
	q.number(it, 1)
	q.changed(it)
}

// Next returns the entry that Start would give out.
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

// Start gives out the first entry that waits, which is active from then on. There is none if everything is paused,
// stopped or active, or waits for its download to stop. The download ends with Ended.
func (q *Queue) Start(now time.Time) (Entry, bool) {
	it := q.next()
	if it == nil {
		return Entry{}, false
	}
	it.Outcome.Attempts++
	q.begin(now, it)
	return it.Entry, true
}

// Begin has an entry that waits be active, whatever its place is: it is done elsewhere, where attempts are counted. It
// ends with Ended.
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

// Progress tells what a download does now.
func (q *Queue) Progress(g GID, l Live) {
	it := q.items[g]
	if it == nil || !it.running {
		return
	}
	if l.Seeding && !it.live.Seeding && it.Status == Active {
		q.tell(OnSeed, it)
	}
	it.live = &l
	if l.Path != "" && l.Path != it.Path {
		it.Path = l.Path
		q.changed(it)
	}
}

// Ended tells how a download ended. One that was interrupted waits in front if nothing else was asked for, and one that
// made room waits behind the others. One that was paused, or that begins again with other options, and came to its end
// before it could be stopped, is complete; a removed one stays removed. Attempts of the outcome are those that Start
// did not count.
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

// Settled tells that nothing is due any more with the file of an entry (Outcome.Due).
func (q *Queue) Settled(g GID) {
	if it := q.items[g]; it != nil && it.Outcome.Due {
		it.Outcome.Due = false
		q.changed(it)
	}
}

// stop has an entry stop for good.
func (q *Queue) stop(now time.Time, it *item, s Status, o Outcome, what What) {
	q.take(it)
	q.set(it, s)
	it.Ended, it.Outcome = now, o
	q.insert(-1, it)
	q.tell(what, it)
	q.limit()
}

// MostStopped is how many entries stay known that are complete or were removed. Beyond it the first ones are forgotten;
// those that failed never are.
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

// needed reports whether an entry has the document that another one is to be downloaded by.
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

// forget drops an entry.
func (q *Queue) forget(it *item) {
	q.take(it)
	q.drop(it)
}

// drop drops an entry that is in no list.
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
