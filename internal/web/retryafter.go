package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostRetryAfter is the longest wait; longer waits are reduced to it.
const mostRetryAfter = 10 * 365 * 24 * time.Hour

// RetryAfter parses both forms of Retry-After (RFC 9110, section 10.2.3): a number of seconds, and a date. A date is
// compared with the server's clock, from the field Date, or with now if that field is missing. A date in the past means
// no wait. given is false if the field is missing. ok is false if the field is missing, has neither form or occurs
// twice.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, given, ok bool) {
	values := h.Values("Retry-After")
	if len(values) != 1 {
		return 0, len(values) > 0, false
	}
	value := strings.TrimSpace(values[0])
	if date, err := http.ParseTime(value); err == nil {
		return min(max(0, date.Sub(serverTime(h, now))), mostRetryAfter), true, true
	}
	n, err := strconv.ParseUint(value, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > uint64(mostRetryAfter/time.Second):
		return mostRetryAfter, true, true
	case err != nil:
		return 0, true, false
	}
	return time.Duration(n) * time.Second, true, true
}

func serverTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}
