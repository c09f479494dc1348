package antenna

import (
	"context"
	"sync/atomic"
	"time"

	"braid/antenna/feed"
)

// An Update is what a Handler gets: a hint that a file has changed.
type Update struct {
	// Watch is the name of the watch, and URL the watch's own URL, never a feed's spelling of it. For a glob it is the
	// canonical form (feed.Key) of what a feed reported, which is on the host that the glob names.
	Watch, URL string
	// Action is feed.Download or feed.Recheck; both are conditional requests by the handler's own validators.
	Action feed.Action
	Reason feed.Reason
	// Words is the Reason in words. They may quote a feed.
	Words string
	// Record is the report that decided, without Fields, Keywords and Warnings.
	Record feed.Record
	// Feed is the name of the feed that it is from; that of the watch for own checks, and none if it was AskedFor.
	Feed string
	// Last is the Outcome of the last update that was acknowledged, for its validators.
	Last Outcome
	// Try counts from 1 how often this update was handed on.
	Try int
	// Ahead: an earlier try was acknowledged, but the origin did not have yet what the feed reports.
	Ahead bool
	// Allowance is how many bytes the feed may still bring today, shared with other updates of it that are handled at
	// the same time; nil if that is not limited. The handler subtracts what it transfers while it does, and stops when
	// it is negative.
	Allowance *atomic.Int64
}

// AskedFor is the Reason of updates that the user wants, whatever feeds say. What is known of reports stays as it is.
const AskedFor feed.Reason = "asked-for"

// An Outcome is what became of an Update.
type Outcome struct {
	// Changed: there is another file now.
	Changed bool
	// Declined: the user does not want this version, and nothing was asked for.
	Declined bool `json:",omitempty"`
	// ETag, LastModified and Size are those of the file that is there now, and Host is the host:port that gave them;
	// empty if that is not known.
	ETag         string
	LastModified time.Time
	Host         string
	Size         int64
	// Digest and Evidence say what it was verified with, and Path where it is.
	Digest, Evidence, Path string
	// ModTime is that of the file at Path, so that the handler of the next update sees whether it is still that file.
	ModTime time.Time
	// Bytes is how much was transferred.
	Bytes int64
	// At is when the origin was asked. If zero, it is when the handler returned.
	At time.Time
}

// A Handler takes an update. A nil error acknowledges it: only then is it remembered as done, so an update may come twice, but is
// never lost. With an error it comes again, later and later. Several are called at once, one for each URL.
type Handler func(context.Context, Update) (Outcome, error)
