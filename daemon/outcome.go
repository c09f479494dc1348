package daemon

import (
	"context"
	"errors"

	"braid/daemon/queue"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/report"
	"braid/source"
)

// mostMessage and mostReason limit the lengths of an outcome's Message and Reason.
const mostMessage, mostReason = 1000, 200

// outcomeOf returns the outcome of a download that ended with res and err.
func (d *Daemon) outcomeOf(res download.Result, err error) queue.Outcome {
	if err == nil {
		o := queue.Outcome{Due: res.Due}
		if res.Proof.Verified() {
			o.Verified = source.Escape(res.Proof.String())
		}
		return o
	}
	o := queue.Outcome{
		Kind: download.Usage.String(), Code: problem.Aria2Code(err),
		Message: option.Shorten(source.Escape(d.config.Hide(err.Error())), mostMessage),
	}
	o.Reason = option.Shorten(d.config.Hide(report.Reason(err)), mostReason)
	if e, ok := errors.AsType[*download.Error](err); ok {
		o.Kind, o.Hint = e.Kind.String(), source.Escape(d.config.Hide(string(e.Hint)))
		if errors.Is(err, download.ErrTooSlow) {
			o.Kind = queue.Yielded
		}
	} else if errors.Is(err, context.Canceled) { // canceled before Config.Request returned
		o.Kind = queue.Interrupted
	}
	return o
}

// refusal returns the outcome of an entry that is refused without a download. why becomes the message.
func refusal(kind download.Kind, why string) queue.Outcome {
	return queue.Outcome{Kind: kind.String(), Code: problem.Aria2Code(&problem.Problem{Kind: kind, Why: why}), Message: why}
}
