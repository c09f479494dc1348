package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Worker is the answer of a worker that was asked what it does.
type Worker struct {
	Name  string  `json:"name"`
	Doing []Doing `json:"doing,omitempty"`
}

// A Doing is a job that a worker has, and how far it is.
type Doing struct {
	Key   string `json:"key"`
	Fence uint64 `json:"fence"`
	Progress
}

// A Board has all records, to show them. Of those that are done it has only the state.
type Board struct {
	// Done is how many are done beside those that were put here.
	Done int

	states map[string]State
	open   map[string]Record
}

// Put takes what a record is now, by its key. A nil record was dropped.
func (b *Board) Put(key string, r *Record) {
	if b.states == nil {
		b.states, b.open = map[string]State{}, map[string]Record{}
	}
	delete(b.states, key)
	delete(b.open, key)
	if r == nil || r.State == "" {
		return
	}
	b.states[key] = r.State
	if r.State != Done {
		b.open[key] = *r
	}
}

// A Status is how a queue stands.
type Status struct {
	// Now is the time of the queue, which all times of records are of.
	Now  time.Time     `json:"now,omitzero"`
	Jobs map[State]int `json:"jobs"`
	// Speed, Done and Size are sums over what runs; Size is of what is known.
	Speed int64 `json:"speed"`
	Done  int64 `json:"done"`
	Size  int64 `json:"size"`
	// Workers are how many jobs each worker has that answers or has one. Those in Silent have one and did not answer.
	Workers map[string]int `json:"workers"`
	Silent  []string       `json:"silent,omitempty"`
	// Queued are how many jobs wait for a worker, by the words for priorities.
	Queued map[string]int `json:"queued,omitempty"`
	// Oldest is since when the first of them waits; it is zero if no job waits.
	Oldest  time.Time `json:"oldest,omitzero"`
	Drained bool      `json:"drained"` // no worker takes a job
	// Lost is when the queue's server came back empty, if it did so in the last days.
	Lost    time.Time `json:"lost,omitzero"`
	Running []Record  `json:"running"`
}

// Status is how the queue stands at a time of the queue, with what workers answered.
func (b *Board) Status(workers []Worker, now time.Time) Status {
	s := Status{Now: now, Jobs: map[State]int{}, Queued: map[string]int{}, Workers: map[string]int{}, Running: []Record{}}
	doing := map[string]Doing{}
	for _, w := range workers {
		s.Workers[w.Name] = 0
		for _, d := range w.Doing {
			doing[d.Key] = d
		}
	}
	if b.Done > 0 {
		s.Jobs[Done] = b.Done
	}
	for _, state := range b.states {
		s.Jobs[state]++
	}
	for key, r := range b.open {
		switch {
		case r.State == Running:
			if d, told := doing[key]; told && d.Fence == r.Lease.Fence {
				r.Progress = d.Progress
			}
			s.add(r)
		case r.State == Queued:
			s.Queued[r.Job.Priority.String()]++
			if s.Oldest.IsZero() || r.Since.Before(s.Oldest) {
				s.Oldest = r.Since
			}
		}
	}
	slices.SortFunc(s.Running, byName)
	slices.Sort(s.Silent)
	return s
}

func (s *Status) add(r Record) {
	if _, answers := s.Workers[r.Lease.Holder]; !answers {
		s.Silent = append(s.Silent, r.Lease.Holder)
	}
	s.Workers[r.Lease.Holder]++
	s.Running = append(s.Running, r)
	s.Speed += r.Progress.Speed
	s.Done += r.Progress.Done
	s.Size += max(0, r.Progress.Size)
}

// In returns the first records of a state other than Done, by name, and no more than most.
func (b *Board) In(state State, most int) []Record {
	list := []Record{}
	for _, r := range b.open {
		if r.State == state {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, byName)
	return list[:min(most, len(list))]
}

// A Host is how many jobs have their first place there, by their states but for Done.
type Host struct {
	Name string
	Jobs map[State]int
}

// Hosts returns the hosts that the jobs are of which are not done, by name.
func (b *Board) Hosts() []Host {
	all := map[string]map[State]int{}
	for _, r := range b.open {
		name := r.Job.Host()
		if all[name] == nil {
			all[name] = map[State]int{}
		}
		all[name][r.State]++
	}
	list := make([]Host, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, Host{name, all[name]})
	}
	return list
}

func byName(a, b Record) int { return cmp.Compare(a.Job.Name, b.Job.Name) }
