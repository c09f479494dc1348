package report

import (
	"errors"
	"fmt"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/source"
	"braid/verify"
)

// Why returns the text of err, a source's error, shortened for a line in a list. It omits host, which that line shows already.
func Why(err error, host string) string {
	if err == nil {
		return ""
	}
	return option.Shorten(strings.TrimPrefix(source.Escape(bare(err).Error()), host+": "), 160)
}

// bare returns the cause of err if err is a *download.Error. The operation and the place are shown elsewhere.
func bare(err error) error {
	if e, ok := errors.AsType[*download.Error](err); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// Reason describes in a few words why a download failed. It omits the host, the URL and long digests, which err contains.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	return source.Escape(reasonOf(bare(err)))
}

func reasonOf(err error) string {
	if e, ok := errors.AsType[*verify.MismatchError](err); ok {
		return fmt.Sprintf("wrong digest: does not match the %v", e.Claim)
	}
	if e, ok := errors.AsType[*verify.ConflictError](err); ok {
		return fmt.Sprintf("digests differ: %v, and %v", e.A, e.B)
	}
	if e, ok := errors.AsType[*verify.SignatureError](err); ok && e.Of == "" {
		return "signature " + e.Code.String()
	}
	if e, ok := errors.AsType[*download.NoSourceError](err); ok && len(e.Errs) > 1 && e.Last != nil {
		return fmt.Sprintf("all %d sources failed, the last: %s", len(e.Errs), reasonOf(e.Last))
	}
	text := err.Error()
	if e, ok := errors.AsType[*source.Error](err); ok {
		text = e.Error()
		host, _, _ := strings.Cut(e.Host, ":")
		for _, known := range []string{e.Host + ": ", host + ": ", "connect: ", "status "} {
			text = strings.TrimPrefix(text, known)
		}
	}
	return text
}

// answered reports whether err means that a source answered: it is an answer, or is about the content of one.
func answered(err error) bool {
	if e, ok := errors.AsType[*source.Error](err); ok {
		return e.Status != 0 || e.Fault > source.FaultTLS
	}
	e, ok := errors.AsType[*download.Error](err)
	if !ok {
		return false
	}
	switch e.Kind {
	case download.Auth, download.Protocol, download.Refused, download.Mismatch, download.NoEvidence, download.Limit,
		download.NoKey, download.BadSignature:
		return true
	}
	return false
}
