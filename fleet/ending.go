package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Kind is the way in which a try ended.
type Kind string

// The kinds.
const (
	Right   Kind = "right"   // the file is in place, verified to the level asked for
	Wrong   Kind = "wrong"   // a digest or a signature is wrong or missing, or the file is not there yet
	Failed  Kind = "failed"  // the network, a server or the worker's own disk
	Lacks   Kind = "lacks"   // the worker has no password or key for it, or may not fetch it; another one may
	Useless Kind = "useless" // no later try can be better
)

// An Ending is how a try ended, with its evidence. It is kept with what is done and with what is dead.
type Ending struct {
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at"`
	Worker string    `json:"worker,omitempty"`
	Fence  uint64    `json:"fence,omitempty"`
	// Why says why the file is not there. Code is the exit code for that, and Aria2 aria2's error code, which tells some
	// causes of one exit code apart; an older braid has stored none.
	Why   string `json:"why,omitempty"`
	Code  int    `json:"code,omitempty"`
	Aria2 int    `json:"aria2,omitempty"`
	// Version is the version of the job that ended. What follows is of the file that is there, but for URL, Fetched and Took.
	Version      string    `json:"version,omitempty"`
	URL          string    `json:"url,omitempty"`  // without secrets
	Path         string    `json:"path,omitempty"` // or s3://BUCKET/KEY
	Size         int64     `json:"size,omitempty"`
	SHA256       string    `json:"sha256,omitempty"` // in hexadecimal digits
	Proof        string    `json:"proof,omitempty"`  // in words; empty if nothing proved the file
	ETag         string    `json:"etag,omitempty"`
	LastModified time.Time `json:"last_modified,omitzero"`
	Host         string    `json:"host,omitempty"`
	// ModTime is the date of the file on disk, so that a later try sees whether it is still that file.
	ModTime time.Time `json:"mod_time,omitzero"`
	// Unchanged: the file was there already.
	Unchanged bool          `json:"unchanged,omitempty"`
	Fetched   int64         `json:"fetched,omitempty"` // bytes
	Took      time.Duration `json:"took,omitempty"`    // nanoseconds
	// Sources are how many bytes came from which host.
	Sources map[string]int64 `json:"sources,omitempty"`
}

const (
	// mostSources is how many hosts an ending names, and mostText how long a text in it may be: what a server says has
	// no end of its own.
	mostSources = 20
	mostText    = 1 << 10
	// otherSources are the hosts that are not named.
	otherSources = "others"
)

// bound makes an ending fit into a record.
func (e *Ending) bound() {
	for _, text := range []*string{&e.Why, &e.URL, &e.Proof, &e.Host} {
		if len(*text) > mostText {
			*text = strings.ToValidUTF8((*text)[:mostText], "") + "..."
		}
	}
	if len(e.ETag) > mostText { // a part of it would be another one
		e.ETag = ""
	}
	if len(e.Sources) <= mostSources {
		return
	}
	hosts := slices.SortedFunc(maps.Keys(e.Sources), func(a, b string) int { return cmp.Or(cmp.Compare(e.Sources[b], e.Sources[a]), strings.Compare(a, b)) })
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

// wrongWaits are how long after a file that is wrong it is asked for again: file, digest and signature are often
// published minutes apart, and mirrors lag by hours.
var wrongWaits = []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour}

const (
	// failedBase and failedMost bound the waits after failures, each twice as long as the one before.
	failedBase = 30 * time.Second
	failedMost = 6 * time.Hour
	// mostFailures is how many there may be, in some fifteen hours. What several workers say right after each other is one.
	mostFailures = 12
	// elsewhere is after what time another worker may try again what failed at one, and mostElsewhere how many workers
	// may in a row.
	elsewhere     = time.Second
	mostElsewhere = 3
)

// wait returns how long after an ending the job is tried again; ok is false if it is not.
func (r *Record) wait(k Kind, worker string) (wait time.Duration, ok bool) {
	switch k {
	case Wrong:
		if r.Wrong < len(wrongWaits) {
			return wrongWaits[r.Wrong], true
		}
	case Lacks: // no more than the worker that was the first to say so
		if others := len(r.Lackers) > 0 && r.Lackers[0] != worker; !others && r.Wrong < len(wrongWaits) {
			return wrongWaits[r.Wrong], true
		}
	case Failed:
		n := r.Failed
		if len(r.Tried) > 0 { // it is counted
			n--
		}
		if n+1 < mostFailures {
			return min(failedBase<<n, failedMost), true
		}
	}
	return 0, false
}

// leave has the job of a try that ended tried by other workers before the one at which it failed, if they may do better.
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

// Again returns from when on a worker may take a job that waits.
func (r *Record) Again() time.Time {
	if !r.Elsewhere.IsZero() && r.Elsewhere.Before(r.Next) {
		return r.Elsewhere
	}
	return r.Next
}

// againAt returns when a worker may take a job that waits. One at which it failed is told to look again now and then
// whether others do.
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

// Finish ends a try. Where the worker has the job no more the error is a *LostError, and nothing changes.
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
		if !e.Unchanged { // the upload is the object
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

// Behind reports whether the file that came is older than what was reported: the origin does not have yet what a feed knows of.
func (j *Job) Behind(lastModified time.Time) bool {
	return !j.Modified.IsZero() && !lastModified.IsZero() && lastModified.Before(j.Modified)
}
