package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTurns checks that a host with its part of the places lets others go first, that a single host gets all places,
// and that a higher priority always comes first.
func TestTurns(t *testing.T) {
	now := time.Unix(1, 0)
	for _, tt := range []struct {
		places int
		add    string // hosts; upper case means a high priority
		begin  string
	}{
		{4, "aaaaaab", "aaab"},
		{4, "aaaaaa", "aaaa"},
		{4, "abababab", "abab"},
		{2, "aaab", "ab"},
		{1, "aab", "a"},
		{0, "aaaaab", "aaabaa"}, // measured: at least four
		{4, "aAAAAb", "AAAA"},
		{4, "aaaaa-", "aaa-"}, // a document has no host
	} {
		q := New(1)
		q.SetPlaces(tt.places)
		for i, host := range tt.add {
			e := Entry{URIs: []string{fmt.Sprintf("http://%s.example/%d", strings.ToLower(string(host)), i)}}
			if host == '-' {
				e = Entry{Document: []byte("d")}
			}
			if host < 'a' && host != '-' {
				e.Priority = 1
			}
			if _, err := q.Add(now, e, -1); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for range tt.begin {
			e, _ := q.Start(now)
			switch {
			case len(e.URIs) == 0:
				got += "-"
			case e.Priority > 0:
				got += strings.ToUpper(e.URIs[0][7:8])
			default:
				got += e.URIs[0][7:8]
			}
		}
		if got != tt.begin {
			t.Errorf("%d places, %s: %s begin, want %s", tt.places, tt.add, got, tt.begin)
		}
	}
}

// TestTurnsOfNumber checks that, with a fixed number of places all used by one host, the next free place goes to
// another host, whether a download has ended or yielded, and that the number is never exceeded.
func TestTurnsOfNumber(t *testing.T) {
	now := time.Unix(1, 0)
	for _, places := range []int{2, 3, 4, 16} {
		for _, kind := range []string{"", Yielded, "network"} {
			q := New(1)
			q.SetPlaces(places)
			add := func(uri string) {
				if _, err := q.Add(now, Entry{URIs: []string{uri}}, -1); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 2 * places {
				add(fmt.Sprintf("http://slow/%d", i))
			}
			var first Entry
			for range places {
				first, _ = q.Start(now)
			}
			add("http://fast/1")
			add("http://fast/2")
			q.Ended(now, first.GID, Outcome{Kind: kind})
			if e, ok := q.Start(now); !ok || e.URIs[0] != "http://fast/1" {
				t.Errorf("%d places, %q: %v is next", places, kind, e.URIs)
			}
		}
	}
}

// TestWhy checks the reasons for waiting, and that an entry that yielded its place waits behind the others.
func TestWhy(t *testing.T) {
	now, q := time.Unix(1, 0), New(1)
	q.SetPlaces(2)
	var gids []GID
	for _, uri := range []string{"http://a/1", "http://a/2", "http://b/1", "http://c/1"} {
		g, err := q.Add(now, Entry{URIs: []string{uri}}, -1)
		if err != nil {
			t.Fatal(err)
		}
		gids = append(gids, g)
	}
	why := func() (texts []string) {
		of := q.Why()
		for _, g := range gids {
			texts = append(texts, of(g))
		}
		return texts
	}
	if got := why(); !slices.Equal(got, []string{"", "", "", ""}) {
		t.Errorf("nothing is active: %q", got)
	}
	q.Start(now)
	q.Start(now)
	if got := why(); !slices.Equal(got, []string{"", "for its host, which uses 1 of 2 places while others wait", "", ""}) {
		t.Errorf("%q", got) // the last one is next
	}
	q.Ended(now, gids[0], Outcome{Kind: Yielded})
	if waiting := q.Waiting(0, 9); len(waiting) != 3 || waiting[2].GID != gids[0] || waiting[2].Outcome.Kind != "" {
		t.Errorf("%+v", waiting)
	}
	q.Start(now)
	g, err := q.Add(now, Entry{URIs: []string{"http://d/1"}}, -1)
	if gids = append(gids, g); err != nil || why()[4] != "for a free place: at most 2 at once" ||
		!strings.HasPrefix(why()[0], "for its host") {
		t.Errorf("%q, %v", why(), err)
	}
	q.SetPlaces(-1)
	if got := why(); got[0] != "for a worker" {
		t.Errorf("%q", got)
	}
	if err := q.ChangeURIs(gids[0], []string{"http://d/1"}); err != nil {
		t.Fatal(err)
	}
	for _, g := range gids {
		if err := q.Remove(now, g); err != nil {
			t.Fatal(err)
		}
	}
	if len(q.order.hosts) != 0 {
		t.Errorf("%v wait, and nothing does", q.order.hosts)
	}
}
