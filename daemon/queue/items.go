package queue

import (
	"net/url"
	"strconv"
	"strings"
)

// An item is an entry, with state that is not stored.
type item struct {
	Entry
	live    *Live
	running bool // a download of the entry runs, perhaps after the status has changed
	changed bool // its options or URIs have changed since that download began
	dirty   bool // record.dirty contains the item
	gone    bool // it was removed from the queue
	settled int  // number of entries at the front of FollowedBy that no longer need the document
	version uint64
	at      *string // cached result of host; nil before its first call
}

// host returns the host of the item's first URI, or "" without such a host, as for a document.
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

// items holds the items of a queue by GID.
type items struct {
	by map[GID]*item
	// leaving holds the GIDs of entries that were forgotten while their downloads still ran.
	leaving map[GID]bool
	chance  uint64 // state of the random generator for GIDs
}

// unused returns a GID that no entry has. The generator is splitmix64.
func (i *items) unused() GID {
	for {
		i.chance += 0x9e3779b97f4a7c15
		z := i.chance
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		if g := GID(z ^ z>>31); g != 0 && !i.taken(g) {
			return g
		}
	}
}

func (i *items) taken(g GID) bool { return i.by[g] != nil || i.leaving[g] }

// remove removes an item. The item's GID stays taken as long as its download runs.
func (i *items) remove(it *item) {
	delete(i.by, it.GID)
	if it.running {
		i.leaving[it.GID] = true
	}
}

// needed reports whether the document of an item describes the file of another entry that is not complete.
func (i *items) needed(it *item) bool {
	if len(it.Document) == 0 {
		return false
	}
	for ; it.settled < len(it.FollowedBy); it.settled++ {
		f := i.by[it.FollowedBy[it.settled]]
		if f != nil && len(f.URIs)+len(f.Document) == 0 && f.Status != Complete && f.Status != Removed {
			return true
		}
	}
	return false
}

// find returns the only GID of an item that begins with prefix. It is an error if no GID or more than one does.
func (i *items) find(prefix string) (GID, error) {
	if g, ok := ParseGID(prefix); ok {
		if i.by[g] == nil {
			return 0, refuse("GID %s is not found", prefix)
		}
		return g, nil
	}
	if prefix == "" || len(prefix) >= gidDigits || strings.Trim(strings.ToLower(prefix), "0123456789abcdef") != "" {
		return 0, refuse("Invalid GID %s", prefix)
	}
	low, _ := strconv.ParseUint(prefix+strings.Repeat("0", gidDigits-len(prefix)), 16, 64)
	high := low | (1<<(4*(gidDigits-len(prefix))) - 1)
	var found GID
	for g := range i.by {
		if uint64(g) < low || uint64(g) > high {
			continue
		}
		if found != 0 {
			return 0, refuse("GID %s is not unique", prefix)
		}
		found = g
	}
	if found == 0 {
		return 0, refuse("GID %s is not found", prefix)
	}
	return found, nil
}
