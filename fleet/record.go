// Package fleet implements a queue of downloads that watchers fill and workers on many machines process. It decides how
// a report changes the queue, which worker has a job and until when, when a failed job is tried again, and at what pace
// hosts are contacted.
//
// It consists of values and times. A [Record] is the state of one file, and its methods are the transitions. Package
// fleet/jetstream stores the records where all processes can see them. It stores a changed record only if no other
// process has changed the stored one in the meantime. A record contains both the lease of a job and its ending. So if
// two workers believe that they have the same job, only one of them can finish it.
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

// A Job is a file to download. It contains no secrets, because each worker has its own secrets.
type Job struct {
	// Name is the path of the file below the workers' folder or bucket, with slashes. Each name has one record.
	Name string `json:"name"`
	// Watch is the watch that requested the file, or empty for a file of a list. Version distinguishes the versions of
	// the file that Watch reports.
	Watch   string `json:"watch,omitempty"`
	Version string `json:"version,omitempty"`
	// URIs lists the URLs of the file, at least one. Options are options as in an entry of a list of files.
	URIs    []string `json:"uris"`
	Options []Option `json:"options,omitempty"`
	// Modified is the file's modification time in a feed, or zero.
	Modified time.Time `json:"modified,omitzero"`
	// Size is the file's size in a feed, if that size shows that the file has changed. OtherMD5 reports whether the MD5
	// in the feed shows that.
	Size     int64 `json:"size,omitempty"`
	OtherMD5 bool  `json:"other_md5,omitempty"`
	// Priority is the priority in the last report of this version.
	Priority Priority `json:"priority,omitempty"`
	// Follows is set for a release file if a link to the newest version is wanted, or if older versions are removed.
	Follows *Follows `json:"follows,omitempty"`
}

// Follows describes which file of a series of release files a job is for.
type Follows struct {
	// Of identifies the series. Version is the version of this file; files of a series are ordered by version.
	Of      string `json:"of"`
	Version string `json:"version"`
	// Link is the path of the link to the newest version, in the form of Job.Name. It is empty if no link is wanted.
	Link string `json:"link,omitempty"`
	// Keep is the number of older versions to keep. If nil, all are kept.
	Keep *int `json:"keep,omitempty"`
}

// A Priority is the priority of a job. A job waits as long as a job with a higher priority can be taken.
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

// ParsePriority returns the priority for word, a result of String. Other words mean Normal.
func ParsePriority(word string) Priority {
	for _, p := range Priorities {
		if p.String() == word {
			return p
		}
	}
	return Normal
}

// An Option is an option of a file, as in a list of files.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Key returns the key of the record for the job's file.
func (j *Job) Key() string { return KeyOf(j.Name) }

// KeyOf returns the key of the record for a name: 24 hexadecimal digits.
func KeyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// ID returns 24 hexadecimal digits that identify the job, even among jobs for the same file. They are a hash of the
// watch, the first URI and the version.
func (j *Job) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", j.Watch, j.URIs[:min(1, len(j.URIs))], j.Version))
	return hex.EncodeToString(sum[:12])
}

// first returns the first URI. It returns "" for a job without URIs, which only another program can have stored.
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

// The states of records. As long as a record is queued, running or waiting, the queue has a message that leads a worker
// to the record.
const (
	Queued  State = "queued"
	Running State = "running"
	Waiting State = "waiting" // until Next
	Done    State = "done"
	Dead    State = "dead" // given up; a new report or Retry queues it again
	// Newer is the state, on a Board only, of a record that a newer version of braid has stored.
	Newer State = "newer"
)

// A Record is the state of one file.
type Record struct {
	Job   Job   `json:"job"`
	State State `json:"state"`
	// Since is when State began. Next is when a waiting job is tried again.
	Since time.Time `json:"since"`
	Next  time.Time `json:"next,omitzero"`
	Lease Lease     `json:"lease"`
	// First is the fence when Job was queued. It distinguishes Job from a dropped job with the same ID.
	First uint64 `json:"first,omitempty"`
	// Place is the job's place in the line of its host, until it is done or dead.
	Place Place `json:"place,omitzero"`
	// Upload is the id of an unfinished upload. The next worker that takes the job aborts or continues the upload.
	Upload string `json:"upload,omitempty"`
	// Tries counts how often the job was taken. Wrong and Failed count endings: Lacks is counted as Wrong, and
	// consecutive failures at several workers are counted once.
	Tries  int `json:"tries,omitempty"`
	Wrong  int `json:"wrong,omitempty"`
	Failed int `json:"failed,omitempty"`
	// Newer is a job that was reported for the same file while a worker had Job.
	Newer *Job `json:"newer,omitempty"`
	// Tried lists the workers where the job failed in a row. They may try it again at Next, others from Elsewhere on.
	Tried     []string  `json:"tried,omitempty"`
	Elsewhere time.Time `json:"elsewhere,omitzero"`
	// Lackers lists the workers that lacked a password, key or permission for the job.
	Lackers []string `json:"lackers,omitempty"`
	// Progress is the progress of a running job. Last is the ending of the last try.
	Progress Progress `json:"progress,omitzero"`
	Last     *Ending  `json:"last,omitempty"`
	// Good is the ending of the last successful try. It describes the file that is in place.
	Good *Ending `json:"good,omitempty"`
}

// A Progress is the progress of a download, in bytes.
type Progress struct {
	Done    int64 `json:"done"`
	Size    int64 `json:"size"`              // -1 if unknown
	Speed   int64 `json:"speed"`             // per second
	Sources int   `json:"sources,omitempty"` // number of sources that are sending data
}

// A News is the result of Record.Report.
type News uint8

// The results of Report. After each except Duplicate, a message must be sent.
const (
	Fresh     News = iota // the job is now queued
	Duplicate             // the same version is known, and the job stays as it was
	Again                 // the job is already queued; its message may be missing
	Later                 // a worker has an earlier job for the file; the new job is next
)

func (n News) String() string { return [...]string{"queued", "known", "queued already", "next"}[n] }

// A TakenError reports that another job, for another file, has the same name.
type TakenError struct{ Job Job }

func (e *TakenError) Error() string {
	if e.Job.Watch == "" {
		return "another file in the queue has its name"
	}
	return "its name is taken by a file of the watch " + e.Job.Watch
}

// before reports whether the file of j is older than that of o, by the modification times in feeds.
func (j *Job) before(o *Job) bool {
	return !j.Modified.IsZero() && !o.Modified.IsZero() && j.Modified.Before(o.Modified)
}

// Report applies a report of j. j is known if the last report was of the same version. If j is known, Report only
// changes the priority of a queued job, and queues a dead job again. While a worker has a job, a report that is older
// than Newer changes nothing: a watcher that was stopped for a while may have sent it. While an unfinished job for
// another file has the name of j, the error is a *TakenError, and r stays unchanged.
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

// queue makes r the record of j, queued and never tried.
func (r *Record) queue(j Job, now time.Time) {
	*r = Record{Job: j, State: Queued, Since: now, Lease: r.Lease, First: r.Lease.Fence, Place: r.Place, Upload: r.Upload,
		Last: r.Last, Good: r.Good}
	r.Lease.Until = time.Time{}
}

// GiveUp makes the job dead, because its record has become too large. It removes the large parts from the record. These
// include the URIs, so only a new report can queue the job again. It returns an *OverError if the job is done or dead.
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

// Retry queues a dead or waiting job again, and reports whether it did. A job without URIs needs a new report instead.
func (r *Record) Retry(now time.Time) bool {
	if r.State != Dead && r.State != Waiting || len(r.Job.URIs) == 0 {
		return false
	}
	r.queue(r.Job, now)
	return true
}

// An EarlyError reports that the job cannot be taken before Next.
type EarlyError struct{ Next time.Time }

func (e *EarlyError) Error() string { return "waits until " + e.Next.UTC().Format(time.RFC3339) }

// An OverError reports that the job is done or dead.
type OverError struct{ State State }

func (e *OverError) Error() string { return "it is " + string(e.State) }

// Due reports whether the job is queued, or is waiting and may be tried again now. Even then, Take may refuse the job
// to workers where it failed, and its host may be busy.
func (r *Record) Due(now time.Time) bool {
	return r.State == Queued || r.State == Waiting && !toCome(r.Again(), now, failedMost)
}

// Take gives the job to worker until now plus lasts, with the next fence. It returns a *HeldError while a worker has
// the job, an *EarlyError if worker may not try the job yet, and an *OverError if the job is done or dead.
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

// Prolong makes the lease of worker last at least until now plus lasts, and records the progress p. It returns a
// *LostError if worker no longer has the job.
func (r *Record) Prolong(worker string, fence uint64, p Progress, now time.Time, lasts time.Duration) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.Progress = p
	return r.Lease.Prolong(worker, fence, now, lasts)
}

// Opened records the ID of the job's upload. It returns a *LostError if worker no longer has the job.
func (r *Record) Opened(worker string, fence uint64, upload string) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	r.Upload = upload
	return nil
}

// Release queues the job again without counting a try, because the worker stops or the hosts must not be contacted now.
// It returns a *LostError if worker no longer has the job.
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

// overtake replaces the job by Newer, unless that is nil.
func (r *Record) overtake(now time.Time) {
	if r.Newer != nil {
		r.queue(*r.Newer, now)
	}
}

// forgetOlder drops Newer if its file is older than that of Job. It is called before Job is tried again. After a
// success, Newer is kept even if it is older, because an older version may have been published again.
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
