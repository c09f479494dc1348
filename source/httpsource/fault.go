package httpsource

import (
	"errors"
	"strings"

	"braid/internal/web"
	"braid/source"
)

// classify returns the fault of err, a transport error, and whether another attempt makes sense.
func classify(err error) (fault source.Fault, retry bool) {
	answer, ok := errors.AsType[*web.AnswerError](err)
	switch {
	case ok && answer.Limit:
		return source.FaultLimit, false
	case ok:
		return source.FaultProtocol, false
	case strings.Contains(err.Error(), "server closed idle connection"): // an error that net/http does not export
		return source.FaultNetwork, true
	}
	return source.NetworkFault(err)
}
