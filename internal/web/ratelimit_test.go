package web

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

func TestRateLimit(t *testing.T) {
	in := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	for _, tt := range []struct {
		prefix, limit, left, reset string
		want                       RateLimit
		pause                      time.Duration
		ok                         bool
	}{
		{"X-RateLimit-", "60", "59", in(time.Hour), RateLimit{60, 59, time.Hour}, 0, true},
		{"X-RateLimit-", "60", "15", in(time.Hour), RateLimit{60, 15, time.Hour}, 0, true},
		{"X-RateLimit-", "60", "14", in(time.Hour), RateLimit{60, 14, time.Hour}, 4 * time.Minute, true},
		{"X-RateLimit-", "60", "0", in(30 * time.Minute), RateLimit{60, 0, 30 * time.Minute}, 30 * time.Minute, true},
		{"RateLimit-", "60", " 0 ", "90", RateLimit{60, 0, 90 * time.Second}, 90 * time.Second, true},
		{"RateLimit-", "", "0", "90", RateLimit{0, 0, 90 * time.Second}, 90 * time.Second, true},
		{"RateLimit-", "", "7", "90", RateLimit{0, 7, 90 * time.Second}, 0, true},
		{"X-RateLimit-", "1", "0", in(-time.Hour), RateLimit{1, 0, 0}, 0, true},
		{"X-RateLimit-", "60", "0", "1099511627775", RateLimit{60, 0, mostRetryAfter}, mostRetryAfter, true},
		{"X-RateLimit-", "60", "1099511627775", "0", RateLimit{60, 1<<40 - 1, 0}, 0, true},
		{"X-RateLimit-", "60", "1099511627776", "0", RateLimit{}, 0, false},
		{"X-RateLimit-", "60", "-1", "0", RateLimit{}, 0, false},
		{"X-RateLimit-", "60", "", in(time.Hour), RateLimit{}, 0, false},
		{"X-RateLimit-", "60", "0", "soon", RateLimit{}, 0, false},
		{"Rate-", "60", "0", "1", RateLimit{}, 0, false},
	} {
		h := http.Header{}
		h.Set(tt.prefix+"Limit", tt.limit)
		h.Set(tt.prefix+"Remaining", tt.left)
		h.Set(tt.prefix+"Reset", tt.reset)
		if got, ok := RateOf(h, now); got != tt.want || ok != tt.ok || ok && got.Pause() != tt.pause {
			t.Errorf("%+v: %+v, %v, pause %v", tt, got, ok, got.Pause())
		}
	}
}
