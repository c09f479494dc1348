package cli

import (
	"cmp"
	"context"
	"errors"

	"braid/download"
	"braid/internal/hint"
	"braid/internal/partfile"
	"braid/internal/problem"
)

// The exit codes. They are documented, and their meaning never changes.
const (
	exitDone         = 0   // done, and verified to the required level
	exitOther        = 1   // other failure
	exitUsage        = 2   // usage or configuration
	exitLocal        = 3   // local file: exists, name refused, disk full, permissions
	exitNetwork      = 4   // DNS, connection, timeout, no source left
	exitTLS          = 5   // TLS
	exitAuth         = 6   // authentication
	exitProtocol     = 7   // protocol or metadata
	exitRefused      = 8   // refused by the server
	exitNoKey        = 9   // signature cannot be checked
	exitBadSignature = 10  // signature bad, expired or revoked
	exitMismatch     = 11  // digest or size differs
	exitNoEvidence   = 12  // verification was required, but there is no evidence
	exitBudget       = 13  // retries exhausted; the work can be resumed
	exitLimit        = 14  // a limit was exceeded
	exitSignal       = 128 // plus the number of the signal: 130 or 143
)

// exitCodes maps kinds of problems to exit codes. No other table does that.
var exitCodes = map[download.Kind]int{
	download.Other:        exitOther,
	download.Usage:        exitUsage,
	download.Local:        exitLocal,
	download.Network:      exitNetwork,
	download.TLS:          exitTLS,
	download.Auth:         exitAuth,
	download.Protocol:     exitProtocol,
	download.Refused:      exitRefused,
	download.Mismatch:     exitMismatch,
	download.NoEvidence:   exitNoEvidence,
	download.Budget:       exitBudget,
	download.Limit:        exitLimit,
	download.NoKey:        exitNoKey,
	download.BadSignature: exitBadSignature,
	download.Interrupted:  exitSignal + 2, // for SIGINT; exitCode handles other signals
}

// exitCode returns the exit code for p.
func exitCode(p *problem.Problem) int {
	if e, ok := errors.AsType[*signalError](p.Err); ok && p.Kind == download.Interrupted {
		return e.code()
	}
	return kindCode(p.Kind)
}

// kindCode returns the exit code for problems of kind k, or exitOther if k has none.
func kindCode(k download.Kind) int { return cmp.Or(exitCodes[k], exitOther) }

// exitKind returns the kind of problem that has the exit code. The default is Other.
func exitKind(code int) download.Kind {
	if code > exitSignal {
		return download.Interrupted
	}
	for kind, of := range exitCodes {
		if of == code {
			return kind
		}
	}
	return download.Other
}

// A wrongUse describes a possible misuse of flags or operands. when reports whether the misuse is present.
type wrongUse struct {
	when             bool
	where, why, hint string
}

// firstMisuse returns a problem for the first misuse that is present, or nil.
func firstMisuse(uses []wrongUse) error {
	for _, wrong := range uses {
		if wrong.when {
			return problem.Misuse(wrong.where, wrong.why, wrong.hint)
		}
	}
	return nil
}

// outputFailure converts an error in writing to standard output to a problem.
func outputFailure(err error) error {
	if err == nil {
		return nil
	}
	return problem.Local("write", "standard output", err)
}

// problemOf returns the problem in the chain of err, or converts err to a problem. ctx is the context of the command:
// its cause shows whether a signal ended the command.
func problemOf(ctx context.Context, err error) *problem.Problem {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p
	}
	p := problem.Of(err)
	if signal := signalOf(ctx); signal != nil && errors.Is(err, context.Canceled) {
		p.Kind, p.Err = download.Interrupted, signal
	}
	return p
}

// downloadProblem converts a download's error to a problem that states the kept bytes and has a hint about flags. ctx
// is the context of the command.
func downloadProblem(ctx context.Context, err error) *problem.Problem {
	e, ok := errors.AsType[*download.Error](err)
	if !ok {
		return problemOf(ctx, err)
	}
	p := hint.Problem(e)
	if ended := endedBy(e.Err); ended != "" {
		p.Why = ended
	}
	if e.Kind != download.Interrupted {
		return p
	}
	if signal := signalOf(ctx); signal != nil {
		p.Err = errors.Join(e, signal)
	}
	if _, late := errors.AsType[*timeUpError](context.Cause(ctx)); late {
		p.Kind = download.Network // rule 21: nothing was kept to resume
		if e.Kept > 0 {
			p.Kind = download.Budget
		}
	}
	return p
}

// endedBy returns the text of a signal or an exceeded time limit in the chain of err, or "" if it contains neither.
func endedBy(err error) string {
	text := ""
	if e, ok := errors.AsType[*signalError](err); ok {
		text = e.Error()
	} else if e, ok := errors.AsType[*timeUpError](err); ok {
		text = e.Error()
	}
	if moved, ok := errors.AsType[*partfile.MovedError](err); ok && text != "" { // the part file was moved
		text += "; " + moved.Error()
	}
	return text
}

// A reported error carries the exit code of a failure. The failure's message has already been printed.
type reported int

func (r reported) Error() string { return "reported" }

// batchCode returns the exit code for downloads that ended with codes. An interruption takes precedence, because the result
// of the remaining downloads is unknown. Failed verifications follow in the order of rank, and then the lowest code above 1.
func batchCode(codes []int) int {
	worst := exitDone
	for _, code := range codes {
		if worst == exitDone || rank(code) < rank(worst) {
			worst = code
		}
	}
	return worst
}

// worse reports whether kind a takes precedence over b in the exit code of a batch.
func worse(a, b download.Kind) bool { return rank(kindCode(a)) < rank(kindCode(b)) }

// rank orders exit codes by precedence. The code with the lowest rank becomes the code of the batch.
func rank(code int) int {
	for i, evil := range [...]int{exitBadSignature, exitMismatch, exitNoKey, exitNoEvidence} {
		if code == evil {
			return i - 4
		}
	}
	switch {
	case code == exitDone:
		return 1 << 30
	case code == exitOther:
		return 1 << 20
	case code > exitSignal:
		return code - 1000
	}
	return code
}
