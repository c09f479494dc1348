package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A RateLimit is the number of requests that a server still accepts.
type RateLimit struct {
	// Limit is the number of requests in a period, or 0 if the server does not state it. Left is the number of requests
	// left until Reset has passed.
	Limit, Left int
	Reset       time.Duration
}

// reportedRate has the prefixes of the rate limit fields, first that of GitHub and Forgejo, then that of GitLab.
var reportedRate = []string{"X-Ratelimit-", "Ratelimit-"}

// epoch is the least value of a Reset field that is a time. A lower value is a number of seconds from now.
const epoch = 500_000_000

// RateOf parses the fields X-RateLimit-Limit, -Remaining and -Reset, also without "X-". Reset is a time in seconds
// since 1970, compared with the server's clock, or a number of seconds from now. ok is false if Remaining or Reset is
// missing.
func RateOf(h http.Header, now time.Time) (r RateLimit, ok bool) {
	for _, prefix := range reportedRate {
		field := func(name string) (int64, bool) {
			n, err := strconv.ParseUint(strings.TrimSpace(h.Get(prefix+name)), 10, 40)
			return int64(n), err == nil
		}
		left, hasLeft := field("Remaining")
		reset, hasReset := field("Reset")
		if !hasLeft || !hasReset {
			continue
		}
		limit, _ := field("Limit")
		if r = (RateLimit{Limit: int(limit), Left: int(left)}); reset >= epoch {
			reset -= serverTime(h, now).Unix()
		}
		r.Reset = time.Duration(min(max(0, reset), int64(mostRetryAfter/time.Second))) * time.Second
		return r, true
	}
	return r, false
}

// Pause returns the pause before the next request, so that the remaining requests suffice until the reset. It is 0
// while at least a quarter of Limit is left.
func (r RateLimit) Pause() time.Duration {
	if r.Left > 0 && r.Left >= (r.Limit+3)/4 {
		return 0
	}
	return r.Reset / time.Duration(r.Left+1)
}
