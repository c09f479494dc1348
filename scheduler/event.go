package scheduler

import (
	"time"

	"braid/byterange"
)

// A SourceID names a source. The caller chooses it; 0 is the origin by convention only.
type SourceID int

// A FetchID names one fetch. The scheduler counts them from 1.
type FetchID int

// A Fault is how a fetch failed, and so what becomes of its source.
type Fault uint8

const (
	// FaultNone: the fetch ended because its range was done, or because it was cancelled.
	FaultNone Fault = iota
	// FaultTransient: another try makes sense, after a pause.
	FaultTransient
	// FaultHeld: the source was not asked, as its host has been asked often enough for now. That is no failure.
	FaultHeld
	// FaultGone: this source cannot serve the file; it is not asked again.
	FaultGone
	// FaultWrong: this source announced something else; it is banned for this download.
	FaultWrong
	// FaultWrongBytes: bytes that this source delivered are not those of the file. It is banned, and what it alone brought and no
	// check has passed is missing again.
	FaultWrongBytes
)

// An Event is something that happened outside.
type Event interface{ event() }

type (
	// SourceAdded makes a source known. Sources are tried in the order in which they are added,
	// unless what is known of their speed counts for more.
	SourceAdded struct {
		ID    SourceID
		Host  string        // host:port of its URL, until it answers
		Trips int           // round trips of setup that each request takes before the one of its first byte
		Align int64         // length of the pieces in which it gives its bytes, whole and in any order; 0 and 1: any byte, in order
		Lead  int64         // where a piece begins, if not at 0: it may be negative
		Slow  bool          // it takes its time: that it is silent means little
		Last  bool          // it is used when all others are, and have room beside them, or when there are no others
		Rate  float64       // remembered speed in bytes a second; 0: unknown
		RTT   time.Duration // remembered; 0: unknown
		// Brought is what of Config.Have this source brought and no check has passed.
		Brought byterange.Set
	}
	// Answered reports the header of an answer, before any byte of its body. If the actions that come
	// back cancel the fetch, its body must not be used.
	Answered struct {
		Fetch  FetchID
		Host   string // host:port that answers, after redirects
		RTT    time.Duration
		Size   int64 // of the whole file, -1 if unknown
		Ranged bool  // a range was answered with that range
	}
	// Progress reports that the bytes of Range are on disk. Fetch brought them.
	Progress struct {
		Fetch FetchID
		Range byterange.Range
	}
	// Coming reports that N bytes came of a piece that is not complete: Progress will report them. If N is negative, so many
	// were wrong.
	Coming struct {
		Fetch FetchID
		N     int64
	}
	// FetchEnded reports that nothing more will come of a fetch. Every Fetch gets exactly one.
	FetchEnded struct {
		Fetch FetchID
		Fault Fault
		After time.Duration // not to be asked again before (Retry-After); 0: the usual back-off
	}
	// SizeKnown reports how long the file is, when no answer contained it and everything is here.
	SizeKnown struct{ Size int64 }
	// Consumed reports how far the in-order reader of a stream came. The window is then counted from there, so that the
	// reader holds the sources back.
	Consumed struct{ Front int64 }
	// PiecesKnown reports that pieces of Length bytes can be checked; the last one may be shorter. So may the first: Lead bytes
	// of it lie before the file.
	PiecesKnown struct{ Length, Lead int64 }
	// PieceChecked is the result of a Check.
	PieceChecked struct {
		Piece int64
		OK    bool
	}
	// Tick is for when the wake time has come.
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

// An Action is something that the caller has to do, in the order given.
type Action interface{ action() }

type (
	// Fetch asks a source for a range. If Range.End is byterange.Unbounded the whole file is asked
	// for without a Range field.
	Fetch struct {
		ID     FetchID
		Source SourceID
		Range  byterange.Range
		Why    Reason
	}
	// Shrink lowers the end of a fetch, which ends there.
	Shrink struct {
		ID  FetchID
		End int64
		Why Reason
	}
	// Cancel ends a fetch at once. What it wrote before may still be reported.
	Cancel struct {
		ID  FetchID
		Why Reason
	}
	// Check demands the check of a piece whose bytes are all on disk. Every Check gets exactly one PieceChecked.
	Check struct {
		Piece int64
		Range byterange.Range
	}
	// Ban reports that a source brought wrong bytes, and is not asked again.
	Ban struct{ Source SourceID }
	// Discard reports that bytes which are here are wrong, or of a source that is banned: they have to be forgotten before what
	// follows is done, and a source whose fetch was cancelled for them must not write any more.
	Discard struct{ Range byterange.Range }
	// Finish reports that every byte is on disk, every fetch has ended and every check was passed.
	Finish struct{}
	// Fail reports that no source is left that could bring what is missing.
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

// A Reason is why something is done, for reports. No decision depends on it.
type Reason uint8

// Why a range is asked for.
const (
	// ReasonFirst: the first answer shows what the file is, or no other source is at work.
	ReasonFirst Reason = iota + 1
	// ReasonNext: the source is through with its last range.
	ReasonNext
	// ReasonGrowth: one more source, to see whether the aggregate grows.
	ReasonGrowth
	// ReasonRemembered: a source known to be fast from an earlier time.
	ReasonRemembered
	// ReasonReturn: a source that was closed or failed is used again.
	ReasonReturn
	// ReasonExchange: an untried source in the place of the weakest.
	ReasonExchange
	// ReasonSplit: the part of another's range that this source finishes sooner. The other's end is
	// lowered for the same reason.
	ReasonSplit
	// ReasonPiece: a piece was wrong that several had brought; one source fetches all of it.
	ReasonPiece
)

// Why a fetch is ended, or its end lowered.
const (
	// ReasonMet: the first answer, which goes on to the end of the file, met the range of another.
	ReasonMet Reason = iota + 32
	// ReasonSilent: nothing came for too long.
	ReasonSilent
	// ReasonSlow: it would take far too long, after a collapse or a guess that was wrong.
	ReasonSlow
	// ReasonUseless: the aggregate did not grow by it.
	ReasonUseless
	// ReasonCrowded: on trial, as the sources seem to share one link that fewer of them fill.
	ReasonCrowded
	// ReasonSameHost: another name of a host that is at work already.
	ReasonSameHost
	// ReasonNoRanges: it answers ranges with the whole file, and others do better.
	ReasonNoRanges
	// ReasonWrongBytes: a piece that only this source brought was wrong.
	ReasonWrongBytes
	// ReasonDone: every byte is here.
	ReasonDone
)

var reasons = map[Reason]string{
	ReasonFirst: "first", ReasonNext: "next", ReasonGrowth: "growth", ReasonRemembered: "remembered", ReasonReturn: "return",
	ReasonExchange: "exchange", ReasonSplit: "split", ReasonMet: "met", ReasonSilent: "silent", ReasonSlow: "slow",
	ReasonUseless: "useless", ReasonCrowded: "crowded", ReasonSameHost: "same host", ReasonNoRanges: "no ranges",
	ReasonPiece: "piece", ReasonWrongBytes: "lied", ReasonDone: "done",
}

func (r Reason) String() string { return reasons[r] }
