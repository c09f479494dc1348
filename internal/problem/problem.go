// Package problem defines the error value with which a part of the program reports a failure to the user: its kind, the
// operation, its object, the reason and the next step. Each part of the program words its own problems. The command
// prints them and derives the exit code from the kind.
//
// The kinds are those of a download ([download.Kind]), because programs that import the library need them as well. The
// command needs no further kinds: each exit code belongs to one of them. This package derives from a kind the error code
// of aria2 ([Aria2Code]), whether a worker tries a job again ([FleetKind]), and whether a watcher does ([Lasting]).
//
// The package does not mention flags, and a Problem has no exit code: both belong to the command.
//
//	return problem.Local("folder", dir, err).WithHint("-d FOLDER names another")
//	// folder /d: permission denied (-d FOLDER names another)
package problem

import (
	"errors"
	"io/fs"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/source"
)

// A Problem is an error message for the user, in parts.
type Problem struct {
	Kind  download.Kind
	What  string // the operation: "download", "usage"
	Where string // the object of the operation: a masked URL, a path, a flag
	Why   string
	Kept  string // data that was kept, as a text
	Hint  string // the next step
	// Err is the cause, if a download or a signal ended the operation. There is no Unwrap method, because a Problem may
	// be of another kind than its cause.
	Err error
}

// Error returns one line: "<operation> <object>: <reason> (<kept>; <next step>)". Untrusted text in it is not escaped.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.What)
	if p.Where != "" {
		b.WriteString(" " + p.Where)
	}
	b.WriteString(": " + p.Why)
	switch {
	case p.Kept != "" && p.Hint != "":
		b.WriteString(" (" + p.Kept + "; " + p.Hint + ")")
	case p.Kept+p.Hint != "":
		b.WriteString(" (" + p.Kept + p.Hint + ")")
	}
	return b.String()
}

// Gist returns "<where>: <why>", for a line that already describes the operation.
func (p *Problem) Gist() string { return strings.Trim(p.Where+": "+p.Why, ": ") }

// Misuse returns the Problem for an invalid command line, configuration or request.
func Misuse(where, why, hint string) *Problem {
	return &Problem{Kind: download.Usage, What: "usage", Where: where, Why: why, Hint: hint}
}

// Local returns the Problem for an error with a file or folder on this machine.
func Local(what, where string, err error) *Problem {
	return &Problem{Kind: download.Local, What: what, Where: where, Why: Reason(err)}
}

// WithHint sets the next step to hint and returns p.
func (p *Problem) WithHint(hint string) *Problem {
	p.Hint = hint
	return p
}

// Of returns the Problem in the chain of err. If the chain has none, Of returns a Problem of kind [download.Other] with
// the text of err.
func Of(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return &Problem{Kind: download.Other, What: "error", Why: err.Error()}
}

// OfDownload converts the [download.Error] in the chain of err to a Problem. Without one it returns Of(err). The Hint
// of the Problem is the library's, and Kept is empty: the command sets its own texts for both.
func OfDownload(err error) *Problem {
	e, ok := errors.AsType[*download.Error](err)
	if !ok {
		return Of(err)
	}
	return &Problem{
		Kind: e.Kind, What: e.What, Where: e.Where, Why: cause(e.Err, e.Where), Hint: string(e.Hint), Err: e,
	}
}

// cause returns the text of err, without the name of the host if where contains it.
func cause(err error, where string) string {
	if err == nil {
		return "no reason given"
	}
	if e, ok := errors.AsType[*partfile.SpaceError](err); ok {
		return e.Path + ": needs " + option.SizeText(e.Need) + " more, but the file system has " + option.SizeText(e.Free)
	}
	e, ok := errors.AsType[*source.Error](err)
	if ok && strings.Contains(where, "/"+e.Host+"/") {
		return strings.TrimPrefix(err.Error(), e.Host+": ")
	}
	return err.Error()
}

// Reason returns the text of err without the name of the file, if err is an [fs.PathError].
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
