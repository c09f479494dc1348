package queue

import "slices"

// A Delta is the difference between two versions of a queue.
type Delta struct {
	Version uint64  // version to pass to Since the next time
	All     bool    // Entries replaces everything known before
	Entries []Entry // new or changed entries
	Gone    []GID   // entries that were forgotten
}

// A dropped records the removal of an entry for callers of Since.
type dropped struct {
	gid     GID
	version uint64
}

// mostDropped is the number of removals that are remembered at least.
const mostDropped = 1000

// Since returns the changes since a version. It returns all entries if the version is 0 or so old that removals since
// then have been forgotten.
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

// noteDropped records the removal of an entry for Since.
func (q *Queue) noteDropped(g GID) {
	q.version++
	q.dropped = append(q.dropped, dropped{g, q.version})
	if len(q.dropped) >= 2*mostDropped {
		q.whole = q.dropped[mostDropped-1].version
		q.dropped = slices.Clone(q.dropped[mostDropped:])
	}
}
