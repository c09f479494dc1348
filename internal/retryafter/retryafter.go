// Package retryafter reads the header field Retry-After (RFC 9110, section 10.2.3): how long a server wants to be left alone. What a
// client makes of that, and how much patience it has, is the client's business.
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Most is what longer waits are cut to: nobody waits for them.
const Most = 10 * 365 * 24 * time.Hour

// Parse reads both forms of the field: whole seconds and a date. A date is compared with the clock of the server, which the field Date
// tells, and with now where it does not; one that is past means no wait. Given is false if the field is not there. Ok is false, too, if
// it is there and cannot be understood: it is neither form, or there twice.
func Parse(h http.Header, now time.Time) (wait time.Duration, given, ok bool) {
	values := h.Values("Retry-After")
	if len(values) != 1 {
		return 0, len(values) > 0, false
	}
	value := strings.TrimSpace(values[0])
	if date, err := http.ParseTime(value); err == nil {
		return min(max(0, date.Sub(serverTime(h, now))), Most), true, true
	}
	n, err := strconv.ParseUint(value, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > uint64(Most/time.Second):
		return Most, true, true
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
