package antenna

import (
	"time"

	"braid/antenna/feed"
)

// A Status is the state of the feeds and watches.
type Status struct {
	Feeds   []FeedStatus
	Watches []WatchStatus
	// Follows has a summary of each watch that follows releases.
	Follows []FollowStatus `json:",omitempty"`
}

// A FollowStatus summarizes the releases of a watch.
type FollowStatus struct {
	Name string
	// Template is the template of the watch. Current is the version of the existing file, or empty.
	Template, Current string
	// Versions is the number of releases that feeds report. Newest is the newest version that the watch accepts: the
	// current version if none is newer, or empty. URL is the URL of the file of that version, without secrets.
	Versions    int
	Newest, URL string
	// Reason is why Newest is empty. Words describes what the feeds report.
	Reason feed.Reason `json:",omitempty"`
	Words  string
	// Waiting is the number of releases that are not ready.
	Waiting int
	// Unordered is the number of releases that are ignored because their versions cannot be compared with the current
	// version or, if there is none, with most others. Example is one of these versions.
	Unordered int    `json:",omitempty"`
	Example   string `json:",omitempty"`
	// Invalid is the number of reported tags that are ignored because they cannot be part of a URL. InvalidTag is the
	// beginning of one of these tags.
	Invalid    int    `json:",omitempty"`
	InvalidTag string `json:",omitempty"`
}

// A FeedStatus is the state of a feed, or of the checks of a watch's URL.
type FeedStatus struct {
	Name string
	// URL is without secrets.
	URL  string
	Kind Kind
	// Polled is the time of the last poll, Changed the time of the last change of the kept records, and Next the time
	// of the next poll.
	Polled, Changed, Next time.Time
	Interval              time.Duration
	// Err is the error of the last poll, if any, and Failures the number of consecutive failures.
	Err      string
	Failures int
	// Code is the code of Err by Antenna.Judge.
	Code int
	// Updates counts the updates of today (UTC), and Bytes the bytes that they transferred.
	Updates int
	Bytes   int64
}

// A WatchStatus is the state of one URL of a watch.
type WatchStatus struct {
	Name string
	// URL is without secrets.
	URL string
	// Reason and Words describe the last decision about the reports.
	Reason feed.Reason
	Words  string
	// HaveCopy reports that the file was downloaded. Last is the Outcome of the last update. Tried is when the last
	// attempt of an update ended, successful or not.
	HaveCopy bool
	Last     Outcome
	Tried    time.Time
	// Pending reports that an update waits until Next, or is handled now if Running is set. Try is the number of attempts,
	// and Err the error of the last attempt.
	Pending bool
	Running bool
	Try     int
	Next    time.Time
	Err     string
	// Code is the code of Err by Antenna.Judge. Limited reports that the update waits for the next day because of the
	// limits of its feed. Ahead reports that the update is repeated because the origin did not have the reported
	// version yet.
	Code           int
	Limited, Ahead bool
	// Release is the release of the URL, for a watch that follows releases.
	Release *ReleaseStatus `json:",omitempty"`
	// Queued is the state of the update in a queue of the caller. The caller may set it. Status leaves it empty.
	Queued string
}

// Asked returns when the server was last asked for the file. It is zero if the server was never asked.
func (w *WatchStatus) Asked() time.Time {
	if w.Tried.After(w.Last.At) {
		return w.Tried
	}
	return w.Last.At
}

// A ReleaseStatus is the state of a release.
type ReleaseStatus struct {
	Version, Tag string
	// Stage is "in-place", "update", "given-up" or "unwanted"; if the release is not ready, "waiting" or "resting".
	Stage string
	// Since is when the release was first found not ready. Why is the last reason why it was not ready.
	Since time.Time `json:",omitzero"`
	Why   string    `json:",omitempty"`
	// Newest is that of FollowStatus.
	Newest string `json:",omitempty"`
	// Unreported describes, for the current release, why the feeds report no release any more. It is empty if they do.
	Unreported string `json:",omitempty"`
}

// IsLate reports whether the update is to a release that is not ready yet.
func (w *WatchStatus) IsLate() bool {
	r := w.Release
	return r != nil && (r.Stage == string(waiting) || r.Stage == string(resting))
}
