package antenna

import (
	"context"
	"sync/atomic"
	"time"

	"braid/antenna/feed"
	"braid/antenna/release"
)

// An Update is passed to a Handler. It is a hint that a file has changed.
type Update struct {
	// Watch is the name of the watch. URL is the watch's own URL, never a feed's spelling of it. For a glob it is the
	// normalized form (feed.Key) of a URL from a feed, on the host of the glob.
	Watch, URL string
	// Action is feed.Download or feed.Recheck. For both, the handler should make a conditional request with its own
	// validators.
	Action feed.Action
	Reason feed.Reason
	// Words describes the Reason. The text may quote a feed.
	Words string
	// Record is the decisive report, without Keywords and Warnings. Its Fields are those with proof
	// (feed.Record.Proof). SameServer reports that the feed has the scheme, host and port of URL, so that these Fields
	// are evidence.
	Record     feed.Record
	SameServer bool
	// Feed is the name of the feed that reported the update. For a check of the watch's URL, it is the name of the
	// watch. For AskedFor, it is empty.
	Feed string
	// Last is the Outcome of the last acknowledged update, for its validators. In an update to another version than the
	// current one, it is the Outcome of the current version, without validators.
	Last Outcome
	// Release is the release of the URL, for a watch that follows releases. Previous is the current version, or the
	// version that was current when the user renounced it. Previous is empty if there is no such version, and in an
	// update of that version itself. LastTry reports that the release is given up if it is not ready (NotYet). Begun
	// reports that an earlier attempt may have put the file of the release in place.
	Release        *release.Release
	Previous       string
	LastTry, Begun bool
	// Try is the number of the attempt, from 1.
	Try int
	// Ahead reports that an earlier attempt was acknowledged, but the origin did not have the reported version yet.
	Ahead bool
	// Allowance is how many bytes the feed's updates may still transfer today. Concurrent updates of the feed share it.
	// It is nil without a limit. The handler must subtract bytes while it transfers them, and stop when Allowance
	// becomes negative.
	Allowance *atomic.Int64
}

// AskedFor is the Reason of updates that the user requested. Such updates do not change the State that reports are
// compared with.
const AskedFor feed.Reason = "asked-for"

// An Outcome is the result of an Update.
type Outcome struct {
	// Changed reports that the file was replaced.
	Changed bool
	// Declined reports that the user does not want this version. No request was sent.
	Declined bool `json:",omitempty"`
	// ETag, LastModified and Size describe the current file, and Host is the host:port that sent them. They are empty
	// if unknown.
	ETag         string
	LastModified time.Time
	Host         string
	Size         int64
	// Fleeting reports that a later version may have the same ETag and LastModified.
	Fleeting bool `json:",omitempty"`
	// Digest and Evidence describe how the file was verified. Path is the path of the file. After a failed update of a
	// release, Path is set only if the file may be in place.
	Digest, Evidence, Path string
	// ModTime is the modification time of the file at Path. From ModTime, the handler of the next update can see
	// whether another program has changed the file.
	ModTime time.Time
	// Bytes is the number of transferred bytes.
	Bytes int64
	// At is when the origin was asked. If zero, it is when the handler returned.
	At time.Time
}

// A Handler handles an update. If it returns nil, the update is acknowledged and recorded as done. After an error, the
// update is repeated with increasing delays. An update may be handled twice, but is never lost. Several handlers run
// concurrently, but only one for each URL.
type Handler func(context.Context, Update) (Outcome, error)
