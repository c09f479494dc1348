package antenna

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"braid/antenna/feed"
)

// The types in the store, as JSON. Fields may be added. A change of meaning needs a new version of the store.
type (
	// A savedFeed is the state of a feed.
	savedFeed struct {
		// Print is a fingerprint of the feed's configuration and watches when the validators were received. Asked is a
		// fingerprint of its intervals and credentials.
		Print, Asked string
		validators
		Sum          uint64
		Rhythm       rhythm
		Interval     time.Duration
		Polled, Next time.Time
		trouble
		Day dayCount
		// Seen is the last observation of a page. Failed reports that the last check of the page failed.
		Seen   observation
		Failed bool
		Get    bool
		// URLs is the number of URLs of the feed. Example is a URL that no watch matches, without secrets. Examples has the
		// most similar URLs for the watches that follow releases and match none, by the names of the watches.
		URLs     int
		Example  string
		Examples map[string]string `json:",omitempty"`
		// Invalid counts the tags that cannot be part of a URL, by the names of the watches that follow releases.
		Invalid map[string]invalidTags `json:",omitempty"`
		// Spared is when checks of a watch's URL began to be skipped because feeds had recent reports about it.
		Spared time.Time
	}

	// The validators are the validators of the last response.
	validators struct {
		ETag, Modified string
		// Of is a hash of the URL that sent the validators, after redirects.
		Of string
	}

	// A trouble is the error of the last poll, its code by Antenna.Judge, and the number of consecutive failures.
	trouble struct {
		Failures int
		Err      string
		Code     int
	}

	// A savedTarget is the state of one URL of a watch.
	savedTarget struct {
		// Watch is the name of the watch. URL is set only for a glob or a release, because a configured URL may be
		// secret. Print is the Print of the Watch.
		Watch, URL, Print string
		State             feed.State
		Last              Outcome
		Reason            feed.Reason
		Words             string
		Pending           *pending
		// Reported is when a feed last listed the URL. Tried is when the last attempt of an update ended.
		Reported time.Time
		Tried    time.Time `json:",omitzero"`
		// Release is set if the watch follows releases.
		Release *savedRelease `json:",omitempty"`
	}

	// A pending is an update that waits to be handled or repeated.
	pending struct {
		Action feed.Action
		Reason feed.Reason
		Words  string
		Record feed.Record
		// Feed is the id of the member that reported the update.
		Feed string
		// Next is the state to store once the update is acknowledged.
		Next feed.State
		// Tries counts the attempts, Failures the consecutive failures.
		Tries, Failures int
		At              time.Time
		// Err is the error of the last attempt, and Code its code by Antenna.Judge.
		Err  string
		Code int
		// Failed reports that this update replaced an update of the same URL that had failed. Limited reports that this
		// update waits for the next day because of the limits of its feed.
		Failed, Limited bool
		// Lasting reports that the error does not go away by itself.
		Lasting bool `json:",omitempty"`
		// Ahead reports that the update was acknowledged Aheads times, but the origin did not have the version yet.
		Ahead  bool
		Aheads int
	}
)

// isAside reports whether p must not change the State of its target, because p was acknowledged before or has no
// report.
func (p *pending) isAside() bool { return p.Ahead || p.Reason == AskedFor }

// same reports whether two updates are for the same version.
func (p *pending) same(other *pending) bool {
	a, b := &p.Record, &other.Record
	return p.Action == other.Action && a.LastModified == b.LastModified && a.Size == b.Size && a.MD5 == b.MD5 &&
		a.Virtual == b.Virtual
}

// reportsAs reports whether two updates are from the same feed, for the same version, and with the same proof.
func (p *pending) reportsAs(other *pending) bool {
	digests, mirrors := p.Record.Proof()
	d, m := other.Record.Proof()
	return p.Feed == other.Feed && p.same(other) && slices.Equal(digests, d) && slices.Equal(mirrors, m)
}

// fails reports whether p, or an earlier update of the same URL, failed.
func (p *pending) fails() bool { return p.Failures > 0 || p.Failed }

// targetKey returns the key of a target in the store. The key has a hash of the URL, because the URL may be secret.
func targetKey(t *target) string {
	sum := sha256.Sum256([]byte(t.url))
	return t.w.Name + "\x00" + hex.EncodeToString(sum[:16])
}
