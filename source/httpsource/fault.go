package httpsource

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"braid/source"
)

// tunnelled judges what a proxy says to CONNECT. Of one that says no, net/http would keep the words only.
func tunnelled(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return &source.TunnelError{Status: resp.StatusCode}
	}
	return nil
}

// classify says whose fault an error of the transport is, and whether another try makes sense.
func classify(err error) (fault source.Fault, retry bool) {
	switch {
	case errors.Is(err, errManyInformational), errors.Is(err, errManyFields), errors.Is(err, errHeadTooLong):
		return source.FaultLimit, false
	case errors.Is(err, errTwoFramings), errors.Is(err, errOldFraming), errors.Is(err, errSpaced):
		return source.FaultProtocol, false
	case strings.Contains(err.Error(), "server closed idle connection"): // an error that net/http does not export
		return source.FaultNetwork, true
	}
	return source.NetworkFault(err)
}
