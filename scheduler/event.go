package scheduler

import (
	"time"

	"braid/byterange"
)

// SourceID identifies a source. The caller chooses it; by convention 0 is the origin.
type SourceID int

// FetchID identifies a fetch. The scheduler numbers the fetches from 1.
type FetchID int

// Fault is the way in which a fetch failed. It determines how the source of the fetch is used afterwards.
type Fault uint8

const (
	// FaultNone means that the fetch ended because its range was complete or the fetch was cancelled.
	FaultNone Fault = iota
	// FaultTransient means that another attempt makes sense, after a pause.
	FaultTransient
	// FaultHeld means that the source was not asked, because its host has reached a request limit. It is not a failure.
	FaultHeld
	// FaultGone means that the source cannot serve the file, and is not used again.
	FaultGone
	// FaultWrong means that the source announced another file, and is banned from this download.
	FaultWrong
	// FaultWrongBytes means that the source delivered wrong bytes. The source is banned, and its unchecked bytes are
	// missing again.
	FaultWrongBytes
)

// Event is an external event.
type Event interface{ event() }

type (
	// SourceAdded adds a source. Sources are tried in the order in which they are added, unless their remembered speeds
	// suggest another order.
	SourceAdded struct {
		ID    SourceID
		Host  string        // host:port of the URL; Answered may report another
		Trips int           // round trips that each request needs before the round trip for its first byte
		Align int64         // length of the pieces, if the source delivers pieces in any order; 0 or 1: bytes in order
		Lead  int64         // offset of the first piece, if not 0; may be negative
		Slow  bool          // the source may be silent for a long time without having failed
		Last  bool          // last resort: used only when all other sources, if any, are in use
		Rate  float64       // remembered speed in bytes a second; 0 if unknown
		RTT   time.Duration // remembered round-trip time; 0 if unknown
		// Brought are the bytes of Config.Have that this source delivered and that passed no check.
		Brought byterange.Set
	}
	// Answered reports the header section of an answer, before any byte of its body. If the returned actions cancel the
	// fetch, the body must not be used.
	Answered struct {
		Fetch  FetchID
		Host   string // host:port that answers, after redirects
		RTT    time.Duration
		Size   int64 // size of the whole file; -1 if unknown
		Ranged bool  // the requested range was answered with that range
	}
	// Progress reports that the bytes of Range, delivered by Fetch, are on disk.
	Progress struct {
		Fetch FetchID
		Range byterange.Range
	}
	// Coming reports N received bytes of an incomplete piece, which Progress will report when the piece is complete. A
	// negative N means that as many bytes were wrong.
	Coming struct {
		Fetch FetchID
		N     int64
	}
	// FetchEnded reports that a fetch has ended. It is sent exactly once for each Fetch.
	FetchEnded struct {
		Fetch FetchID
		Fault Fault
		After time.Duration // minimum pause before the next request (Retry-After); 0 for the usual back-off
	}
	// SizeKnown reports the size of the file once all bytes are present, if no answer contained the size.
	SizeKnown struct{ Size int64 }
	// Consumed reports the position of the in-order reader of a stream. The window then begins there, so that a slow
	// reader slows down the sources.
	Consumed struct{ Front int64 }
	// PiecesKnown reports that pieces of Length bytes can be checked. The last piece may be shorter. The
	// first piece begins Lead bytes before the file.
	PiecesKnown struct{ Length, Lead int64 }
	// PieceChecked is the result of a Check.
	PieceChecked struct {
		Piece int64
		OK    bool
	}
	// Tick reports that the wake time has come.
	Tick struct{}
)

func (SourceAdded) event()  {}
func (Answered) event()     {}
func (Progress) event()     {}
func (Coming) event()       {}
func (FetchEnded) event()   {}
func (SizeKnown) event()    {}
func (Consumed) event()     {}
func (PiecesKnown) event()  {}
func (PieceChecked) event() {}
func (Tick) event()         {}

// Action is something that the caller must do, in the given order.
type Action interface{ action() }

type (
	// Fetch asks a source for a range. If Range.End is byterange.Unbounded, it asks for the whole file.
	Fetch struct {
		ID     FetchID
		Source SourceID
		Range  byterange.Range
		Why    Reason
	}
	// Shrink lowers the end of a fetch.
	Shrink struct {
		ID  FetchID
		End int64
		Why Reason
	}
	// Cancel ends a fetch immediately. Bytes that it wrote before may still be reported.
	Cancel struct {
		ID  FetchID
		Why Reason
	}
	// Check requests the check of a piece whose bytes are all on disk. The caller must answer with exactly one
	// PieceChecked.
	Check struct {
		Piece int64
		Range byterange.Range
	}
	// Ban reports that a source delivered wrong bytes and is not used again.
	Ban struct{ Source SourceID }
	// Discard reports that present bytes are wrong, or came from a banned source. The caller must remove these bytes before
	// it carries out the following actions. A fetch that was cancelled because of these bytes must not write afterwards.
	Discard struct{ Range byterange.Range }
	// Finish reports that every byte is on disk, every fetch has ended and every check has passed.
	Finish struct{}
	// Fail reports that no source is left that could deliver the missing bytes.
	Fail struct{}
)

func (Fetch) action()   {}
func (Shrink) action()  {}
func (Cancel) action()  {}
func (Check) action()   {}
func (Ban) action()     {}
func (Discard) action() {}
func (Finish) action()  {}
func (Fail) action()    {}

// Reason is the reason of an action, for reports. No decision depends on it.
type Reason uint8

// The reasons for a request.
const (
	// ReasonFirst means that the first answer must describe the file, or that no other source is in use.
	ReasonFirst Reason = iota + 1
	// ReasonNext means that the source has finished its last range.
	ReasonNext
	// ReasonGrowth means that another source is tried to see whether the total speed grows.
	ReasonGrowth
	// ReasonRemembered means that the source was fast in an earlier download.
	ReasonRemembered
	// ReasonReturn means that a source that was closed or failed is used again.
	ReasonReturn
	// ReasonExchange means that an untried source replaces the weakest source.
	ReasonExchange
	// ReasonSplit means that the source takes over a part of another source's range that it can finish sooner. The
	// other fetch is shortened for the same reason.
	ReasonSplit
	// ReasonPiece means that a piece from several sources was wrong and is fetched again from one source.
	ReasonPiece
)

// The reasons for ending or shortening a fetch.
const (
	// ReasonMet means that a fetch to the end of the file met the range of another fetch.
	ReasonMet Reason = iota + 32
	// ReasonSilent means that the fetch received no bytes for too long.
	ReasonSilent
	// ReasonSlow means that the fetch would take far too long, because the speed collapsed or was guessed wrong.
	ReasonSlow
	// ReasonUseless means that the connection did not increase the total speed.
	ReasonUseless
	// ReasonCrowded means that the connection was closed on trial, because fewer sources seem to fill the link that
	// they share.
	ReasonCrowded
	// ReasonSameHost means that the source is another name of a host that is in use.
	ReasonSameHost
	// ReasonNoRanges means that the source answers ranges with the whole file, and other sources do better.
	ReasonNoRanges
	// ReasonWrongBytes means that the source alone delivered all of a wrong piece.
	ReasonWrongBytes
	// ReasonDone means that all bytes are present.
	ReasonDone
)

var reasons = map[Reason]string{
	ReasonFirst: "first", ReasonNext: "next", ReasonGrowth: "growth", ReasonRemembered: "remembered", ReasonReturn: "return",
	ReasonExchange: "exchange", ReasonSplit: "split", ReasonMet: "met", ReasonSilent: "silent", ReasonSlow: "slow",
	ReasonUseless: "useless", ReasonCrowded: "crowded", ReasonSameHost: "same host", ReasonNoRanges: "no ranges",
	ReasonPiece: "piece", ReasonWrongBytes: "lied", ReasonDone: "done",
}

func (r Reason) String() string { return reasons[r] }
