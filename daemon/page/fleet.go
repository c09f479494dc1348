package page

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"braid/fleet"
)

// A Fleet is a job queue with workers that download the entries.
type Fleet interface {
	// Look returns the state of the queue. most limits the waiting jobs, and also the dead jobs; both are sorted by name.
	Look(ctx context.Context, most int) (Standing, error)
	// Retry queues the job with that name again if it is waiting or dead. It reports whether the job was.
	Retry(ctx context.Context, name string) (bool, error)
}

// A Standing is the state of a fleet's job queue.
type Standing struct {
	fleet.Status
	Hosts         []fleet.Host
	Waiting, Dead []fleet.Record
}

// mostJobs limits the number of jobs shown for each state, and the number of workers and of hosts shown.
const mostJobs = 200

// mostHosts limits the number of hosts shown for a worker.
const mostHosts = 20

// A view is the answer to GET /fleet. All texts in it are escaped except Key, which the page sends back when it retries a job.
type view struct {
	Jobs    map[fleet.State]int `json:"jobs"`
	Speed   int64               `json:"speed"`
	Drained bool                `json:"drained"`
	Lost    int64               `json:"lost,omitempty"` // seconds since the queue's server came back empty; 0 if it never did
	Workers []worker            `json:"workers"`
	Hosts   []host              `json:"hosts"`             // hosts with the most jobs first
	Unshown int                 `json:"unshown,omitempty"` // number of hosts not in Hosts
	Running []job               `json:"running"`
	Waiting []job               `json:"waiting"`
	Dead    []job               `json:"dead"`
}

type worker struct {
	Name   string   `json:"name"`
	Jobs   int      `json:"jobs"`
	Silent bool     `json:"silent,omitempty"`
	Speed  int64    `json:"speed"`
	Hosts  []string `json:"hosts,omitempty"` // hosts of the worker's jobs, sorted
}

// A host is a server that jobs download from, with the number of its jobs by state.
type host struct {
	Name    string `json:"name"`
	Running int    `json:"running"`
	Queued  int    `json:"queued"`
	Waiting int    `json:"waiting"`
	Dead    int    `json:"dead"`
	Speed   int64  `json:"speed"`
}

// A job is a running job, or a waiting or dead job with its last attempt.
type job struct {
	Key     string `json:"key"`
	Name    string `json:"name"`
	Worker  string `json:"worker,omitempty"`
	Tries   int    `json:"tries"`
	Since   int64  `json:"since"`         // seconds since the job entered its state
	Next    int64  `json:"next"`          // seconds until the next attempt
	Why     string `json:"why,omitempty"` // short form of Message
	Message string `json:"message,omitempty"`
	Done    int64  `json:"done"`
	Size    int64  `json:"size"`
	Speed   int64  `json:"speed"`
	Sources int    `json:"sources"`
}

// look answers GET /fleet with a view.
func (h *Handler) look(w http.ResponseWriter, r *http.Request) {
	if !h.Admit(w, r) {
		return
	}
	s, err := h.Fleet.Look(r.Context(), mostJobs)
	if err != nil {
		http.Error(w, "The queue server does not answer.", http.StatusServiceUnavailable)
		return
	}
	v := view{Jobs: s.Jobs, Speed: s.Speed, Drained: s.Drained, Workers: workersOf(&s.Status),
		Waiting: jobsOf(s.Waiting, s.Now), Dead: jobsOf(s.Dead, s.Now)}
	v.Hosts, v.Unshown = hostsOf(&s)
	if !s.Lost.IsZero() {
		v.Lost = max(1, int64(s.Now.Sub(s.Lost).Seconds()))
	}
	v.Running = jobsOf(s.Running[:min(len(s.Running), mostJobs)], s.Now)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func workersOf(s *fleet.Status) []worker {
	all := map[string]*worker{}
	for name, jobs := range s.Workers {
		all[name] = &worker{Name: text(name, mostName), Jobs: jobs, Silent: slices.Contains(s.Silent, name)}
	}
	for i := range s.Running {
		r := &s.Running[i]
		w, host := all[r.Lease.Holder], text(r.Job.Host(), mostName)
		w.Speed += r.Progress.Speed
		if !slices.Contains(w.Hosts, host) && len(w.Hosts) < mostHosts {
			w.Hosts = append(w.Hosts, host)
		}
	}
	list := []worker{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		slices.Sort(all[name].Hosts)
		list = append(list, *all[name])
	}
	return list[:min(len(list), mostJobs)]
}

// hostsOf returns the hosts with the most jobs. unshown is the number of all other hosts.
func hostsOf(s *Standing) (list []host, unshown int) {
	speeds := map[string]int64{}
	for i := range s.Running {
		speeds[s.Running[i].Job.Host()] += s.Running[i].Progress.Speed
	}
	list = []host{}
	for _, h := range s.Hosts {
		list = append(list, host{
			text(h.Name, mostName), h.Jobs[fleet.Running], h.Jobs[fleet.Queued], h.Jobs[fleet.Waiting],
			h.Jobs[fleet.Dead], speeds[h.Name],
		})
	}
	slices.SortStableFunc(list, func(a, b host) int {
		return cmp.Or(b.Running-a.Running, b.Queued-a.Queued, b.Waiting-a.Waiting, b.Dead-a.Dead)
	})
	n := min(len(list), mostJobs)
	return list[:n], len(list) - n
}

func jobsOf(records []fleet.Record, now time.Time) []job {
	list := []job{}
	for i := range records {
		r := &records[i]
		p := r.Progress
		j := job{
			Key: r.Job.Name, Name: text(r.Job.Name, mostName), Tries: r.Tries,
			Since: int64(now.Sub(r.Since).Seconds()), Worker: text(r.Lease.Holder, mostName),
			Done: p.Done, Size: p.Size, Speed: p.Speed, Sources: p.Sources,
		}
		if r.Last != nil && r.State != fleet.Running {
			j.Message = text(r.Last.Why, mostText)
			j.Why = briefly(j.Message, masked(strings.Join(r.Job.URIs[:min(1, len(r.Job.URIs))], "")))
		}
		if !r.Next.IsZero() {
			j.Next = max(0, int64(r.Next.Sub(now).Seconds()))
		}
		list = append(list, j)
	}
	return list
}

// retry queues a job again. The body of the request is the job's name.
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
		http.Error(w, "The queue server does not answer.", http.StatusServiceUnavailable)
	case !was:
		http.Error(w, "The job is no longer dead or waiting.", http.StatusConflict)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
