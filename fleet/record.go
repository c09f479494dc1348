// Package fleet implements a queue of downloads that watchers fill and workers on many machines process. It decides how
// a report changes the queue, which worker has a job and until when, when a failed job is tried again, and at what pace
// hosts are asked.
//
// It consists of values and times. A [Record] is the state of one file, and its methods are the transitions. Package
// fleet/jetstream stores the records where all processes can see them. It stores a changed record only if the stored
// one has not changed meanwhile. The end of a job and its lease are in the same record. So if two workers believe that
// they have a job, one of them fails to finish it.
//
//	var r fleet.Record
//	r.Report(job, now)                    // queued
//	r.Take("worker 1", now, time.Minute)  // running, under the first fence
//	r.Finish("worker 1", 1, ending, now)  // done, waiting or dead
//
// The package reads no clock, no files and no network.
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

// A Job is a file to download. It contains no secrets, because each worker has its own.
type Job struct {
	// Name is the path of the file below the workers' folder or bucket, with slashes. Each name has one record.
	Name string `json:"name"`
	// Watch is the watch that requested the file, or empty for a file of a list. Version distinguishes its reports.
	Watch   string `json:"watch,omitempty"`
	Version string `json:"version,omitempty"`
	// URIs lists the URLs of the file, at least one. Options are options as in an entry of a list of files.
	URIs    []string `json:"uris"`
	Options []Option `json:"options,omitempty"`
	// Modified is the modification time reported by a feed, if any.
	Modified time.Time `json:"modified,omitzero"`
	// Priority is the priority in the last report of this version.
	Priority Priority `json:"priority,omitempty"`
	// Follows is set for a file of a release if the newest version has a link or older versions are removed.
	Follows *Follows `json:"follows,omitempty"`
}

// Follows describes the place of a file among the files of a series of releases.
type Follows struct {
	// Of identifies the releases. Version is the version of the file, by which the files are ordered.
	Of      string `json:"of"`
	Version string `json:"version"`
	// Link is the path of the link to the file of the newest version, in the form of Job.Name, or "".
	Link string `json:"link,omitempty"`
	// Keep is the number of older versions to keep. If zero, all are kept.
	Keep int `json:"keep,omitempty"`
}

// A Priority is the priority of a job. Jobs with a lower priority wait while others can be taken.
type Priority string

// The priorities of jobs.
const (
	High   Priority = "high"
	Normal Priority = ""
	Low    Priority = "low"
)

// Priorities lists all priorities, the highest first.
var Priorities = []Priority{High, Normal, Low}

func (p Priority) String() string {
	if p == Normal {
		return "normal"
	}
	return string(p)
}

// ParsePriority parses the result of String. Other words mean Normal.
func ParsePriority(word string) Priority {
	for _, p := range Priorities {
		if p.String() == word {
			return p
		}
	}
	return Normal
}

// An Option is an option of a list of files.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Key returns the key of the job's record.
func (j *Job) Key() string { return KeyOf(j.Name) }

// KeyOf returns the key of the record for a name: 24 hexadecimal digits.
func KeyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// ID returns 24 hexadecimal digits that identify the job, also among jobs for the same file. It is a hash of the watch,
// the first URI and the version.
func (j *Job) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", j.Watch, j.URIs[:min(1, len(j.URIs))], j.Version))
	return hex.EncodeToString(sum[:12])
}

// first returns the first URI, or "" if another program has stored a job without one.
func (j *Job) first() string { return strings.Join(j.URIs[:min(1, len(j.URIs))], "") }

// Host returns the host of the first URI, with its port if the URI has one. It is empty if the URI has no host.
func (j *Job) Host() string {
	u, err := url.Parse(j.first())
	if err != nil {
		return ""
	}
	return u.Host
}

// A State is the state of a record.
type State string

// The states of records. A queued, running or waiting record has a message in the queue that passes it to a worker.
const (
	Queued  State = "queued"
	Running State = "running"
	Waiting State = "waiting" // until Next
	Done    State = "done"
	Dead    State = "dead" // given up; a new report or Retry queues it again
	// Newer is the state on a Board of a record that a newer version of braid has written.
	Newer State = "newer"
)

// A Record is the state of one file.
type Record struct {
	Job   Job   `json:"job"`
	State State `json:"state"`
	// Since is when the state began. Next is when a waiting record is tried again.
	Since time.Time `json:"since"`
	Next  time.Time `json:"next,omitzero"`
	Lease Lease     `json:"lease"`
	// Place is the job's place in the line of its host, until it is done or dead.
	Place Place `json:"place,omitzero"`
	// Upload is the id of an unfinished upload. The next worker that takes the job aborts or continues the upload.
	Upload string `json:"upload,omitempty"`
	// Tries counts how often the job was taken. Wrong and Failed count the endings of these kinds.
	Tries  int `json:"tries,omitempty"`
	Wrong  int `json:"wrong,omitempty"`
	Failed int `json:"failed,omitempty"`
	// Newer is a job that was reported for the same file while a worker had Job.
	Newer *Job `json:"newer,omitempty"`
	// Tried lists the workers that failed at the job in a row. Others may try it from Elsewhere on, these at Next.
	Tried     []string  `json:"tried,omitempty"`
	Elsewhere time.Time `json:"elsewhere,omitzero"`
	// Lackers lists the workers that lacked something for the job.
	Lackers []string `json:"lackers,omitempty"`
	// Progress is the progress of a running job. Last is the last ending.
	Progress Progress `json:"progress,omitzero"`
	Last     *Ending  `json:"last,omitempty"`
	// Good is the last ending of kind Right. It describes the file in place.
	Good *Ending `json:"good,omitempty"`
}

// A Progress is the progress of a download, in bytes.
type Progress struct {
	Done    int64 `json:"done"`
	Size    int64 `json:"size"`              // -1 if unknown
	Speed   int64 `json:"speed"`             // per second
	Sources int   `json:"sources,omitempty"` // sources that deliver bytes
}

// A News is the result of a report.
type News uint8

// The results of reports. All but Duplicate require a message.
const (
	Fresh     News = iota // the job is now queued
	Duplicate             // the same version is known, and the job stays as it was
	Again                 // the job is already queued; its message may be missing
	Later                 // a worker has the job of an earlier report; the new job is next
)

func (n News) String() string { return [...]string{"queued", "known", "queued already", "next"}[n] }

// A TakenError reports that a name belongs to the file of another job.
type TakenError struct{ Job Job }

func (e *TakenError) Error() string {
	if e.Job.Watch == "" {
		return "another file in the queue has its name"
	}
	return "its name is taken by a file of the watch " + e.Job.Watch
}

// before reports whether the file of j is older than the file of o, by the times in feeds.
func (j *Job) before(o *Job) bool {
	return !j.Modified.IsZero() && !o.Modified.IsZero() && j.Modified.Before(o.Modified)
}

// Report applies the report of a job. A job is known if the last report was of the same version. A report of a known
// job changes only the priority of a queued job, and queues a dead job again; otherwise it changes nothing. While a
// worker has the job, a report that is older than Newer changes nothing, because a watcher that was stopped for a while
// may have sent it. The error is a *TakenError, and r unchanged, while an unfinished job of another file has the name.
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

// queue makes r a queued job that was never tried.
func (r *Record) queue(j Job, now time.Time) {
	*r = Record{Job: j, State: Queued, Since: now, Lease: r.Lease, Place: r.Place, Upload: r.Upload, Last: r.Last, Good: r.Good}
	r.Lease.Until = time.Time{}
}

// GiveUp makes a job dead, because its record has become too large. It drops the large parts, including the URIs, so
// that only a new report can queue the job again. It returns an *OverError if the job is done or dead.
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

// Retry queues a dead or waiting job again, and reports whether it did. A job without URIs needs a new report.
func (r *Record) Retry(now time.Time) bool {
	if r.State != Dead && r.State != Waiting || len(r.Job.URIs) == 0 {
		return false
	}
	r.queue(r.Job, now)
	return true
}

// An EarlyError reports that a job waits until Next.
type EarlyError struct{ Next time.Time }

func (e *EarlyError) Error() string { return "waits until " + e.Next.UTC().Format(time.RFC3339) }

// An OverError reports that a job is done or dead.
type OverError struct{ State State }

func (e *OverError) Error() string { return "it is " + string(e.State) }

// Due reports whether the job is queued, or waiting and its time has come. Take may still refuse the job to workers
// that failed at it, and the host of the job may be busy.
func (r *Record) Due(now time.Time) bool {
	return r.State == Queued || r.State == Waiting && !toCome(r.Again(), now, failedMost)
}

// Take gives the job to a worker for the duration lasts, with the next fence. It returns a *HeldError while a worker
// has the job, an *EarlyError before the worker may try the job again, and an *OverError if the job is done or dead.
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
	if slices.Contains(r.Tried, worker) { // the other workers had their chance
		r.Tried = nil
	}
	r.State, r.Since, r.Next, r.Elsewhere, r.Progress = Running, now, time.Time{}, time.Time{}, Progress{Size: -1}
	r.Tries++
	return nil
}

// Prolong extends the worker's lease of the job from now on and records the progress. It returns a *LostError if the
// worker no longer has the job.
func (r *Record) Prolong(worker string, fence uint64, p Progress, now time.Time, lasts time.Duration) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.Progress = p
	return r.Lease.Prolong(worker, fence, now, lasts)
}

// Opened records the id of the job's upload. It returns a *LostError if the worker no longer has the job.
func (r *Record) Opened(worker string, fence uint64, upload string) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.Upload = upload
	return nil
}

// Release gives the job back without counting a try, because the worker ends or the hosts must not be asked now. It
// returns a *LostError if the worker no longer has the job.
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

// overtake replaces the job with the job reported meanwhile.
func (r *Record) overtake(now time.Time) {
	if r.Newer != nil {
		r.queue(*r.Newer, now)
	}
}

// forgetOlder drops Newer if its file is older than the file of Job, which is tried again. After a success, Newer is
// kept even if it is older, because the older version may have been restored.
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
