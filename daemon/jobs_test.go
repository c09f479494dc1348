package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/fleet"
)

// A works implements Jobs by the rules of a fleet, without a server. Each job that is taken has a worker.
type works struct {
	mu      sync.Mutex
	records map[string]*fleet.Record // by GID
	done    map[string]int           // by GID and version
	message map[string]bool          // by GID, jobs that workers were notified of
	told    map[string]string        // by GID, the version put by this daemon
	away    error                    // error of all methods
	changed chan struct{}
}

func newWorks() *works {
	return &works{records: map[string]*fleet.Record{}, done: map[string]int{}, message: map[string]bool{},
		told: map[string]string{}, changed: make(chan struct{}, 1)}
}

var workTime = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

func (w *works) Changed() <-chan struct{} { return w.changed }

func (w *works) All() (jobs []Job, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for gid, r := range w.records {
		g, _ := queue.ParseGID(gid)
		j := Job{GID: g, Name: gid, Version: r.Job.Version}
		switch r.State {
		case fleet.Queued:
			j.Unsent = w.told[gid] != j.Version
		case fleet.Running:
			j.Status, j.Live = queue.Active, queue.Live{Done: 1, Size: 2, Worker: r.Lease.Holder}
		case fleet.Done:
			j.Status, j.Live, j.Outcome = queue.Complete, queue.Live{Path: "/out/" + gid, Done: 2, Size: 2},
				queue.Outcome{Verified: "sha-256"}
		case fleet.Dead:
			j.Status, j.Outcome = queue.Failed, queue.Outcome{Kind: "mismatch", Code: 32, Message: "wrong digest"}
		}
		jobs = append(jobs, j)
	}
	return jobs, true
}

func (w *works) Put(_ context.Context, e queue.Entry, version string) error {
	err := w.store(e, version)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.message[e.GID.String()], w.told[e.GID.String()] = true, version
	}
	return err
}

// store does the first half of Put, after which a daemon may have been killed.
func (w *works) store(e queue.Entry, version string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away != nil {
		return w.away
	}
	if strings.Contains(e.URIs[0], "secret") {
		return &RefusedError{queue.Outcome{Kind: "usage", Code: 28, Message: "a password"}}
	}
	r := w.records[e.GID.String()]
	if r == nil {
		r = &fleet.Record{}
		w.records[e.GID.String()] = r
	}
	_, err := r.Report(fleet.Job{Name: e.GID.String(), Watch: e.GID.String(), Version: version, URIs: e.URIs}, workTime)
	w.tell()
	return err
}

func (w *works) Drop(_ context.Context, j Job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.records[j.GID.String()]; r != nil && r.State != fleet.Done { // a done job keeps its evidence
		delete(w.records, j.GID.String())
	}
	w.tell()
	return w.away
}

func (w *works) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// do changes the record of an entry, if it exists.
func (w *works) do(g queue.GID, f func(r *fleet.Record)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.records[g.String()]; r != nil {
		f(r)
	}
	w.tell()
}

func take(r *fleet.Record) { r.Take("w", workTime, time.Hour) }

// take makes the worker take a job that it was notified of.
func (w *works) take(g queue.GID) {
	w.do(g, func(r *fleet.Record) {
		if w.message[g.String()] {
			take(r)
		}
	})
}

// end makes the worker end a job, if it has it.
func (w *works) end(g queue.GID, k fleet.Kind) {
	w.do(g, func(r *fleet.Record) {
		version := r.Job.Version
		if r.Finish("w", r.Lease.Fence, fleet.Ending{Kind: k}, workTime) == nil && k == fleet.Right {
			w.done[g.String()+version]++
		}
	})
}

// TestJobs checks that an entry follows its job, and that a job exists as long as its entry wants it.
func TestJobs(t *testing.T) {
	b, w := newBench(t), newWorks()
	b.config.Jobs = w
	b.start()
	add := func(url string) (g queue.GID) {
		b.do(func(q *queue.Queue) (err error) {
			g, err = q.Add(time.Now(), queue.Entry{URIs: []string{url}}, -1)
			return err
		})
		return g
	}
	entry := func(g queue.GID) (e queue.Entry) {
		b.do(func(q *queue.Queue) error { e, _ = q.Entry(g); return nil })
		return e
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("never: %s", what)
			}
		}
	}
	state := func(g queue.GID) (s fleet.State) {
		w.do(g, func(r *fleet.Record) { s = r.State })
		return s
	}
	is := func(g queue.GID, e queue.Status, j fleet.State) {
		t.Helper()
		await(fmt.Sprintf("the entry is %s, the job %q; they are %s and %q", e, j, entry(g).Status, state(g)),
			func() bool { return entry(g).Status == e && state(g) == j })
	}
	g := add("https://example.org/a")
	is(g, queue.Waiting, fleet.Queued)
	w.do(g, take)
	is(g, queue.Active, fleet.Running)
	await("it says where", func() (told bool) {
		b.do(func(q *queue.Queue) error { l, _ := q.Live(g); told = l.Worker == "w" && l.Size == 2; return nil })
		return told
	})
	b.do(func(q *queue.Queue) error { return q.Pause(g) })
	is(g, queue.Paused, "")
	b.do(func(q *queue.Queue) error { return q.Resume(g) })
	is(g, queue.Waiting, fleet.Queued)
	w.do(g, take)
	w.end(g, fleet.Failed)
	is(g, queue.Waiting, fleet.Waiting)
	w.do(g, func(r *fleet.Record) { r.Retry(workTime); take(r) })
	w.end(g, fleet.Useless)
	is(g, queue.Failed, fleet.Dead)
	if o := entry(g).Outcome; o.Message != "wrong digest" || o.Attempts != 1 {
		t.Errorf("it failed by %+v", o)
	}
	before := ""
	w.do(g, func(r *fleet.Record) { before = r.Job.Version; r.Retry(workTime) }) // by braid queue retry
	await("it is the job of another try", func() (another bool) {
		w.do(g, func(r *fleet.Record) { another = r.Job.Version != before })
		return another
	})
	is(g, queue.Waiting, fleet.Queued)
	w.do(g, take)
	w.end(g, fleet.Useless)
	is(g, queue.Failed, fleet.Dead)
	b.do(func(q *queue.Queue) error { return q.Resume(g) })
	is(g, queue.Waiting, fleet.Queued)
	w.do(g, take)
	w.end(g, fleet.Right)
	is(g, queue.Complete, fleet.Done)
	if e := entry(g); e.Outcome.Verified != "sha-256" || e.Path != "/out/"+g.String() || e.Size != 2 {
		t.Errorf("its evidence is %+v", e)
	}
	again := add("https://example.org/again")
	is(again, queue.Waiting, fleet.Queued)
	w.do(again, take)
	w.end(again, fleet.Right)
	is(again, queue.Complete, fleet.Done)
	b.do(func(q *queue.Queue) error { return q.Forget(again) })
	b.do(func(q *queue.Queue) error { // the file may have changed since
		_, err := q.Add(time.Now(), queue.Entry{GID: again, URIs: []string{"https://example.org/again"}}, -1)
		return err
	})
	is(again, queue.Waiting, fleet.Queued)

	removed, changed, secret := add("https://example.org/b"), add("https://example.org/c"), add("https://example.org/secret")
	is(secret, queue.Failed, "")
	w.do(removed, take)
	w.do(changed, take)
	is(changed, queue.Active, fleet.Running)
	b.do(func(q *queue.Queue) error { return q.Remove(time.Now(), removed) })
	is(removed, queue.Removed, "")
	b.do(func(q *queue.Queue) error { return q.ChangeURIs(changed, []string{"https://example.org/d"}) })
	is(changed, queue.Waiting, fleet.Queued)
	w.do(changed, func(r *fleet.Record) {
		if r.Job.URIs[0] != "https://example.org/d" {
			t.Errorf("the job is of %s", r.Job.URIs)
		}
	})
}

// FuzzJobs checks that each wanted entry is finally done once and no other job is left, whatever users and workers do
// and whenever the daemon is killed.
func FuzzJobs(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		w, stored := newWorks(), map[queue.GID]queue.Entry{}
		q, gids := queue.New(seed), []queue.GID{}
		drain := func() {
			for stop := true; stop; {
				c := q.Drain()
				for _, e := range c.Store {
					stored[e.GID] = e
				}
				for _, g := range c.Delete {
					delete(stored, g)
				}
				for _, g := range c.Stop {
					q.Ended(workTime, g, queue.Outcome{Kind: queue.Interrupted})
				}
				stop = len(c.Stop) > 0
			}
		}
		compare := func(late []Job) {
			jobs, _ := w.All()
			if late != nil { // the previous state of the jobs
				jobs = late
			}
			put, drop := settle(q, workTime, jobs)
			drain()
			for _, j := range drop {
				if random.IntN(10) > 0 { // otherwise it was killed
					w.Drop(t.Context(), j)
				}
			}
			for i := range put {
				switch random.IntN(10) {
				case 0:
				case 1:
					w.store(put[i].Entry, put[i].version)
				default:
					w.Put(t.Context(), put[i].Entry, put[i].version)
				}
			}
		}
		var late []Job
		for step := range 120 {
			if len(gids) < 4 {
				g, _ := q.Add(workTime, queue.Entry{URIs: []string{"https://example.org/"}}, -1)
				gids = append(gids, g)
			}
			g := gids[random.IntN(len(gids))]
			switch random.IntN(13) {
			case 0:
				q.Pause(g)
			case 1, 2:
				q.Resume(g)
			case 3:
				if random.IntN(4) == 0 {
					q.Remove(workTime, g)
				}
			case 4, 5:
				w.take(g)
			case 6:
				w.end(g, []fleet.Kind{fleet.Right, fleet.Wrong, fleet.Useless, fleet.Failed}[random.IntN(4)])
			case 7:
				drain()
				clear(w.told)
				q = queue.Restore(seed+random.Uint64(), slices.Collect(maps.Values(stored)), nil)
			case 8:
				late, _ = w.All()
			case 9:
				q.ChangeURIs(g, []string{fmt.Sprint("https://example.org/", step)})
			default:
				compare(nil)
			}
			drain()
		}
		compare(late)
		for range 6 { // without further faults
			for _, g := range gids {
				q.Resume(g)
			}
			for range 3 {
				jobs, _ := w.All()
				put, drop := settle(q, workTime, jobs)
				drain()
				for _, j := range drop {
					w.Drop(t.Context(), j)
				}
				for i := range put {
					w.Put(t.Context(), put[i].Entry, put[i].version)
				}
			}
			for _, g := range gids {
				w.do(g, func(r *fleet.Record) { r.Retry(workTime) })
				w.take(g)
				w.end(g, fleet.Right)
			}
		}
		compare(nil)
		for _, g := range gids {
			e, _ := q.Entry(g)
			if e.Status != queue.Complete && e.Status != queue.Removed {
				t.Errorf("an entry is %s, its job %+v", e.Status, w.records[g.String()])
			}
			if r := w.records[g.String()]; r != nil && r.State != fleet.Done {
				t.Errorf("the job of an entry that is %s is %s", e.Status, r.State)
			}
		}
		for version, n := range w.done {
			if n > 1 {
				t.Errorf("%s was done %d times", version, n)
			}
		}
	})
}

// TestJobsAway checks that nothing is lost while the queue of jobs does not answer, and that it is asked again.
func TestJobsAway(t *testing.T) {
	b, w := newBench(t), newWorks()
	b.config.Jobs, w.away = w, errors.New("no connection")
	b.start()
	var g queue.GID
	b.do(func(q *queue.Queue) (err error) {
		g, err = q.Add(time.Now(), queue.Entry{URIs: []string{"https://example.org/a"}}, -1)
		return err
	})
	w.mu.Lock()
	w.away = nil
	w.mu.Unlock()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		there := false
		w.do(g, func(*fleet.Record) { there = true })
		if there {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it is no job")
		}
	}
}
