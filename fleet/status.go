package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Worker is the answer of a worker to a request for its status.
type Worker struct {
	Name     string  `json:"name"`
	Place    string  `json:"place,omitempty"`    // ID of the Destination where it puts files
	Endpoint string  `json:"endpoint,omitempty"` // Endpoint of that Destination
	Doing    []Doing `json:"doing,omitempty"`
}

// A Doing is a job that a worker is running, with its progress.
type Doing struct {
	Key   string `json:"key"`
	Fence uint64 `json:"fence"`
	Progress
}

// A Board has the records of a queue for display. It knows only the state of done records.
type Board struct {
	// Done is the number of done records that were not given to Put.
	Done int

	states map[string]State
	open   map[string]Record
}

// Put sets the record of a key. A nil record removes it.
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

// A Status is the state of a queue.
type Status struct {
	// Now is the current time by the queue's clock. All times of records are by this clock.
	Now  time.Time     `json:"now,omitzero"`
	Jobs map[State]int `json:"jobs"`
	// Speed, Done and Size are sums over the running jobs. Unknown sizes are not included.
	Speed int64 `json:"speed"`
	Done  int64 `json:"done"`
	Size  int64 `json:"size"`
	// Workers has the number of jobs of each worker that answered or has a job. Silent lists the workers that have a
	// job and did not answer.
	Workers map[string]int `json:"workers"`
	Silent  []string       `json:"silent,omitempty"`
	// Queued has the number of queued jobs, by the name of their priority.
	Queued map[string]int `json:"queued,omitempty"`
	// Oldest is the time since which the longest-waiting of the Queued jobs has waited. It is zero if none waits.
	Oldest  time.Time `json:"oldest,omitzero"`
	Drained bool      `json:"drained"` // no worker takes jobs
	// Lost is when the queue's server last came back empty. It is zero if that was many days ago or never.
	Lost    time.Time `json:"lost,omitzero"`
	Running []Record  `json:"running"`
}

// Status returns the state of the queue at now, a time of the queue's clock. workers are the answers of the workers.
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

// In returns the records in the given state, sorted by name, at most the given number. state must not be Done.
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

// A Host has the numbers of jobs with a first URI on the host Name, by state. Done jobs are omitted.
type Host struct {
	Name string
	Jobs map[State]int
}

// Hosts returns the hosts of all jobs that are not done, sorted by name.
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
