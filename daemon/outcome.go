package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"

	"braid/daemon/queue"
	"braid/download"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/source"
)

// mostMessage is how long the text of an error is that is kept.
const mostMessage = 1000

// outcomeOf tells how a download ended.
func outcomeOf(res download.Result, err error) queue.Outcome {
	if err == nil {
		o := queue.Outcome{Due: res.Due}
		if res.Proof.Verified() {
			o.Verified = source.Escape(res.Proof.String())
		}
		return o
	}
	o := queue.Outcome{Kind: download.Usage.String(), Code: 1, Message: option.Shorten(source.Escape(err.Error()), mostMessage)}
	if e, ok := errors.AsType[*download.Error](err); ok {
		o.Kind, o.Hint, o.Code = e.Kind.String(), source.Escape(string(e.Hint)), codeOf(e)
	} else if errors.Is(err, context.Canceled) { // before it had a request
		o.Kind = queue.Interrupted
	}
	return o
}

// codes are aria2's numbers for the kinds.
var codes = map[download.Kind]int{
	download.Network: 6, download.Budget: 6, download.Auth: 24, download.Protocol: 22, download.Refused: 22, download.Limit: 5,
	download.Mismatch: 32, download.NoKey: 32, download.BadSignature: 32,
}

// codeOf is aria2's number for an error.
func codeOf(e *download.Error) int {
	is := func(target error) bool { return errors.Is(e, target) }
	src, _ := errors.AsType[*source.Error](e)
	_, full := errors.AsType[*partfile.SpaceError](e)
	_, unknown := errors.AsType[*net.DNSError](e)
	switch {
	case e.Kind == download.Local && is(fs.ErrExist):
		return 13
	case full || is(syscall.ENOSPC) || is(syscall.EDQUOT):
		return 9
	case e.Kind == download.Protocol && e.What == "read":
		return 20
	case e.Kind == download.Network && unknown:
		return 19
	case e.Kind == download.Network && (is(os.ErrDeadlineExceeded) || is(context.DeadlineExceeded)):
		return 2
	case e.Kind == download.Refused && src != nil && (src.Status == http.StatusNotFound || src.Status == http.StatusGone):
		return 3
	case e.Kind == download.Refused && src != nil && src.Status == http.StatusServiceUnavailable:
		return 29
	}
	if code := codes[e.Kind]; code != 0 {
		return code
	}
	return 1
}
