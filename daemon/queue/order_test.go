package queue

import (
	"slices"
	"testing"
)

func newOrder() *order { return &order{record: &record{}, hosts: map[string]int{}} }

// added adds a new item at a position.
func (o *order) added(g GID, priority, position int, s Status) *item {
	it := &item{Entry: Entry{GID: g, Priority: priority, Status: s, URIs: []string{"http://a.example/"}}}
	o.number(it, 1)
	o.insert(position, it)
	return it
}

func (o *order) waiting() (all []GID) {
	for _, it := range o.lists[waits].items {
		all = append(all, it.GID)
	}
	return all
}

// Ranks order the items as the list does, also once there is no room between two of them. Every item whose rank changed
// is recorded, as it must be stored.
func TestOrderRanks(t *testing.T) {
	o := newOrder()
	first, last := o.added(1, 0, -1, Waiting), o.added(2, 0, -1, Paused)
	for g := GID(3); g < 50; g++ {
		o.record.drain()
		before := map[GID]int64{}
		for it := range o.all() {
			before[it.GID] = it.Rank
		}
		o.added(g, 0, 1, Waiting) // always between the same two
		stored := gids(o.record.drain().Store)
		for it := range o.all() {
			if it.Rank != before[it.GID] && !slices.Contains(stored, it.GID) {
				t.Fatalf("%d has the rank %d, and is not stored", it.GID, it.Rank)
			}
		}
		items := o.lists[waits].items
		if !slices.IsSortedFunc(items, func(a, b *item) int { return int(a.Rank - b.Rank) }) ||
			items[0] != first || items[1].GID != g || items[len(items)-1] != last {
			t.Fatalf("after %d: %v", g, o.waiting())
		}
	}
}

// A position is kept as far as the priorities allow.
func TestOrderOfPriorities(t *testing.T) {
	o := newOrder()
	for i, priority := range []int{0, 1, -1, 0, 1} {
		o.added(GID(i+1), priority, -1, Waiting)
	}
	for _, step := range []struct {
		priority, position int
		want               []GID
	}{
		{0, 0, []GID{2, 5, 6, 1, 4, 3}},
		{1, 99, []GID{2, 5, 7, 6, 1, 4, 3}},
		{-1, -1, []GID{2, 5, 7, 6, 1, 4, 3, 8}},
	} {
		if o.added(GID(len(o.waiting())+1), step.priority, step.position, Waiting); !slices.Equal(o.waiting(), step.want) {
			t.Errorf("priority %d at %d: %v, want %v", step.priority, step.position, o.waiting(), step.want)
		}
	}
}

// The counts follow an item from list to list, and to another host.
func TestOrderCounts(t *testing.T) {
	o := newOrder()
	it := o.added(1, 0, -1, Waiting)
	o.relink(it, []string{"http://b.example/"})
	if o.count[Waiting] != 1 || len(o.hosts) != 1 || o.hosts["b.example"] != 1 {
		t.Errorf("waiting: %v, %v", o.count, o.hosts)
	}
	for _, s := range []Status{Active, Paused, Complete} {
		o.move(it, s, -1)
		if o.count[s] != 1 || o.count[Waiting] != 0 || len(o.hosts) != 0 || o.of(s).items[0] != it {
			t.Errorf("%v: %v, %v", s, o.count, o.hosts)
		}
	}
	if o.set(it, Removed); o.count[Complete] != 0 || o.count[Removed] != 1 {
		t.Errorf("removed: %v", o.count)
	}
}
