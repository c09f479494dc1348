package cli

import (
	"cmp"
	"context"
	"errors"

	"braid/download"
	"braid/internal/problem"
	"braid/source"
)

// The exit codes. They are documented and none is ever given another meaning.
const (
	exitDone         = 0   // done, and verified to the level that was asked for
	exitOther        = 1   // none of the others
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
	exitNoEvidence   = 12  // verification demanded and nothing to verify with
	exitBudget       = 13  // retries used up, with work that can be resumed
	exitLimit        = 14  // a limit was exceeded
	exitSignal       = 128 // plus the number of the signal: 130, 143
)

// exitCodes are the exit codes of the kinds of problems. No other file has one of a kind.
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
	download.Interrupted:  exitSignal + 2, // by another signal: exitCode
}

// exitCode returns the exit code of a problem.
func exitCode(p *problem.Problem) int {
	if e, ok := errors.AsType[*signalError](p.Err); ok && p.Kind == download.Interrupted {
		return e.code()
	}
	return kindCode(p.Kind)
}

// kindCode returns the exit code of a kind of problems.
func kindCode(k download.Kind) int { return cmp.Or(exitCodes[k], exitOther) }

// exitKind returns the kind of problems that has an exit code; Other for a code that no kind has.
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

// errorLine returns a problem as it is printed (rule 61).
func errorLine(p *problem.Problem) string { return errorPrefix + " " + source.Escape(p.Error()) }

// errorPrefix is what the lines of all problems begin with.
const errorPrefix = "braid:"

// A wrongUse is something that contradicts itself if when is true.
type wrongUse struct {
	when             bool
	where, why, hint string
}

// firstMisuse returns the first of some wrong uses that is one.
func firstMisuse(uses []wrongUse) error {
	for _, wrong := range uses {
		if wrong.when {
			return problem.Misuse(wrong.where, wrong.why, wrong.hint)
		}
	}
	return nil
}

// outputFailure is for standard output that cannot be written, which is not what the command was asked for.
func outputFailure(err error) error {
	if err == nil {
		return nil
	}
	return problem.Local("write", "standard output", err)
}

// problemOf returns the problem in the chain of err, or makes one of it. The context is that of the command: it says
// whether a signal ended it.
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

// A reported error has been told to the user already; what is left is the exit code.
type reported int

func (r reported) Error() string { return "reported" }

// batchCode is the exit code of several downloads: an interruption beats everything, as what was not done may still
// go well or badly; then what is wrong with evidence, in this order; else the lowest above 1.
func batchCode(codes []int) int {
	worst := exitDone
	for _, code := range codes {
		if worst == exitDone || rank(code) < rank(worst) {
			worst = code
		}
	}
	return worst
}

// worse reports whether a kind says more about a batch than another.
func worse(a, b download.Kind) bool { return rank(kindCode(a)) < rank(kindCode(b)) }

// rank orders exit codes by what they say about a batch; the least one is told.
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
