package web

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

var now = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func date(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }

// Proves rule 23, with both forms of the field.
func TestRetryAfter_Rule23(t *testing.T) {
	for _, tt := range []struct {
		value string
		wait  time.Duration
		ok    bool
	}{
		{"0", 0, true},
		{" 7 ", 7 * time.Second, true},
		{"315360000", mostRetryAfter, true},
		{"315360001", mostRetryAfter, true},
		{"9223372036854775807", mostRetryAfter, true},
		{"99999999999999999999", mostRetryAfter, true},
		{"-5", 0, false},
		{"+5", 0, false},
		{"1.5", 0, false},
		{"soon", 0, false},
		{"", 0, false},
		{date(30 * time.Second), 30 * time.Second, true},
		{date(-time.Hour), 0, true},
		{date(2 * mostRetryAfter), mostRetryAfter, true},
		{"Wednesday, 01-May-24 12:00:09 GMT", 9 * time.Second, true},
		{"Wed May  1 12:00:09 2024", 9 * time.Second, true},
	} {
		if wait, given, ok := RetryAfter(http.Header{"Retry-After": {tt.value}}, now); wait != tt.wait || !given || ok != tt.ok {
			t.Errorf("%q: %v, %v, %v", tt.value, wait, given, ok)
		}
	}
	if wait, given, ok := RetryAfter(http.Header{}, now); wait != 0 || given || ok {
		t.Errorf("without the field: %v, %v, %v", wait, given, ok)
	}
	if wait, given, ok := RetryAfter(http.Header{"Retry-After": {"1", "2"}}, now); wait != 0 || !given || ok {
		t.Errorf("twice: %v, %v, %v", wait, given, ok)
	}
}

// Dates of a server are compared with its own clock.
func TestRetryAfterByServersClock_Rule23(t *testing.T) {
	h := http.Header{"Date": {date(-5 * time.Hour)}, "Retry-After": {date(-5*time.Hour + time.Minute)}}
	if wait, _, ok := RetryAfter(h, now); wait != time.Minute || !ok {
		t.Errorf("with another clock: %v, %v", wait, ok)
	}
	h.Set("Date", "yesterday")
	if wait, _, ok := RetryAfter(h, now); wait != 0 || !ok {
		t.Errorf("without a clock: %v, %v", wait, ok)
	}
}

// For every field, the wait is between zero and mostRetryAfter. An invalid field results in no wait, and a valid one
// has the same meaning when written in seconds.
func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add(date(time.Hour), date(0))
	f.Add("Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994")
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT")
	f.Fuzz(func(t *testing.T, value, clock string) {
		wait, given, ok := RetryAfter(http.Header{"Retry-After": {value}, "Date": {clock}}, now)
		switch {
		case !given || wait < 0 || wait > mostRetryAfter || !ok && wait != 0:
			t.Errorf("%v, %v, %v", wait, given, ok)
		case !ok:
			return
		}
		seconds := strconv.FormatInt(int64(wait/time.Second), 10)
		if again, _, ok := RetryAfter(http.Header{"Retry-After": {seconds}}, now); !ok || again != wait {
			t.Errorf("%v, and as %s seconds %v, %v", wait, seconds, again, ok)
		}
	})
}
