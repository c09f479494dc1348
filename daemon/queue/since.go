package queue

import "slices"

// A Delta is what became of a queue between two versions of it.
type Delta struct {
	Version uint64  // to ask with the next time
	All     bool    // Entries are all that there are, in place of what was known before
	Entries []Entry // that are new, or have changed
	Gone    []GID   // that were forgotten
}

// a dropped entry is remembered for those who ask what has changed.
type dropped struct {
	gid     GID
	version uint64
}

// mostDropped is how many of them are.
const mostDropped = 1000

// Since returns what has changed since a version. It is everything if the version is 0, or so old that nothing tells
// what was dropped since.
func (q *Queue) Since(version uint64) Delta {
	if version == q.version {
		return Delta{Version: version}
	}
	d := Delta{Version: q.version, All: version < q.whole || version > q.version || version == 0}
	for i := range q.lists {
		for _, it := range q.lists[i].items {
			if d.All || it.version > version {
				d.Entries = append(d.Entries, it.Entry)
			}
		}
	}
	for _, gone := range q.dropped {
		if !d.All && gone.version > version {
			d.Gone = append(d.Gone, gone.gid)
		}
	}
	return d
}

// noteDropped remembers for Since that an entry is no more.
func (q *Queue) noteDropped(g GID) {
	q.version++
	q.dropped = append(q.dropped, dropped{g, q.version})
	if len(q.dropped) >= 2*mostDropped {
		q.whole = q.dropped[mostDropped-1].version
		q.dropped = slices.Clone(q.dropped[mostDropped:])
	}
}
