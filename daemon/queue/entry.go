package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"braid/byterange"
)

// A GID identifies an entry. No entry has the GID 0.
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

// MarshalText returns g as 16 hexadecimal digits.
func (g GID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText sets g to the GID that text states in 16 hexadecimal digits.
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

// The statuses. A queue has three lists of entries: those that are Waiting or Paused, those that are Active, and
// stopped entries, which have any other status.
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

// UnmarshalText sets s to the status that has text as its word in aria2.
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

// An Entry is one download. It is stored as JSON. An Entry that the queue has returned never changes, and its slices
// and map must not be changed.
type Entry struct {
	GID      GID
	URIs     []string          `json:",omitempty"` // URLs of one file
	Relinked bool              `json:",omitempty"` // the URIs changed after the first attempt
	Document []byte            `json:",omitempty"` // a torrent or Metalink document that the client sent
	Options  map[string]string `json:",omitempty"` // as the client wrote them; newlines separate header fields
	Watch    string            `json:",omitempty"` // name of the watch that requested this version of the file, if any
	// Tentative makes an attempt that finds no file, or not the required proof of it, Early instead of a failure.
	Tentative bool `json:",omitempty"`
	Status    Status
	Priority  int `json:",omitempty"` // entries with a higher priority begin first
	// Rank orders the entries of each list. The queue sets it.
	Rank int64

	Added, Began, Ended time.Time `json:",omitzero"`  // Began and Ended refer to the last attempt
	Path                string    `json:",omitempty"` // path of the file, if known
	Size                int64     // -1 if unknown
	Done                int64     // bytes on disk when the download last stopped
	Outcome             Outcome   `json:",omitzero"` // result of the last attempt, if it has ended

	FollowedBy []GID `json:",omitempty"` // entries for the files that this entry's document describes
	Following  GID   `json:",omitzero"`  // entry with the document that describes the file of this entry
}

// An Outcome is the result of an attempt. The zero value is success.
type Outcome struct {
	Kind     string `json:",omitempty"` // kind of the error, as download.Kind.String returns it; empty after a success
	Code     int    `json:",omitempty"` // aria2's number of the error
	Message  string `json:",omitempty"`
	Reason   string `json:",omitempty"` // short form of Message, without host and digits; may be empty
	Hint     string `json:",omitempty"` // what the user can do next
	Verified string `json:",omitempty"` // what proved the file; empty if nothing did
	Attempts int    `json:",omitempty"` // number of attempts so far; the queue sets it
	Due      bool   `json:",omitempty"` // the file's journal, which records that the file is complete, is still to be removed
}

// Interrupted is the Kind of an attempt that was stopped from outside. It says nothing about the file.
const Interrupted = "interrupted"

// Yielded is the Kind of an attempt that was too slow while others waited. It says nothing about the file.
const Yielded = "yielded"

// Early is the Kind of an attempt for a file that its server does not have yet. Such an entry is no failure: it leaves the
// queue.
const Early = "early"

// A Live is the current state of a running download. It is not stored.
type Live struct {
	Path        string // path of the file
	Done, Size  int64  // Size is -1 if unknown
	Speed       int64  // bytes per second
	Worker      string // the process that downloads the file, unless the daemon itself does
	Connections int
	Have        byterange.Set // known ranges on disk
	Sources     []Source
	Seeding     bool  // the file is complete, and is being uploaded to peers
	Given       int64 // bytes uploaded to peers
}

// A Source is a server or swarm that an active download uses.
type Source struct {
	URL, Host string // the URL is without its password
	State     string // its current activity, as text
	Working   bool   // a request to it is in progress
	Speed     int64  // bytes per second
	Bytes     int64  // bytes received from it
}

// A Notice informs subscribers about an event of an entry.
type Notice struct {
	What What
	GID  GID
}

// A What is the kind of an event.
type What uint8

// The kinds of events. After OnSeed, the file is complete and is being uploaded to peers.
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

// String returns the name of aria2's notification for w.
func (w What) String() string { return notifications[w] }

// An Error is the reason why the queue refused a command. Its text is aria2's.
type Error struct{ text string }

// Error returns the message.
func (e *Error) Error() string { return e.text }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Find returns the only GID in the queue that begins with prefix. It is an error if no GID or more than one does.
func (q *Queue) Find(prefix string) (GID, error) { return q.items.find(prefix) }

// Selected reports whether list, a value of the option select-file such as "1,3-5", contains number. An empty list
// contains all numbers.
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
