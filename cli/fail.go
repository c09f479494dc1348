package cli

import (
	"context"
	"errors"
	"strings"

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

// A failure is what the user is told when something went wrong: whose fault, which thing, what next.
type failure struct {
	code  int
	what  string // what was done: "download", "usage"
	where string // to what: a masked URL, a path, a flag
	why   string
	kept  string // what was kept
	hint  string // the next step
	of    error  // what ended a download, if one did
}

// Error is one line: "<what> <where>: <why> (<what was kept>; <next step>)".
func (f *failure) Error() string {
	var b strings.Builder
	b.WriteString(f.what)
	if f.where != "" {
		b.WriteString(" " + f.where)
	}
	b.WriteString(": " + f.why)
	switch {
	case f.kept != "" && f.hint != "":
		b.WriteString(" (" + f.kept + "; " + f.hint + ")")
	case f.kept+f.hint != "":
		b.WriteString(" (" + f.kept + f.hint + ")")
	}
	return b.String()
}

// failurePrefix is what all failures begin with.
const failurePrefix = "braid:"

// line is the failure as it is printed (rule 61).
func (f *failure) line() string { return failurePrefix + " " + source.Escape(f.Error()) }

// misuse is a command line that makes no sense.
func misuse(where, why, hint string) *failure {
	return &failure{code: exitUsage, what: "usage", where: where, why: why, hint: hint}
}

// A wrongUse is something that contradicts itself if when is true.
type wrongUse struct {
	when             bool
	where, why, hint string
}

// firstMisuse returns the first of some wrong uses that is one.
func firstMisuse(uses []wrongUse) error {
	for _, wrong := range uses {
		if wrong.when {
			return misuse(wrong.where, wrong.why, wrong.hint)
		}
	}
	return nil
}

// localFailure is what went wrong with a file of the user's.
func localFailure(what, where string, err error) *failure {
	return &failure{code: exitLocal, what: what, where: where, why: reason(err)}
}

// outputFailure is for standard output that cannot be written, which is not what the command was asked for.
func outputFailure(err error) error {
	if err == nil {
		return nil
	}
	return &failure{code: exitLocal, what: "write", where: "standard output", why: reason(err)}
}

func failureOf(ctx context.Context, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	f := &failure{code: exitOther, what: "error", why: err.Error()}
	if code, ok := signalCode(ctx); ok && errors.Is(err, context.Canceled) {
		f.code = code
	}
	return f
}

// A reported error has been told to the user already; what is left is the exit code.
type reported int

func (r reported) Error() string { return "reported" }

// batchCode is the exit code of several downloads: an interruption beats everything, as what was not done may still go
// well or badly; then what is wrong with evidence, in this order; else the lowest above 1.
func batchCode(codes []int) int {
	worst := exitDone
	for _, code := range codes {
		if worst == exitDone || rank(code) < rank(worst) {
			worst = code
		}
	}
	return worst
}

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
