package queue

import "testing"

// The GID of an entry that was forgotten while its download ran is not given again before the download has ended.
func TestItemsGIDs(t *testing.T) {
	with := func(taken ...GID) *items {
		i := &items{by: map[GID]*item{}, leaving: map[GID]bool{}, chance: 5}
		for _, g := range taken {
			i.by[g] = &item{Entry: Entry{GID: g}, running: true}
		}
		return i
	}
	first := with().unused()
	second := with(first).unused()
	if first == 0 || second == first {
		t.Fatalf("%v and %v", first, second)
	}
	i := with(first)
	i.remove(i.by[first])
	if g := i.unused(); i.by[first] != nil || !i.taken(first) || g != second {
		t.Errorf("%v after %v left", g, first)
	}
}

// A document is needed as long as a file of it is to come that has no other source.
func TestItemsNeeded(t *testing.T) {
	i := &items{by: map[GID]*item{
		1: {Entry: Entry{GID: 1, Document: []byte("d"), FollowedBy: []GID{2, 3, 4}}},
		2: {Entry: Entry{GID: 2, Status: Complete}},
		3: {Entry: Entry{GID: 3, URIs: []string{"http://a.example/"}}},
		4: {Entry: Entry{GID: 4, Status: Failed}},
	}}
	if !i.needed(i.by[1]) || i.needed(i.by[4]) {
		t.Error("the file that failed may be tried again, and needs the document")
	}
	if i.by[4].Status = Removed; i.needed(i.by[1]) {
		t.Error("no file is to come")
	}
}
