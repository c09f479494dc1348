package httpsource

import (
	"fmt"
	"net/http"
	"time"

	"braid/internal/web"
	"braid/source"
)

// retryAfter returns the delay that a response with the header h requests. problem is not empty if the delay is too
// long or invalid; the server is then treated as down (rule 23).
func retryAfter(h http.Header, now time.Time) (wait time.Duration, problem string) {
	wait, given, ok := web.RetryAfter(h, now)
	switch {
	case !given:
		return 0, ""
	case !ok:
		return 0, fmt.Sprintf("invalid Retry-After: %.80q", h.Values("Retry-After"))
	case wait > source.MaxAfter:
		return 0, fmt.Sprintf("it asked to wait until %s", now.Add(wait).UTC().Format(time.RFC3339))
	}
	return wait, ""
}
