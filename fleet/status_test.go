package fleet

import (
	"fmt"
	"testing"
	"time"
)

// TestBoard checks that Status counts the jobs and has the latest progress of running jobs from their workers.
func TestBoard(t *testing.T) {
	var b Board
	put := func(name string, change func(*Record)) {
		r := Record{Job: Job{Name: name}, State: Queued, Since: t0}
		change(&r)
		b.Put(KeyOf(name), &r)
	}
	put("old", func(r *Record) { r.Since = t0.Add(-time.Hour) })
	put("new", func(r *Record) { r.Job.Priority = High })
	put("dropped", func(r *Record) { r.Since = t0.Add(-24 * time.Hour) })
	b.Put(KeyOf("dropped"), nil)
	put("good", func(r *Record) { r.State = Running })
	put("good", func(r *Record) { r.State = Done })
	for name, holder := range map[string]string{"a": "w1", "b": "w1", "c": "w2", "d": "w1"} {
		put(name, func(r *Record) {
			r.State, r.Lease, r.Progress = Running, Lease{Holder: holder, Fence: 3}, Progress{Done: 1, Size: 10, Speed: 1}
		})
	}
	put("e", func(r *Record) { r.State = Dead })
	put("f", func(r *Record) { r.State = Dead })
	s := b.Status([]Worker{
		{Name: "w1", Doing: []Doing{
			{KeyOf("a"), 3, Progress{Done: 5, Size: 10, Speed: 7, Sources: 2}}, {KeyOf("b"), 2, Progress{Done: 9}},
			{KeyOf("d"), 3, Progress{Size: -1}},
		}},
		{Name: "idle"},
	}, t0)
	for state, want := range map[State]int{Queued: 2, Running: 4, Done: 1, Dead: 2, Waiting: 0} {
		if s.Jobs[state] != want {
			t.Errorf("%d jobs are %s, want %d", s.Jobs[state], state, want)
		}
	}
	if s.Workers["w1"] != 3 || s.Workers["w2"] != 1 || s.Workers["idle"] != 0 || len(s.Workers) != 3 ||
		len(s.Silent) != 1 || s.Silent[0] != "w2" {
		t.Errorf("workers are %v, without an answer %q", s.Workers, s.Silent)
	}
	if s.Done != 7 || s.Size != 30 || s.Speed != 9 || !s.Oldest.Equal(t0.Add(-time.Hour)) ||
		s.Running[0].Progress.Sources != 2 || s.Running[1].Progress.Done != 1 {
		t.Errorf("the status is %+v", s)
	}
	if s.Queued["high"] != 1 || s.Queued["normal"] != 1 {
		t.Errorf("queued are %v", s.Queued)
	}
	b = Board{}
	for name, uris := range map[string][]string{"a": {"https://h1:8443/a", "https://h2/a"}, "b": {"https://h1:8443/b"},
		"c": {"http://h2/c"}, "d": nil, "e": {"%"}, "gone": {"http://h3/x"}} {
		put(name, func(r *Record) {
			r.Job.URIs = uris
			r.State = map[string]State{"a": Running, "c": Dead, "gone": Done}[name]
			if r.State == "" {
				r.State = Queued
			}
		})
	}
	if got := fmt.Sprint(b.Hosts()); got != "[{ map[queued:2]} {h1:8443 map[queued:1 running:1]} {h2 map[dead:1]}]" {
		t.Errorf("the hosts are %s", got)
	}
}

// TestBoardShowsFew checks that In returns no more records than requested.
func TestBoardShowsFew(t *testing.T) {
	var b Board
	for _, name := range []string{"f", "e"} {
		b.Put(KeyOf(name), &Record{Job: Job{Name: name}, State: Dead})
	}
	if dead := b.In(Dead, 1); len(dead) != 1 || dead[0].Job.Name != "e" {
		t.Errorf("dead are %v", dead)
	}
}
