package queue

import (
	"iter"
	"slices"
)

// Changes is the work that commands to a queue require.
type Changes struct {
	Store   []Entry           // entries to write
	Delete  []GID             // entries to remove from the store
	Global  map[string]string // all global options, to be stored; nil if they did not change
	Stop    []GID             // downloads to stop
	Changed []GID             // downloads that continue with changed options
	Notices []Notice          // in the order of the events
}

// Stored reports whether the store must be changed because of c.
func (c *Changes) Stored() bool { return len(c.Store)+len(c.Delete) > 0 || c.Global != nil }

// A record collects the changes of a queue for the callers of Drain and Since.
type record struct {
	news  Changes
	dirty []*item // to store
	// version counts changes. dropped lists all entries that were removed after the version whole.
	version, whole uint64
	dropped        []dropped
}

// drain returns the changes since the previous call of drain.
func (r *record) drain() Changes {
	c := r.news
	for _, it := range r.dirty {
		it.dirty = false
		if !it.gone {
			c.Store = append(c.Store, it.Entry)
		}
	}
	r.news, r.dirty = Changes{}, nil
	return c
}

// changed records that an item changed and must be stored.
func (r *record) changed(it *item) {
	r.version++
	it.version = r.version
	if !it.dirty {
		it.dirty = true
		r.dirty = append(r.dirty, it)
	}
}

// removed records that an item was removed from the queue.
func (r *record) removed(it *item) {
	r.version++
	r.dropped = append(r.dropped, dropped{it.GID, r.version})
	if len(r.dropped) >= 2*mostDropped {
		r.whole = r.dropped[mostDropped-1].version
		r.dropped = slices.Clone(r.dropped[mostDropped:])
	}
	it.gone = true
	r.news.Delete = append(r.news.Delete, it.GID)
}

// stop records that the download of an item must be stopped.
func (r *record) stop(it *item) { r.news.Stop = append(r.news.Stop, it.GID) }

// tell records a notice of an event of an item.
func (r *record) tell(what What, it *item) {
	r.news.Notices = append(r.news.Notices, Notice{what, it.GID})
}

// A Delta is the difference between two versions of a queue.
type Delta struct {
	Version uint64  // the newer version, for the next call of Since
	All     bool    // Entries has all entries and replaces all earlier data
	Entries []Entry // new or changed entries
	Gone    []GID   // entries that were forgotten
}

// A dropped is an entry that was removed, with the version of the queue after that.
type dropped struct {
	gid     GID
	version uint64
}

// mostDropped is the number of the latest removals that a record always keeps.
const mostDropped = 1000

// since returns the changes since the given version. items has every item of the queue. since returns the whole queue
// if the version is 0, or so old that later removals are no longer known.
func (r *record) since(version uint64, items iter.Seq[*item]) Delta {
	if version == r.version {
		return Delta{Version: version}
	}
	d := Delta{Version: r.version, All: version < r.whole || version > r.version || version == 0}
	for it := range items {
		if d.All || it.version > version {
			d.Entries = append(d.Entries, it.Entry)
		}
	}
	for _, gone := range r.dropped {
		if !d.All && gone.version > version {
			d.Gone = append(d.Gone, gone.gid)
		}
	}
	return d
}
