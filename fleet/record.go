// Package fleet decides what a queue of downloads does that watchers fill and workers empty, on many machines: what
// becomes of a report, which worker has a job and until when, when a failed one is tried again, and at what pace hosts
// are asked.
//
// It is made of values and times: a [Record] is what is known of one file, and its methods say how it changes. A shell
// (fleet/jetstream) keeps records where all processes see them, and stores a change only if the record is still what
// the change was made from. The end of a job and its lease are one value, so of two workers that both take a job for
// theirs one fails to end it.
//
//	var r fleet.Record
//	r.Report(job, now)                    // queued
//	r.Take("worker 1", now, time.Minute)  // running, under the first fence
//	r.Finish("worker 1", 1, ending, now)  // done, waiting or dead
//
// Nothing here reads a clock, a file or the network.
package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Job is one file that is to be downloaded. It has no secrets: each worker has its own.
type Job struct {
	// Name is the path of the file below the place that workers put files in, with slashes. Each name has one record.
	Name string `json:"name"`
	// Watch is the watch that asks for the file; empty for one of a list. Version tells its reports apart.
	Watch   string `json:"watch,omitempty"`
	Version string `json:"version,omitempty"`
	// URIs are where the file is, at least one, and Options what a list of files would say of it.
	URIs    []string `json:"uris"`
	Options []Option `json:"options,omitempty"`
	// Modified is when the file was modified as a feed reports it, if it does.
	Modified time.Time `json:"modified,omitzero"`
	// Priority is that of the last report of the version.
	Priority Priority `json:"priority,omitempty"`
}

// A Priority says which of the jobs that may be taken is taken first. Those of a lower priority wait as long as there are others.
type Priority string

// The priorities.
const (
	High   Priority = "high"
	Normal Priority = ""
	Low    Priority = "low"
)

// Priorities are all of them, the highest first.
var Priorities = []Priority{High, Normal, Low}

func (p Priority) String() string {
	if p == Normal {
		return "normal"
	}
	return string(p)
}

// ParsePriority reads what String writes; anything else is Normal.
func ParsePriority(word string) Priority {
	for _, p := range Priorities {
		if p.String() == word {
			return p
		}
	}
	return Normal
}

// An Option is one of a list of files.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Key is the key of the job's record.
func (j *Job) Key() string { return KeyOf(j.Name) }

// KeyOf is the key of the record for a name: 24 hexadecimal digits.
func KeyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// ID tells a job from all others, also those of the same file. It is made of the watch, the first of the URIs and the
// version: 24 hexadecimal digits.
func (j *Job) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", j.Watch, j.URIs[:min(1, len(j.URIs))], j.Version))
	return hex.EncodeToString(sum[:12])
}

// first is the first place; what another program has stored may have none.
func (j *Job) first() string { return strings.Join(j.URIs[:min(1, len(j.URIs))], "") }

// Host is the host of the first place, with its port if that is named; empty if there is none.
func (j *Job) Host() string {
	u, err := url.Parse(j.first())
	if err != nil {
		return ""
	}
	return u.Host
}

// A State is what a record is in.
type State string

// The states. A record that is queued, running or waiting has a message in the queue that brings it to a worker.
const (
	Queued  State = "queued"
	Running State = "running"
	Waiting State = "waiting" // until Next, to be tried again
	Done    State = "done"
	Dead    State = "dead" // given up; a report or Retry revives it
	// Newer is what a Board says of a record that a newer braid has written.
	Newer State = "newer"
)

// A Record is what is known of one file.
type Record struct {
	Job   Job   `json:"job"`
	State State `json:"state"`
	// Since is when the state began, and Next when one that waits is tried again.
	Since time.Time `json:"since"`
	Next  time.Time `json:"next,omitzero"`
	Lease Lease     `json:"lease"`
	// Place is that of the job in the line of its host, until it is done or dead.
	Place Place `json:"place,omitzero"`
	// Upload is the id of the unfinished upload of the last try that opened one. The worker that takes the job over
	// ends it or goes on with it.
	Upload string `json:"upload,omitempty"`
	// Tries counts how often the job was taken; Wrong and Failed count its ends by what they were.
	Tries  int `json:"tries,omitempty"`
	Wrong  int `json:"wrong,omitempty"`
	Failed int `json:"failed,omitempty"`
	// Newer is what was reported while a worker had the job.
	Newer *Job `json:"newer,omitempty"`
	// Tried are the workers at which the job failed, one right after the other. From Elsewhere on others may take it,
	// and these at Next.
	Tried     []string  `json:"tried,omitempty"`
	Elsewhere time.Time `json:"elsewhere,omitzero"`
	// Lackers are the workers that lacked something for the job.
	Lackers []string `json:"lackers,omitempty"`
	// Progress is how far a running job is, and Last how the last try ended.
	Progress Progress `json:"progress,omitzero"`
	Last     *Ending  `json:"last,omitempty"`
	// Good is the last ending that was right: it is of the file that is there.
	Good *Ending `json:"good,omitempty"`
}

// A Progress is how far a download is, in bytes.
type Progress struct {
	Done    int64 `json:"done"`
	Size    int64 `json:"size"`              // -1: not known yet
	Speed   int64 `json:"speed"`             // a second
	Sources int   `json:"sources,omitempty"` // that bring bytes
}

// News is what a report is.
type News uint8

// What a report may be. All but Duplicate are to be followed by a message.
const (
	Fresh     News = iota // the job is queued
	Duplicate             // it was done, or is dead or waiting, as it is
	Again                 // it is queued already; its message may be missing
	Later                 // a worker has the job of an earlier report; this one is next
)

func (n News) String() string { return [...]string{"queued", "known", "queued already", "next"}[n] }

// A TakenError says that a name is that of another job's file.
type TakenError struct{ Job Job }

func (e *TakenError) Error() string {
	if e.Job.Watch == "" {
		return "its name is that of another file in the queue"
	}
	return "its name is that of a file of the watch " + e.Job.Watch
}

// before reports whether the file of j is older than that of o, as feeds say of both.
func (j *Job) before(o *Job) bool {
	return !j.Modified.IsZero() && !o.Modified.IsZero() && j.Modified.Before(o.Modified)
}

// Report takes a report. What was reported before changes nothing but the priority, unless it is dead: then it is tried
// again. While a worker has the job, an older version than the one that is next changes nothing, too: it may come from a
// watcher that was stopped for a while. The error is a *TakenError, and the record unchanged, while the name is that of another job which is not over.
func (r *Record) Report(j Job, now time.Time) (News, error) {
	same := r.Job.ID() == j.ID()
	active := r.State == Queued || r.State == Running || r.State == Waiting
	switch {
	case active && r.Job.Watch != j.Watch, active && j.Watch == "" && r.Job.first() != j.first():
		return Duplicate, &TakenError{r.Job}
	case r.State == Running && (same && r.Newer == nil || r.Newer != nil && r.Newer.ID() == j.ID()):
		return Duplicate, nil
	case r.State == Running && r.Newer != nil && j.before(r.Newer):
		return Duplicate, nil
	case r.State == Running:
		r.Newer = &j
		return Later, nil
	case same && r.State == Queued:
		r.Job.Priority = j.Priority
		return Again, nil
	case same && (r.State == Waiting || r.State == Done):
		return Duplicate, nil
	}
	r.queue(j, now)
	return Fresh, nil
}

// queue makes r a job that was never tried.
func (r *Record) queue(j Job, now time.Time) {
	*r = Record{Job: j, State: Queued, Since: now, Lease: r.Lease, Place: r.Place, Upload: r.Upload, Last: r.Last, Good: r.Good}
	r.Lease.Until = time.Time{}
}

// GiveUp makes a job dead whose record has no room for what becomes of it. What is large goes, and with it what a retry
// would need: it is for a new report. The error is an *OverError if the job is over.
func (r *Record) GiveUp(why string, now time.Time) error {
	if r.State == Done || r.State == Dead {
		return &OverError{r.State}
	}
	last := &Ending{Kind: Useless, At: now, Why: why, Version: r.Job.Version}
	*r = Record{
		Job: Job{Name: r.Job.Name, Watch: r.Job.Watch, Version: r.Job.Version}, State: Dead, Since: now,
		Lease: Lease{Holder: r.Lease.Holder, Fence: r.Lease.Fence}, Upload: r.Upload, Last: last,
	}
	return nil
}

// Retry queues a job again that is dead or waits, and reports whether it was. One without places is for a new report.
func (r *Record) Retry(now time.Time) bool {
	if r.State != Dead && r.State != Waiting || len(r.Job.URIs) == 0 {
		return false
	}
	r.queue(r.Job, now)
	return true
}

// An EarlyError says that a job waits, and until when.
type EarlyError struct{ Next time.Time }

func (e *EarlyError) Error() string { return "waits until " + e.Next.UTC().Format(time.RFC3339) }

// An OverError says that nothing is left to do.
type OverError struct{ State State }

func (e *OverError) Error() string { return "it is " + string(e.State) }

// Due reports whether it is time to take the job. Take may leave it to other workers for a while, and its host may want
// it to wait.
func (r *Record) Due(now time.Time) bool {
	return r.State == Queued || r.State == Waiting && !toCome(r.Again(), now, failedMost)
}

// Take gives the job to a worker for a time, under the next fence. The error is a *HeldError while another worker has
// it, an *EarlyError before it is to be tried again, and an *OverError if nothing is left to do.
func (r *Record) Take(worker string, now time.Time, lasts time.Duration) error {
	switch {
	case r.State == Done || r.State == Dead:
		return &OverError{r.State}
	case r.State == Waiting:
		if next := r.againAt(worker, now); toCome(next, now, failedMost) {
			return &EarlyError{next}
		}
	}
	if err := r.Lease.Take(worker, now, lasts); err != nil {
		return err
	}
	if slices.Contains(r.Tried, worker) { // the others had their time
		r.Tried = nil
	}
	r.State, r.Since, r.Next, r.Elsewhere, r.Progress = Running, now, time.Time{}, time.Time{}, Progress{Size: -1}
	r.Tries++
	return nil
}

// Prolong keeps the job for its worker for a time from now on, and takes down how far it is. The error is a *LostError
// if the worker has it no more.
func (r *Record) Prolong(worker string, fence uint64, p Progress, now time.Time, lasts time.Duration) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.Progress = p
	return r.Lease.Prolong(worker, fence, now, lasts)
}

// Opened takes down which upload the file goes into. The error is a *LostError if the worker has the job no more.
func (r *Record) Opened(worker string, fence uint64, upload string) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.Upload = upload
	return nil
}

// Release gives the job back, as the worker ends or its hosts are to be left alone: it was no try. The error is a
// *LostError if the worker has the job no more.
func (r *Record) Release(worker string, fence uint64, now time.Time) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.State, r.Since, r.Lease.Until, r.Progress = Queued, now, time.Time{}, Progress{}
	r.Tries--
	r.forgetOlder()
	r.overtake(now)
	return nil
}

// overtake puts what was reported meanwhile in the place of the job.
func (r *Record) overtake(now time.Time) {
	if r.Newer != nil {
		r.queue(*r.Newer, now)
	}
}

// forgetOlder forgets an older version that was reported while a worker had the job: the job is to be tried again, and
// its file is still to come. After one that came, the older one is asked for, as it may have been restored.
func (r *Record) forgetOlder() {
	if r.Newer != nil && r.Newer.before(&r.Job) {
		r.Newer = nil
	}
}

func (r *Record) check(worker string, fence uint64) error {
	if r.State != Running {
		return &LostError{r.Lease}
	}
	return r.Lease.Check(worker, fence)
}
