package queue

import "testing"

// TestSince checks that only changes are returned, and everything if too many removals were forgotten.
func TestSince(t *testing.T) {
	q := filled(t, 5)
	d := q.Since(0)
	if !d.All || len(d.Entries) != 5 {
		t.Fatalf("first %+v", d)
	}
	v := d.Version
	if d = q.Since(v); d.All || d.Version != v || d.Entries != nil {
		t.Errorf("nothing has changed, but %+v", d)
	}
	q.Pause(numbered(2))
	q.Remove(at, numbered(3))
	q.Forget(numbered(3))
	if d = q.Since(v); d.All || inOrder(d.Entries) != "2p" || len(d.Gone) != 1 || d.Gone[0] != numbered(3) {
		t.Errorf("2 was paused and 3 forgotten, but %+v", d)
	}
	if d = q.Since(d.Version + 1); !d.All || len(d.Entries) != 4 {
		t.Errorf("another queue's version: %+v", d)
	}
	for range 2 * mostDropped {
		g, _ := q.Add(at, Entry{URIs: []string{"http://h/"}}, -1)
		q.Remove(at, g)
		q.Forget(g)
	}
	if d = q.Since(v); !d.All || len(d.Entries) != 4 || d.Gone != nil {
		t.Errorf("long ago: %d entries, %d gone, all: %t", len(d.Entries), len(d.Gone), d.All)
	}
}
