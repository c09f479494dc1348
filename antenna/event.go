package antenna

import "time"

// An Event is something that happened, for logs and metrics. URLs and errors in events are masked; words may quote
// feeds and have to be escaped where they are printed.
type Event interface{ event() }

// Polled says that a feed, or the URL of a watch (own checks have the watch's name), was asked and answered.
type Polled struct {
	Feed string
	Took time.Duration
	// Status is that of the answer; 0 for a local file.
	Status int
	// Unchanged: it is what it was (304), or nothing of what is kept of it has changed.
	Unchanged bool
	// Bytes is how long the answer was, and Records how many records there were; Matched of them are watched, Relayed
	// are kept to be published, Skipped were of no use.
	Bytes                              int64
	Records, Matched, Relayed, Skipped int
	// Next is when it is asked again.
	Next time.Time
}

// PollFailed says that a feed did not answer, or nothing that is one. What was known of it stays.
type PollFailed struct {
	Feed string
	Took time.Duration
	Err  error
	// Failures is how often in a row.
	Failures int
	Next     time.Time
}

// Updated says that reports call for an update, which will be handed on.
type Updated struct{ Update Update }

// Handled says what became of an update.
type Handled struct {
	Update  Update
	Outcome Outcome
	// Err is the handler's. If nil, the update is acknowledged and stored.
	Err  error
	Took time.Duration
	// Ahead: the feed knows of something that the origin does not have yet. The update comes again at Next, as it does
	// after an error.
	Ahead bool
	Next  time.Time
}

// Skipped says that something was not done.
type Skipped struct {
	// Feed or Watch, or both, say what it is about.
	Feed, Watch string
	Why         Why
	// Until is when it may be done.
	Until time.Time
}

// A Why is why something was skipped, as a word for programs: one of these, or the feed.Reason why what feeds say of a
// file that was never downloaded is of no use.
type Why string

const (
	FreshReport Why = "fresh-report" // a feed has seen the URL lately: it is not asked again
	DailyLimit  Why = "daily-limit"  // of the feed; told once a day
	TooMany     Why = "too-many"     // a glob has as many URLs as it may have
)

// NoneFits says that a feed has URLs, and none of them fits the glob of a watch, for which nothing is known either. It
// is told once.
type NoneFits struct {
	Feed, Watch string
	// URLs is how many there are, and Example one of them, masked.
	URLs    int
	Example string
}

// StoreLost says that the store could not be read, and was set aside, or that it is gone.
type StoreLost struct {
	Why string
	// Aside is where it is now, if it is anywhere, and Restored how many URLs were taken from the cache beside it.
	Aside    string
	Restored int
}

// Published says that Antenna.Publish returned, or that the cache beside the store could not be written.
type Published struct {
	Records int
	Took    time.Duration
	Err     error
}

func (Polled) event()     {}
func (PollFailed) event() {}
func (Updated) event()    {}
func (Handled) event()    {}
func (Skipped) event()    {}
func (NoneFits) event()   {}
func (StoreLost) event()  {}
func (Published) event()  {}
