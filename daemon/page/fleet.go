package page

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"braid/fleet"
)

// A Fleet is a queue whose jobs other processes do.
type Fleet interface {
	// Look returns how the queue stands, with the jobs that wait to be tried again and those that are dead: the first most of each, by name.
	Look(ctx context.Context, most int) (s fleet.Status, waiting, dead []fleet.Record, err error)
	// Retry queues the job of a name again if it waits or is dead, and reports whether it was.
	Retry(ctx context.Context, name string) (bool, error)
}

// mostJobs is how many jobs of a state are shown.
const mostJobs = 200

// A view is what the page shows of a fleet. Texts from outside are escaped, but for Key, the job's name, which retry takes.
type view struct {
	Jobs    map[fleet.State]int `json:"jobs"`
	Speed   int64               `json:"speed"`
	Drained bool                `json:"drained"`
	Workers []worker            `json:"workers"`
	Running []job               `json:"running"`
	Waiting []job               `json:"waiting"`
	Dead    []job               `json:"dead"`
}

type worker struct {
	Name   string `json:"name"`
	Jobs   int    `json:"jobs"`
	Silent bool   `json:"silent,omitempty"`
}

// A job is one that runs at a worker, or what became of its last try.
type job struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Worker  string `json:"worker,omitempty"`
	Tries   int    `json:"tries"`
	Since   int64  `json:"since"` // seconds since its state began
	Next    int64  `json:"next"`  // seconds until it is tried again
	Why     string `json:"why,omitempty"`
	Done    int64  `json:"done"`
	Size    int64  `json:"size"`
	Speed   int64  `json:"speed"`
	Sources int    `json:"sources"`
}

// look answers with how the fleet stands.
func (h *Handler) look(w http.ResponseWriter, r *http.Request) {
	if !h.Admit(w, r) {
		return
	}
	s, waiting, dead, err := h.Fleet.Look(r.Context(), mostJobs)
	if err != nil {
		http.Error(w, "The queue of the fleet does not answer.", http.StatusServiceUnavailable)
		return
	}
	v := view{Jobs: s.Jobs, Speed: s.Speed, Drained: s.Drained, Workers: workersOf(&s), Waiting: jobsOf(waiting, s.Now), Dead: jobsOf(dead, s.Now)}
	v.Running = jobsOf(s.Running[:min(len(s.Running), mostJobs)], s.Now)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func workersOf(s *fleet.Status) []worker {
	silent := map[string]bool{}
	for _, name := range s.Silent {
		silent[name] = true
	}
	list := []worker{}
	for _, name := range slices.Sorted(maps.Keys(s.Workers)) {
		list = append(list, worker{text(name, mostName), s.Workers[name], silent[name]})
	}
	return list[:min(len(list), mostJobs)]
}

func jobsOf(records []fleet.Record, now time.Time) []job {
	list := []job{}
	for i := range records {
		r := &records[i]
		p := r.Progress
		j := job{
			Key: r.Job.Name, Name: text(r.Job.Name, mostName), Tries: r.Tries, Since: int64(now.Sub(r.Since).Seconds()), Worker: text(r.Lease.Holder, mostName),
			Done: p.Done, Size: p.Size, Speed: p.Speed, Sources: p.Sources,
		}
		if r.Last != nil && r.State != fleet.Running {
			j.Why = text(r.Last.Why, mostText)
		}
		if !r.Next.IsZero() {
			j.Next = max(0, int64(r.Next.Sub(now).Seconds()))
		}
		list = append(list, j)
	}
	return list
}

// retry has a job tried again, whose name is the body.
func (h *Handler) retry(w http.ResponseWriter, r *http.Request) {
	if !h.Admit(w, r) {
		return
	}
	name, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		http.Error(w, "The name is too long.", http.StatusBadRequest)
		return
	}
	was, err := h.Fleet.Retry(r.Context(), string(name))
	switch {
	case err != nil:
		http.Error(w, "The queue of the fleet does not answer.", http.StatusServiceUnavailable)
	case !was:
		http.Error(w, "It is neither dead nor waits any more.", http.StatusConflict)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
