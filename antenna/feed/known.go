package feed

import "time"

// A Snapshot is the state at one moment, for publication.
type Snapshot struct {
	Records []Known
	// Agent is the name of the publishing agent, and AgentURL the URL where it publishes.
	Agent, AgentURL string
	Now             time.Time
}

// A Known is a record of a Snapshot.
type Known struct {
	Record
	// Own reports that the agent itself made the record.
	Own bool
	// Feed is the name of the feed that has the record.
	Feed string
	// Trusted reports that the feed is relayed, and that its configuration trusts the record's agent.
	Trusted bool
	// TimeDetected is, for own observations, when a modification time was last obtained (Last-Detected in LIRS). An
	// observation without a modification time changes Detected, but not TimeDetected.
	TimeDetected Time
}
