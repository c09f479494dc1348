package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"braid/byterange"
)

// A GID identifies an entry. Zero identifies none.
type GID uint64

// String returns g as 16 hexadecimal digits.
func (g GID) String() string { return fmt.Sprintf("%016x", uint64(g)) }

// gidDigits is the number of digits of a complete GID.
const gidDigits = 16

// ParseGID parses a GID of 16 hexadecimal digits.
func ParseGID(s string) (g GID, ok bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	return GID(n), err == nil && len(s) == gidDigits && n != 0
}

// MarshalText returns the digits of g.
func (g GID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText parses a GID from its digits.
func (g *GID) UnmarshalText(text []byte) error {
	n, ok := ParseGID(string(text))
	if !ok {
		return fmt.Errorf("%.20q is no GID", text)
	}
	*g = n
	return nil
}

// A Status is the state of an entry.
type Status uint8

// The statuses. There are three lists of entries: waiting and paused entries, active entries, and stopped entries (all
// other statuses).
const (
	Waiting Status = iota
	Active
	Paused
	Complete
	Failed
	Removed // by the user
)

var statuses = [...]string{Waiting: "waiting", Active: "active", Paused: "paused", Complete: "complete",
	Failed: "error", Removed: "removed"}

// String returns aria2's word for s.
func (s Status) String() string {
	if int(s) < len(statuses) {
		return statuses[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText returns aria2's word for s.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses aria2's word for a status.
func (s *Status) UnmarshalText(text []byte) error {
	for i, word := range statuses {
		if word == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("%.20q is no status", text)
}

func (s Status) stopped() bool { return s >= Complete }

// An Entry is one download, in the form in which it is stored as JSON. An Entry that the queue has returned never
// changes. The caller must not change its slices and its map.
type Entry struct {
	GID      GID
	URIs     []string          `json:",omitempty"` // URLs of one file
	Relinked bool              `json:",omitempty"` // the URIs changed after the first attempt
	Document []byte            `json:",omitempty"` // a .torrent or Metalink document sent by the client
	Options  map[string]string `json:",omitempty"` // as the client wrote them; header fields are joined by newlines
	Watch    string            `json:",omitempty"` // name of the watch that requested this version, if any
	Status   Status
	Priority int `json:",omitempty"` // entries with a higher priority begin first
	// Rank orders the entries of a list. The queue sets it.
	Rank int64

	Added, Began, Ended time.Time `json:",omitzero"`  // Began and Ended are of the last attempt
	Path                string    `json:",omitempty"` // path of the file, if known
	Size                int64     // -1 if unknown
	Done                int64     // bytes on disk when the download last stopped
	Outcome             Outcome   `json:",omitzero"` // of the last attempt, if it ended

	FollowedBy []GID `json:",omitempty"` // entries for the files that this entry's file describes
	Following  GID   `json:",omitzero"`  // the entry with the document that describes this file
}

// An Outcome is the result of an attempt. The zero value is success.
type Outcome struct {
	Kind     string `json:",omitempty"` // kind of the error, as download.Kind spells it; empty if there was no error
	Code     int    `json:",omitempty"` // aria2's number of the error
	Message  string `json:",omitempty"`
	Reason   string `json:",omitempty"` // short form of Message without host and digits; empty if it has none
	Hint     string `json:",omitempty"` // what the user can do next
	Verified string `json:",omitempty"` // what proved the file; empty if nothing did
	Attempts int    `json:",omitempty"` // number of attempts, set by the queue
	Due      bool   `json:",omitempty"` // the journal, which records that the file is complete, must still be removed
}

// Interrupted is the kind of outcome of an attempt that was stopped from outside. It does not describe the file.
const Interrupted = "interrupted"

// Yielded is the kind of outcome of an attempt that was too slow while other entries waited for a place. It does not
// describe the file.
const Yielded = "yielded"

// A Live is the current state of a running download. It is not stored.
type Live struct {
	Path        string // path of the file
	Done, Size  int64  // Size is -1 if unknown
	Speed       int64  // bytes per second
	Worker      string // the process that downloads, if it is not the daemon
	Connections int
	Have        byterange.Set // ranges on disk, as far as they are known
	Sources     []Source
	Seeding     bool  // the file is in place and is uploaded to peers
	Given       int64 // bytes uploaded to peers
}

// A Source is a server or swarm that an active download uses.
type Source struct {
	URL, Host string // the URL is without its password
	State     string // its current activity, in words
	Working   bool   // a request to it is in progress
	Speed     int64  // bytes per second
	Bytes     int64  // bytes received from it
}

// A Notice is an event of an entry.
type Notice struct {
	What What
	GID  GID
}

// A What is the kind of an event.
type What uint8

// The kinds of events. OnSeed means that the file is in place and uploaded to peers.
const (
	OnStart What = iota
	OnPause
	OnStop // the entry was removed
	OnComplete
	OnError
	OnSeed
)

var notifications = [...]string{
	OnStart: "onDownloadStart", OnPause: "onDownloadPause", OnStop: "onDownloadStop", OnComplete: "onDownloadComplete",
	OnError: "onDownloadError", OnSeed: "onBtDownloadComplete",
}

// String returns the name of aria2's notification.
func (w What) String() string { return notifications[w] }

// An Error is the reason why the queue refused a command. Its text is aria2's.
type Error struct{ text string }

// Error returns the message.
func (e *Error) Error() string { return e.text }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Find returns the GID that begins with prefix. It returns an error if no GID or several GIDs begin with prefix.
func (q *Queue) Find(prefix string) (GID, error) { return q.items.find(prefix) }

// Selected reports whether the option select-file ("1,3-5", empty: all) has the file with this number.
func Selected(list string, number int) bool {
	for word := range strings.SplitSeq(list, ",") {
		first, last, ranged := strings.Cut(word, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if ranged {
			to, _ = strconv.Atoi(last)
		}
		if from <= number && number <= to {
			return true
		}
	}
	return list == ""
}
