package antenna

import (
	"time"

	"braid/antenna/feed"
)

// A Status is how feeds and watches stand.
type Status struct {
	Feeds   []FeedStatus
	Watches []WatchStatus
}

// A FeedStatus is how a feed stands, or the own checks of a watch.
type FeedStatus struct {
	Name string
	// URL is masked.
	URL  string
	Kind Kind
	// Polled is when it was asked last, Changed when what is kept of it was last another, and Next when it is asked again.
	Polled, Changed, Next time.Time
	Interval              time.Duration
	// Err is why the last poll failed, if it did, and Failures how often in a row.
	Err      string
	Failures int
	// Code is what Antenna.Judge says of that error.
	Code int
	// Updates and Bytes are what it cost today.
	Updates int
	Bytes   int64
}

// A WatchStatus is how one URL of a watch stands.
type WatchStatus struct {
	Name string
	// URL is masked.
	URL string
	// Reason and Words are those of the last decision.
	Reason feed.Reason
	Words  string
	// HaveCopy: it was downloaded once. Last is the last outcome.
	HaveCopy bool
	Last     Outcome
	// Pending: an update waits, for the Try-th time, until Next. Err is why the last try failed.
	Pending bool
	Try     int
	Next    time.Time
	Err     string
	// Code is what Antenna.Judge says of that error, and Limited that the update waits for a day on which its feed may have more.
	// Ahead: it was handled, and comes again as the origin did not have yet what was reported.
	Code           int
	Limited, Ahead bool
	// Queued is how it stands where the caller's handler has updates wait, in words of the caller's; Status leaves it empty.
	Queued string
}
