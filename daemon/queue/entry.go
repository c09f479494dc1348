package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"braid/byterange"
)

// A GID names an entry. Zero names none.
type GID uint64

// String is the 16 hexadecimal digits of g.
func (g GID) String() string { return fmt.Sprintf("%016x", uint64(g)) }

// gidDigits is how many digits a whole GID has.
const gidDigits = 16

// ParseGID reads the 16 digits of a GID.
func ParseGID(s string) (g GID, ok bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	return GID(n), err == nil && len(s) == gidDigits && n != 0
}

// MarshalText writes the digits.
func (g GID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the digits.
func (g *GID) UnmarshalText(text []byte) error {
	n, ok := ParseGID(string(text))
	if !ok {
		return fmt.Errorf("%.20q is no GID", text)
	}
	*g = n
	return nil
}

// A Status is what becomes of an entry.
type Status uint8

// The statuses. Waiting and paused entries are in one list, active ones in another, and the others in that of the stopped ones.
const (
	Waiting Status = iota
	Active
	Paused
	Complete
	Failed
	Removed // by the user
)

var statuses = [...]string{Waiting: "waiting", Active: "active", Paused: "paused", Complete: "complete", Failed: "error", Removed: "removed"}

// String is the word that aria2 has for s.
func (s Status) String() string {
	if int(s) < len(statuses) {
		return statuses[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText writes the word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
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

// An Entry is one download. It is what is stored, as JSON. One that the queue has given out never changes, and its
// slices and its map must not be changed.
type Entry struct {
	GID      GID
	URIs     []string          `json:",omitempty"` // of one file: the origin, then mirrors
	Relinked bool              `json:",omitempty"` // they were changed after it had begun
	Document []byte            `json:",omitempty"` // a .torrent or Metalink document that the client gave
	Options  map[string]string `json:",omitempty"` // as the client wrote them; header fields are joined by newlines
	Watch    string            `json:",omitempty"` // the watch that wants this version of a file; empty: a client does
	Status   Status
	Priority int `json:",omitempty"` // higher ones begin first
	// Rank orders the entries of a list. The queue sets it.
	Rank int64

	Added, Began, Ended time.Time `json:",omitzero"`  // Began and Ended are of the last attempt
	Path                string    `json:",omitempty"` // where the file is or will be, if that is known
	Size                int64     // -1: unknown
	Done                int64     // bytes of it that are here, as of the last time that it stopped
	Outcome             Outcome   `json:",omitzero"` // of one that ended

	FollowedBy []GID `json:",omitempty"` // what the file of this entry describes
	Following  GID   `json:",omitzero"`  // the entry that described this one
}

// An Outcome is how an attempt ended. The zero value is success.
type Outcome struct {
	Kind     string `json:",omitempty"` // the kind of the error, in the words of download.Kind; empty: none
	Code     int    `json:",omitempty"` // aria2's number for it
	Message  string `json:",omitempty"`
	Reason   string `json:",omitempty"` // the message in a few words, without host and digits; empty: it has none
	Hint     string `json:",omitempty"` // what to do next
	Verified string `json:",omitempty"` // what proved the file; empty: nothing
	Attempts int    `json:",omitempty"` // how often it was begun; the queue sets it
	Due      bool   `json:",omitempty"` // the file's journal, which says that it came, is still to be removed
}

// Interrupted is the kind of an outcome that says nothing of the file: the attempt was ended from outside.
const Interrupted = "interrupted"

// Yielded is the kind of an outcome that says nothing of the file either: the download was too slow while others waited
// for its place.
const Yielded = "yielded"

// A Live is what a download does now. It is not stored.
type Live struct {
	Path        string // where the file is or will be
	Done, Size  int64  // Size is -1 while unknown
	Speed       int64  // bytes a second
	Worker      string // the process that does it, if it is not the daemon
	Connections int
	Have        byterange.Set // what is here, as far as it is known in detail
	Sources     []Source
	Seeding     bool  // the file is in place, and peers can have it
	Given       int64 // bytes that peers got
}

// A Source is one that an active download uses.
type Source struct {
	URL, Host string // the URL is masked
	State     string // what it does, in words
	Working   bool   // a request to it runs
	Speed     int64  // bytes a second
	Bytes     int64  // that it brought
}

// A Notice says that something happened to an entry.
type Notice struct {
	What What
	GID  GID
}

// What happened to an entry.
type What uint8

// What may happen. OnSeed is for a file that is in place and given to peers.
const (
	OnStart What = iota
	OnPause
	OnStop // it was removed
	OnComplete
	OnError
	OnSeed
)

var notifications = [...]string{
	OnStart: "onDownloadStart", OnPause: "onDownloadPause", OnStop: "onDownloadStop", OnComplete: "onDownloadComplete",
	OnError: "onDownloadError", OnSeed: "onBtDownloadComplete",
}

// String is the name of aria2's notification.
func (w What) String() string { return notifications[w] }

// An Error says why the queue did not do what it was asked to. Its text is aria2's.
type Error struct{ text string }

// Error is the text.
func (e *Error) Error() string { return e.text }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Find is the entry whose GID begins with these digits, if there is only one.
func (q *Queue) Find(prefix string) (GID, error) {
	if g, ok := ParseGID(prefix); ok {
		if q.items[g] == nil {
			return 0, refuse("GID %s is not found", prefix)
		}
		return g, nil
	}
	if prefix == "" || len(prefix) >= gidDigits || strings.Trim(strings.ToLower(prefix), "0123456789abcdef") != "" {
		return 0, refuse("Invalid GID %s", prefix)
	}
	low, _ := strconv.ParseUint(prefix+strings.Repeat("0", gidDigits-len(prefix)), 16, 64)
	high := low | (1<<(4*(gidDigits-len(prefix))) - 1)
	var found GID
	for g := range q.items {
		if uint64(g) < low || uint64(g) > high {
			continue
		}
		if found != 0 {
			return 0, refuse("GID %s is not unique", prefix)
		}
		found = g
	}
	if found == 0 {
		return 0, refuse("GID %s is not found", prefix)
	}
	return found, nil
}

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
