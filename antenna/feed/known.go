package feed

import "time"

// A Snapshot is what is known at one moment, for publishing it.
type Snapshot struct {
	Records []Known
	// Agent and AgentURL name the publishing agent: its name, and the URL at which what is published is to be found.
	Agent, AgentURL string
	Now             time.Time
}

// A Known is one record of a Snapshot.
type Known struct {
	Record
	// Own: it was observed, and not read.
	Own bool
	// Feed is the name of the feed that it was read from.
	Feed string
	// Trusted: that feed is relayed, and the record's agent is one of those that are trusted there.
	Trusted bool
	// TimeDetected is, for own observations, when the time of modification was last obtained. Other than Detected, a
	// look that found no time, or only another size, leaves it (Last-Detected in LIRS).
	TimeDetected Time
}
