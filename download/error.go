package download

import (
	"fmt"
)

// A Kind says which kind of problem ended a download. Each has its own exit code in the command.
type Kind uint8

// The kinds, from where the fault lies.
const (
	Other       Kind = iota
	Usage            // the request makes no sense
	Local            // our file system: name, space, permission, in use
	Network          // no source could be reached
	TLS              // certificate or handshake
	Auth             // credentials missing or refused
	Protocol         // contradictory or malformed metadata
	Refused          // the server has no such file
	Mismatch         // digest or size differ
	NoEvidence       // verification demanded and nothing to verify with
	Budget           // retries used up; the work so far is kept
	Limit            // larger than allowed
	Interrupted      // the context ended
)

// An Error is what every failed Get returns: what went wrong, where, what was kept and what to do next.
type Error struct {
	Kind  Kind
	What  string // what was being done: "download", "part file"
	Where string // masked URL or path
	Err   error
	Kept  int64  // bytes in the part file
	Part  string // path of the part file, "" if none is kept
	Hint  string // the next step, for people
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %v", e.What, e.Where, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
