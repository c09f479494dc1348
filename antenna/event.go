package antenna

import (
	"time"

	"braid/antenna/release"
)

// An Event is reported for logs and metrics. URLs and errors in events are without secrets. Texts may quote feeds and
// must be escaped before they are printed.
type Event interface{ event() }

// Polled reports that a feed, or the URL of a watch, was polled. For a watch, Feed is the name of the watch.
type Polled struct {
	Feed string
	Took time.Duration
	// Status is the HTTP status, or 0 for a local file.
	Status int
	// Unchanged reports that the feed has not changed (304), or that none of the records that are kept has changed.
	Unchanged bool
	// Bytes is the size of the response, and Records the number of its records. Of these, Matched are watched, Relayed
	// are kept for publication, and Skipped were unusable.
	Bytes                              int64
	Records, Matched, Relayed, Skipped int
	// Next is the time of the next poll.
	Next time.Time
}

// PollFailed reports that a feed did not respond, or responded with something that is not a valid feed. Its previous
// records are kept.
type PollFailed struct {
	Feed string
	Took time.Duration
	Err  error
	// Failures is the number of consecutive failures.
	Failures int
	Next     time.Time
}

// Updated reports that a new update waits to be handled.
type Updated struct{ Update Update }

// Handled reports the result of an update.
type Handled struct {
	Update  Update
	Outcome Outcome
	// Err is the error of the handler. If nil, the update is acknowledged and stored.
	Err  error
	Took time.Duration
	// Ahead reports that the feed announced a version that the origin does not have yet. The update is repeated at
	// Next, as after an error.
	Ahead bool
	Next  time.Time
}

// NotReady reports that the file of a release, or its proof, is not there yet. The update is repeated at Next.
type NotReady struct {
	Update Update
	Err    error
	Took   time.Duration
	Next   time.Time
}

// Followed reports that the newest version or the number of waiting releases of a watch has changed. FollowStatus has
// the new values.
type Followed struct {
	Watch, Newest string
	Waiting       int
}

// Withdrawn reports that the feeds no longer report a release whose update was not done, or that the settings of the watch
// exclude the release now. The update is dropped.
type Withdrawn struct {
	Watch   string
	Release release.Release
}

// Skipped reports that something was not done.
type Skipped struct {
	// Feed and Watch are the feed and the watch that an action was skipped for. One of them may be empty.
	Feed, Watch string
	Why         Why
	// Until is when the action may be done.
	Until time.Time
}

// A Why is the reason why something was skipped: one of the constants, or, for a file that was never downloaded, the
// feed.Reason why the reports about it are unusable.
type Why string

const (
	FreshReport Why = "fresh-report" // a feed has a recent report, so the URL is not checked
	DailyLimit  Why = "daily-limit"  // limit of the feed; reported once a day
	TooMany     Why = "too-many"     // a glob has too many URLs
)

// NoneFits reports that no URL of a feed matches the glob of a watch or the template of its releases, and that no other
// feed has reported a URL that matches. It is emitted once for a watch.
type NoneFits struct {
	Feed, Watch string
	// URLs is the number of URLs of the feed. Example is one of these URLs, without secrets.
	URLs    int
	Example string
}

// TokenRefused reports that the server of a feed refuses Feed.Token, and that the feed is polled without it. It is
// reported once.
type TokenRefused struct{ Feed string }

// StoreLost reports that the store was missing, or could not be read and was moved aside.
type StoreLost struct {
	Why string
	// Aside is the new path of the store, if it was moved. Restored is the number of URLs that were restored from the
	// cache beside the store.
	Aside    string
	Restored int
}

// Published reports the result of Antenna.Publish, or an error of writing the cache beside the store.
type Published struct {
	Records int
	Took    time.Duration
	Err     error
}

func (Polled) event()       {}
func (PollFailed) event()   {}
func (Updated) event()      {}
func (Handled) event()      {}
func (NotReady) event()     {}
func (Followed) event()     {}
func (Withdrawn) event()    {}
func (Skipped) event()      {}
func (NoneFits) event()     {}
func (TokenRefused) event() {}
func (StoreLost) event()    {}
func (Published) event()    {}
