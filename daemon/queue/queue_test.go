package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var at = time.Unix(2e9, 0).UTC()

// filled returns a queue with entries 1 to n, whose GIDs begin with their numbers.
func filled(t *testing.T, n int) *Queue {
	t.Helper()
	q := New(1)
	for i := range n {
		if _, err := q.Add(at, Entry{GID: numbered(i + 1), URIs: []string{fmt.Sprintf("http://h/%d", i+1)}}, -1); err != nil {
			t.Fatal(err)
		}
	}
	return q
}

// addWith adds an entry with a priority.
func addWith(q *Queue, i, priority int) {
	q.Add(at, Entry{GID: numbered(i), URIs: []string{"http://h/"}, Priority: priority}, -1)
}

func numbered(i int) GID { return GID(i)<<60 | 7 }

// inOrder returns the numbers of entries, with a letter for those that do not wait.
func inOrder(entries []Entry) string {
	var words []string
	for _, e := range entries {
		word := fmt.Sprint(uint64(e.GID) >> 60)
		if e.Status != Waiting {
			word += e.Status.String()[:1]
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(q *Queue)
		want string // active; waiting; stopped
	}{
		{"first come, first begun", func(q *Queue) { q.Start(at); q.Start(at) }, "1a 2a; 3 4 5; "},
		{"a paused one stays where it is", func(q *Queue) { q.Pause(numbered(2)) }, "; 1 2p 3 4 5; "},
		{"and is passed over", func(q *Queue) { q.Pause(numbered(1)); q.Start(at) }, "2a; 1p 3 4 5; "},
		{"an active one that is paused is in front", func(q *Queue) { q.Start(at); q.Start(at); q.Pause(numbered(2)) },
			"1a; 2p 3 4 5; "},
		{"all that are paused keep their order", func(q *Queue) { q.Start(at); q.Start(at); q.PauseAll() }, "; 1p 2p 3p 4p 5p; "},
		{"and go on in it", func(q *Queue) {
			q.Start(at)
			q.PauseAll()
			q.ResumeAll()
			q.Ended(at, numbered(1), Outcome{Kind: Interrupted})
			q.Start(at)
		}, "1a; 2 3 4 5; "},
		{"an interrupted one is in front", func(q *Queue) {
			q.Start(at)
			q.Ended(at, numbered(1), Outcome{Kind: Interrupted})
		}, "; 1 2 3 4 5; "},
		{"failed, complete and removed ones are in order", func(q *Queue) {
			q.Start(at)
			q.Start(at)
			q.Ended(at, numbered(2), Outcome{Kind: "network"})
			q.Ended(at, numbered(1), Outcome{})
			q.Remove(at, numbered(4))
		}, "; 3 5; 2e 1c 4r"},
		{"a failed one that is tried again is at the end",
			func(q *Queue) { q.Start(at); q.Ended(at, numbered(1), Outcome{Kind: "tls"}); q.Resume(numbered(1)) },
			"; 2 3 4 5 1; "},
		{"complete before it could be paused",
			func(q *Queue) { q.Start(at); q.Pause(numbered(1)); q.Ended(at, numbered(1), Outcome{}) }, "; 2 3 4 5; 1c"},
		{"failed before it could be paused", func(q *Queue) {
			q.Start(at)
			q.Pause(numbered(1))
			q.Ended(at, numbered(1), Outcome{Kind: "tls"})
		}, "; 1p 2 3 4 5; "},
		{"complete before it could be removed",
			func(q *Queue) { q.Start(at); q.Remove(at, numbered(1)); q.Ended(at, numbered(1), Outcome{}) }, "; 2 3 4 5; 1r"},
		{"not again before it has stopped", func(q *Queue) {
			q.Start(at)
			q.Pause(numbered(1))
			q.Resume(numbered(1))
			q.Start(at)
		}, "2a; 1 3 4 5; "},
		{"other options, once more", func(q *Queue) {
			q.Start(at)
			q.Change(numbered(1), map[string]string{"split": "3"})
		}, "; 1 2 3 4 5; "},
		{"complete with the old options, once more", func(q *Queue) {
			q.Start(at)
			q.Change(numbered(1), map[string]string{"checksum": "3"})
			q.Ended(at, numbered(1), Outcome{})
		}, "; 1 2 3 4 5; "},
		{"complete with the old URI, while paused", func(q *Queue) {
			q.Start(at)
			q.Pause(numbered(1))
			q.ChangeURIs(numbered(1), []string{"http://h/other"})
			q.Ended(at, numbered(1), Outcome{})
		}, "; 1p 2 3 4 5; "},
		{"complete with the new options", func(q *Queue) {
			q.Start(at)
			q.Change(numbered(1), map[string]string{"checksum": "3"})
			q.Ended(at, numbered(1), Outcome{})
			q.Start(at)
			q.Ended(at, numbered(1), Outcome{})
		}, "; 2 3 4 5; 1c"},
		{"another limit, on and on", func(q *Queue) {
			q.Start(at)
			q.Change(numbered(1), map[string]string{whileRunning: "3"})
		}, "1a; 2 3 4 5; "},
		{"the same options, nothing", func(q *Queue) {
			q.Start(at)
			q.Change(numbered(1), map[string]string{"split": ""})
		}, "1a; 2 3 4 5; "},
		{"a higher priority begins first", func(q *Queue) {
			addWith(q, 6, 1)
			addWith(q, 7, 1)
			addWith(q, 8, -1)
		}, "; 6 7 1 2 3 4 5 8; "},
		{"and no position is before it", func(q *Queue) { addWith(q, 6, 1); q.Move(numbered(3), 0, FromStart) },
			"; 6 3 1 2 4 5; "},
		{"forgotten", func(q *Queue) { q.Remove(at, numbered(1)); q.Remove(at, numbered(2)); q.Forget(numbered(1)) },
			"; 3 4 5; 2r"},
		{"all forgotten", func(q *Queue) { q.Remove(at, numbered(1)); q.Remove(at, numbered(2)); q.ForgetAll() }, "; 3 4 5; "},
	} {
		q := filled(t, 5)
		tt.do(q)
		if got := inOrder(q.Active()) + "; " + inOrder(q.Waiting(0, 9)) + "; " + inOrder(q.Stopped(0, 9)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestMove(t *testing.T) {
	for _, tt := range []struct {
		position int
		whence   Whence
		at       int
		want     string
	}{
		{0, FromStart, 0, "3 1 2 4 5"}, {1, FromStart, 1, "1 3 2 4 5"}, {9, FromStart, 4, "1 2 4 5 3"},
		{-9, FromStart, 0, "3 1 2 4 5"},
		{1, FromHere, 3, "1 2 4 3 5"}, {-1, FromHere, 1, "1 3 2 4 5"}, {-9, FromHere, 0, "3 1 2 4 5"},
		{0, FromHere, 2, "1 2 3 4 5"},
		{0, FromEnd, 4, "1 2 4 5 3"}, {-1, FromEnd, 3, "1 2 4 3 5"}, {3, FromEnd, 4, "1 2 4 5 3"},
	} {
		q := filled(t, 5)
		got, err := q.Move(numbered(3), tt.position, tt.whence)
		if now := inOrder(q.Waiting(0, 9)); got != tt.at || now != tt.want || err != nil {
			t.Errorf("by %d from %d: at %d, %s, %v; want at %d, %s", tt.position, tt.whence, got, now, err, tt.at, tt.want)
		}
	}
}

func TestPages(t *testing.T) {
	q := filled(t, 5)
	for _, tt := range []struct {
		offset, n int
		want      string
	}{{0, 2, "1 2"}, {3, 9, "4 5"}, {9, 9, ""}, {0, 0, ""}, {0, -1, ""}, {-1, 3, "5 4 3"}, {-4, 9, "2 1"}, {-9, 9, ""},
		{-1, 1 << 62, "5 4 3 2 1"}} {
		if got := inOrder(q.Waiting(tt.offset, tt.n)); got != tt.want {
			t.Errorf("%d from %d: %s, want %s", tt.n, tt.offset, got, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	q := New(1)
	for _, word := range []string{"2089b05ecca3d829", "2089c00000000000", "00000000000000ff"} {
		g, ok := ParseGID(word)
		if _, err := q.Add(at, Entry{GID: g, URIs: []string{"http://h/"}}, -1); err != nil || !ok {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{
		"2089b05ecca3d829": "2089b05ecca3d829", "2089b": "2089b05ecca3d829", "2089C": "2089c00000000000", "0": "00000000000000ff",
		"2089": "GID 2089 is not unique", "3": "GID 3 is not found", "3089b05ecca3d829": "GID 3089b05ecca3d829 is not found",
		"": "Invalid GID ", "x": "Invalid GID x", "-1": "Invalid GID -1", "2089b05ecca3d8290": "Invalid GID 2089b05ecca3d8290",
	} {
		g, err := q.Find(prefix)
		got := g.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", prefix, got, want)
		}
	}
}

// TestRefused checks that a command for an unknown entry, or one in a wrong state, changes nothing and is refused with
// aria2's message.
func TestRefused(t *testing.T) {
	q := filled(t, 1)
	g := numbered(1)
	q.Remove(at, g)
	q.Drain()
	for _, gid := range []GID{g, 5, 0} {
		_, moved := q.Move(gid, 0, FromStart)
		_, twice := q.Add(at, Entry{GID: g, URIs: []string{"http://h/"}}, -1)
		_, empty := q.Add(at, Entry{}, -1)
		got := []error{q.Pause(gid), q.Resume(gid), q.Remove(at, gid), moved,
			q.Change(gid, map[string]string{"a": "b"}), q.ChangeURIs(gid, []string{"x"}), twice, empty}
		want := []string{
			"GID#G cannot be paused now", "GID#G cannot be unpaused now", "Active Download not found for GID#G",
			"GID#G not found in the waiting queue.",
			"Cannot change option for GID#G", "Cannot remove URIs from GID#G", "GID 1000000000000007 is not unique.",
			"URI is not provided.",
		}
		for i, err := range got {
			if text := strings.ReplaceAll(want[i], "#G", "#"+gid.String()); err == nil || err.Error() != text {
				t.Errorf("%s: %v, want %s", gid, err, text)
			}
		}
	}
	if err := filled(t, 1).Forget(g); err == nil || err.Error() != "Could not remove download result of GID#1000000000000007" {
		t.Errorf("to forget what waits: %v", err)
	}
	if c := q.Drain(); c.Stored() || len(c.Notices) > 0 {
		t.Errorf("what was refused has changed %+v", c)
	}
}

// TestLeavingGID checks that the GID of a forgotten entry is free once its download has ended.
func TestLeavingGID(t *testing.T) {
	q := filled(t, 1)
	g := numbered(1)
	q.Start(at)
	q.Remove(at, g)
	q.Forget(g)
	again := Entry{GID: g, URIs: []string{"http://h/"}}
	if _, err := q.Add(at, again, -1); err == nil {
		t.Error("two downloads have one GID")
	}
	q.Ended(at, g, Outcome{})
	if _, err := q.Add(at, again, -1); err != nil {
		t.Error(err)
	}
}

// TestFollowed checks that the entries for the files of a document refer to the document's entry.
func TestFollowed(t *testing.T) {
	q := filled(t, 1)
	q.Start(at)
	g, _ := q.Add(at, Entry{URIs: []string{"http://h/x"}, Following: numbered(1)}, 0)
	q.Ended(at, numbered(1), Outcome{})
	parent, _ := q.Entry(numbered(1))
	child, _ := q.Entry(g)
	if !slices.Equal(parent.FollowedBy, []GID{g}) || child.Following != numbered(1) {
		t.Errorf("%v is followed by %v, and %v follows %v", parent.GID, parent.FollowedBy, child.GID, child.Following)
	}
}

// TestNeededDocument checks that the entry of a document stays while another entry needs it, and can then be forgotten.
func TestNeededDocument(t *testing.T) {
	q := New(1)
	parent, _ := q.Add(at, Entry{Document: []byte("d")}, -1)
	q.Start(at)
	g, _ := q.Add(at, Entry{Following: parent}, -1)
	q.Ended(at, parent, Outcome{})
	q.ForgetAll()
	if err := q.Forget(parent); err == nil || !strings.Contains(err.Error(), "still pending") {
		t.Errorf("forgotten: %v", err)
	}
	q.Start(at)
	q.Ended(at, g, Outcome{Kind: "network"})
	if err := q.Forget(parent); err == nil {
		t.Error("forgotten, and the file could be tried again")
	}
	if q.ForgetAll(); len(q.Stopped(0, 9)) != 0 {
		t.Errorf("left: %v", q.Stopped(0, 9))
	}
}

// TestLive checks that the state of a running download can be read and that the last state is stored.
func TestLive(t *testing.T) {
	q := filled(t, 1)
	g := numbered(1)
	if _, ok := q.Live(g); ok {
		t.Error("what waits is said to be at work")
	}
	q.Start(at)
	q.Drain()
	q.Progress(g, Live{Path: "d/x", Done: 5, Size: 10, Speed: 3})
	if c := q.Drain(); len(c.Store) != 1 || c.Store[0].Path != "d/x" {
		t.Errorf("to be stored is %+v, want the path", c.Store)
	}
	q.Progress(g, Live{Path: "d/x", Done: 6, Size: 10})
	if l, ok := q.Live(g); !ok || l.Done != 6 || q.Drain().Store != nil {
		t.Errorf("it is at %+v, %t", l, ok)
	}
	q.Ended(at.Add(time.Second), g, Outcome{Kind: "network", Code: 6})
	want := Outcome{Kind: "network", Code: 6, Attempts: 1}
	if e, _ := q.Entry(g); e.Done != 6 || e.Size != 10 || e.Outcome != want || !e.Began.Equal(at) ||
		!e.Ended.Equal(at.Add(time.Second)) {
		t.Errorf("in the end it is %+v", e)
	}
}

// TestSelected checks aria2's lists of file numbers.
func TestSelected(t *testing.T) {
	for list, want := range map[string]string{"": "123456", "1": "1", "2-4": "234", "1,3-4,6": "1346", "x": "",
		"5-": "", "-2": ""} {
		got := ""
		for i := 1; i <= 6; i++ {
			if Selected(list, i) {
				got += fmt.Sprint(i)
			}
		}
		if got != want {
			t.Errorf("%q selects %q, want %q", list, got, want)
		}
	}
}

// TestSizeStaysKnown checks that an entry that is paused early in its next attempt keeps the size that the last one found.
func TestSizeStaysKnown(t *testing.T) {
	q, g := filled(t, 1), numbered(1)
	q.Start(at)
	q.Progress(g, Live{Done: 5, Size: 10})
	q.Ended(at, g, Outcome{Kind: Interrupted})
	q.Start(at)
	q.Progress(g, Live{Size: -1})
	q.Pause(g)
	q.Ended(at, g, Outcome{Kind: Interrupted})
	if e, ok := q.Entry(g); !ok || e.Size != 10 {
		t.Errorf("size %d, %v", e.Size, ok)
	}
}
