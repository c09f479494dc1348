package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Kind classifies how a try of a job ended.
type Kind string

// The kinds of endings.
const (
	Right   Kind = "right"   // the file is in place and verified as requested
	Wrong   Kind = "wrong"   // a digest or signature is wrong or missing, or the file does not exist yet
	Failed  Kind = "failed"  // a failure of the network, a server or the worker's disk
	Lacks   Kind = "lacks"   // the worker lacks a password, key or permission for the file; another worker may have it
	Useless Kind = "useless" // no later try can succeed
)

// An Ending is the result of a try, with its evidence. It is stored in the records of done and dead jobs.
type Ending struct {
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at"`
	Worker string    `json:"worker,omitempty"`
	Fence  uint64    `json:"fence,omitempty"`
	// Why states why the file is not in place, and Code is the exit code for that. Aria2 is aria2's error code, which
	// distinguishes some causes with the same exit code; it is 0 in records of older versions of braid.
	Why   string `json:"why,omitempty"`
	Code  int    `json:"code,omitempty"`
	Aria2 int    `json:"aria2,omitempty"`
	// Missing reports that the server does not have the file or the required proof yet. After is the wait that the
	// server asked for. Requests has the number of requests to each host.
	Missing  bool           `json:"missing,omitempty"`
	After    time.Duration  `json:"after,omitempty"` // in nanoseconds
	Requests map[string]int `json:"requests,omitempty"`
	// Version is the version of the job. The fields below, except URL, Fetched and Took, describe the file that is in place.
	Version      string    `json:"version,omitempty"`
	URL          string    `json:"url,omitempty"`  // without secrets
	Path         string    `json:"path,omitempty"` // path on disk, or s3://BUCKET/KEY
	Size         int64     `json:"size,omitempty"`
	SHA256       string    `json:"sha256,omitempty"` // in hexadecimal
	Proof        string    `json:"proof,omitempty"`  // what proved the file, as text; empty if nothing did
	ETag         string    `json:"etag,omitempty"`
	LastModified time.Time `json:"last_modified,omitzero"`
	Host         string    `json:"host,omitempty"`
	// Fleeting reports that a later version may have the same ETag and LastModified.
	Fleeting bool `json:"fleeting,omitempty"`
	// ModTime is the modification time of the file on disk. From it, a later try can see whether the file has changed.
	ModTime time.Time `json:"mod_time,omitzero"`
	// Unchanged reports that the file was in place before the try.
	Unchanged bool          `json:"unchanged,omitempty"`
	Fetched   int64         `json:"fetched,omitempty"` // in bytes
	Took      time.Duration `json:"took,omitempty"`    // in nanoseconds
	// Sources has the number of bytes received from each host.
	Sources map[string]int64 `json:"sources,omitempty"`
}

const (
	// mostSources limits the hosts in an ending. mostText limits the length of its texts, because servers may send long texts.
	mostSources = 20
	mostText    = 1 << 10
	// otherSources is the key in Sources for all hosts that exceed mostSources.
	otherSources = "others"
)

// bound limits the size of e.
func (e *Ending) bound() {
	for _, text := range []*string{&e.Why, &e.URL, &e.Proof, &e.Host} {
		if len(*text) > mostText {
			*text = strings.ToValidUTF8((*text)[:mostText], "") + "..."
		}
	}
	if len(e.ETag) > mostText { // a truncated tag would be a different tag
		e.ETag = ""
	}
	if len(e.Requests) > mostSources {
		e.Requests = nil // the requests to the host of the job's URL are counted without this field, too
	}
	if len(e.Sources) <= mostSources {
		return
	}
	hosts := slices.SortedFunc(maps.Keys(e.Sources),
		func(a, b string) int { return cmp.Or(cmp.Compare(e.Sources[b], e.Sources[a]), strings.Compare(a, b)) })
	named := map[string]int64{}
	for i, host := range hosts {
		if i >= mostSources-1 {
			named[otherSources] += e.Sources[host]
		} else {
			named[host] = e.Sources[host]
		}
	}
	e.Sources = named
}

// wrongWaits are the waits between tries of a wrong file. The file, its digest and its signature are often published
// minutes apart, and mirrors may be hours late.
var wrongWaits = []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour}

const (
	// failedBase is the wait after the first failure. Each further wait is twice as long, but at most failedMost.
	failedBase = 30 * time.Second
	failedMost = 6 * time.Hour
	// mostFailures is the number of failures that make the job dead. The last is about fifteen hours after the first.
	// Consecutive tries of several workers are one failure.
	mostFailures = 12
	// elsewhere is the time until another worker may try a job that failed. mostElsewhere limits how many workers try
	// it one after the other.
	elsewhere     = time.Second
	mostElsewhere = 3
)

// wait returns the time until the job is tried again after worker's try ended with k. ok is false if it is not tried again.
func (r *Record) wait(k Kind, worker string) (wait time.Duration, ok bool) {
	switch k {
	case Wrong:
		if r.Wrong < len(wrongWaits) {
			return wrongWaits[r.Wrong], true
		}
	case Lacks: // only the first worker in Lackers tries again
		if others := len(r.Lackers) > 0 && r.Lackers[0] != worker; !others && r.Wrong < len(wrongWaits) {
			return wrongWaits[r.Wrong], true
		}
	case Failed:
		n := r.Failed
		if len(r.Tried) > 0 { // another worker has counted this failure already
			n--
		}
		if n+1 < mostFailures {
			return min(failedBase<<n, failedMost), true
		}
	}
	return 0, false
}

// leave lets other workers try the job before worker does, if k is a kind of ending where they may do better.
func (r *Record) leave(k Kind, worker string, now time.Time) {
	if k != Failed && k != Lacks {
		r.Tried = nil
		return
	}
	r.Tried = append(r.Tried, worker)
	if len(r.Tried) < mostElsewhere {
		r.Elsewhere = now.Add(elsewhere)
	}
}

// chance is how long the other workers have to take a job that failed at one worker.
const chance = 10 * time.Second

// Stop makes a waiting job dead, and reports whether it did. It does nothing while other workers may still take the
// job. Stop is for a watch that decides itself when a job is tried again: the watch reports the job again later.
func (r *Record) Stop(now time.Time) bool {
	if r.State != Waiting || !r.Elsewhere.IsZero() && now.Sub(r.Since) < chance {
		return false
	}
	r.State, r.Since, r.Next, r.Elsewhere, r.Place = Dead, now, time.Time{}, time.Time{}, Place{}
	return true
}

// Again returns when a waiting job may be taken by at least one worker.
func (r *Record) Again() time.Time {
	if !r.Elsewhere.IsZero() && r.Elsewhere.Before(r.Next) {
		return r.Elsewhere
	}
	return r.Next
}

// againAt returns when worker may take a waiting job. If the job failed at worker and other workers may try it, the
// result is earlier than Next: at that time, worker finds out whether another worker has taken the job.
func (r *Record) againAt(worker string, now time.Time) time.Time {
	switch past := now.Sub(r.Since); {
	case !slices.Contains(r.Tried, worker):
		return r.Again()
	case r.Elsewhere.IsZero(), past < 0, !now.Before(r.Next):
		return r.Next
	default:
		next := now.Add(max(elsewhere, past/8))
		if next.After(r.Next) {
			next = r.Next
		}
		return next
	}
}

// Finish records that the try of worker ended with e. It returns a *LostError, and changes nothing, if worker lost the job.
func (r *Record) Finish(worker string, fence uint64, e Ending, now time.Time) error {
	if err := r.check(worker, fence); err != nil {
		return err
	}
	e.At, e.Worker, e.Fence, e.Version = now, worker, fence, r.Job.Version
	e.bound()
	wait, again := r.wait(e.Kind, worker)
	if again {
		r.forgetOlder()
	}
	r.Last, r.Since, r.Lease.Until, r.Progress = &e, now, time.Time{}, Progress{}
	if !again || r.Newer != nil {
		r.Place = Place{}
	}
	switch {
	case e.Kind == Right:
		r.State, r.Good = Done, &e
		if !e.Unchanged { // the upload is complete, so no later worker may continue it
			r.Upload = ""
		}
	case again:
		r.State, r.Next = Waiting, now.Add(wait)
	default:
		r.State = Dead
	}
	switch {
	case e.Kind == Wrong:
		r.Wrong++
	case e.Kind == Lacks:
		r.Wrong++
		r.Lackers = append(r.Lackers, worker)
	case e.Kind == Failed && len(r.Tried) == 0:
		r.Failed++
	}
	r.leave(e.Kind, worker, now)
	r.overtake(now)
	return nil
}

// Behind reports whether a file with that modification time is older than the version that the job is for. The server
// does not have that version yet.
func (j *Job) Behind(lastModified time.Time) bool {
	return !j.Modified.IsZero() && !lastModified.IsZero() && lastModified.Before(j.Modified)
}

// Awaits reports whether an unchanged file, which the server dates to lastModified, may be older than the reported
// version, although its date is not Behind. The server must have stated no date, or the feed must have stated another
// size or MD5. The last success must be of another version, and the wait for the reported version must not be over.
func (r *Record) Awaits(lastModified time.Time) bool {
	j := &r.Job
	if r.Good == nil || r.Good.Version == j.Version || r.Wrong >= len(wrongWaits) {
		return false
	}
	return j.OtherMD5 || j.Size != 0 && j.Size != r.Good.Size || !j.Modified.IsZero() && lastModified.IsZero()
}
