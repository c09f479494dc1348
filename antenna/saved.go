package antenna

import (
	"time"

	"braid/antenna/feed"
)

// What the store has, as JSON. Fields may be added; what changes its meaning needs another version.
type (
	// A savedFeed is what is known of a feed.
	savedFeed struct {
		// Print tells whether feed and watches are still those that the validators are for, and Asked whether it is
		// asked in the same way.
		Print, Asked string
		validators
		Sum          uint64
		Rhythm       rhythm
		Interval     time.Duration
		Polled, Next time.Time
		trouble
		Day dayCount
		// Seen is what a page said last, and Failed that it could not be reached since.
		Seen   observation
		Failed bool
		Get    bool
		// URLs is how many it had, and Example one that no watch has, masked.
		URLs    int
		Example string
		// Spared is since when own checks are left out, as feeds have seen the URL lately.
		Spared time.Time
	}

	// The validators are those of what a feed said last.
	validators struct {
		ETag, Modified string
		// Of stands for the URL that they are of, after redirects.
		Of string
	}

	// A trouble is why the last poll failed, what Antenna.Judge says of that, and how often that was in a row.
	trouble struct {
		Failures int
		Err      string
		Code     int
	}

	// A savedTarget is what is known of one URL of a watch.
	savedTarget struct {
		// Watch is the name, and URL that of a glob: others are configured, and may be secret. Print is that of the Watch.
		Watch, URL, Print string
		State             feed.State
		Last              Outcome
		Reason            feed.Reason
		Words             string
		Pending           *pending
		// Reported is when a feed had it last.
		Reported time.Time
	}

	// A pending is an update that waits to be handled or to be handled again.
	pending struct {
		Action feed.Action
		Reason feed.Reason
		Words  string
		Record feed.Record
		// Feed is the id of the member that reported it.
		Feed string
		// Next is what to remember once it is acknowledged.
		Next feed.State
		// Tries is how often it was handed on, Failures how often that failed in a row.
		Tries, Failures int
		At              time.Time
		// Err is why the last try failed, and Code what Antenna.Judge says of that.
		Err  string
		Code int
		// Failed: it took the place of other news of its URL that failed. Limited: it waits for another day, as its
		// feed has had enough.
		Failed, Limited bool
		// Ahead: it was acknowledged, but the origin did not have it yet, for the Aheads-th time.
		Ahead  bool
		Aheads int
	}
)

// isAside reports whether what is known of reports is not for p to change: it was acknowledged, or no report calls for it.
func (p *pending) isAside() bool { return p.Ahead || p.Reason == AskedFor }

// same reports whether two updates are about the same news.
func (p *pending) same(other *pending) bool {
	a, b := &p.Record, &other.Record
	return p.Action == other.Action && a.LastModified == b.LastModified && a.Size == b.Size && a.MD5 == b.MD5 && a.Virtual == b.Virtual
}

// fails reports whether p, or other news of the same URL before it, could not be handled.
func (p *pending) fails() bool { return p.Failures > 0 || p.Failed }
