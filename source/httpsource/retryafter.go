package httpsource

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"braid/source"
)

// retryAfter reads the Retry-After of an answer (RFC 9110, section 10.2.3). The problem is not empty if the
// server wants more patience than there is, or nobody knows what it wants: it is then down (rule 23).
func retryAfter(h http.Header, now time.Time) (wait time.Duration, problem string) {
	values := h.Values("Retry-After")
	if len(values) == 0 {
		return 0, ""
	}
	wait, ok := parseDelay(strings.TrimSpace(values[0]), serverTime(h, now))
	switch {
	case !ok || len(values) > 1:
		return 0, fmt.Sprintf("its Retry-After makes no sense: %.80q", values)
	case wait > source.MaxAfter:
		return 0, fmt.Sprintf("it will be back at %s", now.Add(wait).UTC().Format(time.RFC3339))
	}
	return wait, ""
}

// serverTime is what the server's clock said with this answer: dates of it are compared with that one.
func serverTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// parseDelay reads both forms. A date that is past means now.
func parseDelay(v string, now time.Time) (time.Duration, bool) {
	const most = int64(10 * 365 * 24 * time.Hour / time.Second) // what is more is no time that anybody means
	if date, err := http.ParseTime(v); err == nil {
		return max(0, date.Sub(now)), true
	}
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil || int64(n) > most {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}
