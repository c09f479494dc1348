package cli

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"braid/download"
	"braid/source"
)

// kindCodes are the exit codes of the kinds of problems that end a download.
var kindCodes = map[download.Kind]int{
	download.Other:       exitOther,
	download.Usage:       exitUsage,
	download.Local:       exitLocal,
	download.Network:     exitNetwork,
	download.TLS:         exitTLS,
	download.Auth:        exitAuth,
	download.Protocol:    exitProtocol,
	download.Refused:     exitRefused,
	download.Mismatch:    exitMismatch,
	download.NoEvidence:  exitNoEvidence,
	download.Budget:      exitBudget,
	download.Limit:       exitLimit,
	download.Interrupted: exitSignal + 2,
}

// kindHints are next steps for those who have nothing to go on with.
var kindHints = map[download.Kind]string{
	download.Network:    "check the address and the network",
	download.TLS:        "SSL_CERT_FILE names further authorities",
	download.Auth:       "-u USER:PASSWORD gives credentials",
	download.Refused:    "check the URL",
	download.NoEvidence: "--sha256 HEX is evidence, too",
	download.Limit:      "--max-size SIZE sets the limit",
}

// downloadFailure tells the error of a download.
func downloadFailure(ctx context.Context, err error) *failure {
	e, ok := errors.AsType[*download.Error](err)
	if !ok {
		return failureOf(ctx, err)
	}
	code, ok := kindCodes[e.Kind]
	if !ok {
		code = exitOther
	}
	if bySignal, ok := signalCode(ctx); ok && e.Kind == download.Interrupted {
		code = bySignal
	}
	f := &failure{code: code, what: e.What, where: e.Where, why: cause(e.Err, e.Where), hint: e.Hint}
	switch {
	case e.Kept > 0 && e.Part != "":
		f.kept = sizeText(e.Kept) + " kept in " + e.Part
		if f.hint == "" {
			f.hint = "run the same command to go on"
		}
	case e.Kind != download.Usage && e.Kind != download.Local:
		f.kept = "nothing kept"
	}
	if f.hint == "" {
		f.hint = kindHints[e.Kind]
	}
	return f
}

// cause is the text of an error, without the name of the host when it is part of where.
func cause(err error, where string) string {
	if err == nil {
		return "no reason given"
	}
	if e, ok := errors.AsType[*signalError](err); ok {
		return e.Error()
	}
	e, ok := errors.AsType[*source.Error](err)
	if ok && strings.Contains(where, "/"+e.Host+"/") {
		return strings.TrimPrefix(err.Error(), e.Host+": ")
	}
	return err.Error()
}

// reason is the text of an error about a file, without the name of the file.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// why is the text of a source's error, short enough for a line among many.
func why(err error) string {
	if err == nil {
		return ""
	}
	return shorten(source.Escape(err.Error()), 160)
}
