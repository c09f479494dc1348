package scheduler

// A Reason is why something is done, for people who want to see what went on. No decision depends on it.
type Reason uint8

// Why a range is asked for.
const (
	// ReasonFirst: a source has to say what the file is, or no other is at work.
	ReasonFirst Reason = iota + 1
	// ReasonNext: the source is through with its last range.
	ReasonNext
	// ReasonGrowth: one more source, to see whether the aggregate grows (S11).
	ReasonGrowth
	// ReasonRemembered: a source known to be fast from an earlier time.
	ReasonRemembered
	// ReasonReturn: a source that was closed or failed is used again.
	ReasonReturn
	// ReasonExchange: an untried source in the place of the weakest (S13).
	ReasonExchange
	// ReasonSplit: the part of another's range that this source finishes sooner. The other's end is
	// lowered for the same reason.
	ReasonSplit
	// ReasonPiece: a piece was wrong that several had brought; one source fetches all of it.
	ReasonPiece
)

// Why a fetch is ended, or its end lowered.
const (
	// ReasonMet: the first answer, which goes on to the end of the file, met the range of another (S17).
	ReasonMet Reason = iota + 32
	// ReasonSilent: nothing came for too long (S16).
	ReasonSilent
	// ReasonSlow: it would take far too long, after a collapse or a guess that was wrong (S16).
	ReasonSlow
	// ReasonUseless: the aggregate did not grow by it (C6).
	ReasonUseless
	// ReasonCrowded: on trial, as the sources seem to share one link that fewer of them fill.
	ReasonCrowded
	// ReasonSameHost: another name of a host that is at work already (C7).
	ReasonSameHost
	// ReasonNoRanges: it answers ranges with the whole file, and others do better (S15).
	ReasonNoRanges
	// ReasonLied: a piece that only this source brought was wrong.
	ReasonLied
	// ReasonDone: every byte is here.
	ReasonDone
)

var reasons = map[Reason]string{
	ReasonFirst: "first", ReasonNext: "next", ReasonGrowth: "growth", ReasonRemembered: "remembered", ReasonReturn: "return",
	ReasonExchange: "exchange", ReasonSplit: "split", ReasonMet: "met", ReasonSilent: "silent", ReasonSlow: "slow",
	ReasonUseless: "useless", ReasonCrowded: "crowded", ReasonSameHost: "same host", ReasonNoRanges: "no ranges",
	ReasonPiece: "piece", ReasonLied: "lied", ReasonDone: "done",
}

// String is the reason in a word or two.
func (r Reason) String() string { return reasons[r] }
