package httpsource

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestStatus_Rule24 checks the errors for each status (rules 23, 24, 25 and 27).
func TestStatus_Rule24(t *testing.T) {
	for _, tt := range []struct {
		status int
		fault  source.Fault
		retry  bool
	}{
		{201, source.FaultRefused, false}, {203, source.FaultRefused, false},
		{204, source.FaultRefused, false}, {205, source.FaultRefused, false},
		{300, source.FaultRefused, false}, {304, source.FaultRefused, false}, {305, source.FaultRefused, false},
		{400, source.FaultRefused, false}, {401, source.FaultAuth, false}, {403, source.FaultRefused, false},
		{404, source.FaultRefused, false}, {407, source.FaultAuth, false}, {408, source.FaultRefused, true},
		{410, source.FaultRefused, false}, {412, source.FaultRefused, false},
		{429, source.FaultRefused, true}, {451, source.FaultRefused, false},
		{500, source.FaultRefused, true}, {501, source.FaultRefused, false}, {502, source.FaultRefused, true},
		{503, source.FaultRefused, true}, {504, source.FaultRefused, true}, {599, source.FaultRefused, false},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			s := mirrortest.New(t, file, mirrortest.Status(tt.status))
			c := newClient(t)
			for n := 1; n < 3 || s.Connections() == n-1 && n < 6; n++ { // reading the rest may time out on a busy machine
				k, err := fetch(t, c, s.URL, Options{}, whole)
				e := sourcetest.Fault(t, err, tt.fault, tt.retry)
				if e.Status != tt.status || !strings.Contains(e.Error(), fmt.Sprint(tt.status)) {
					t.Errorf("status %d in %q", e.Status, e)
				}
				if k.Heard != nil {
					t.Errorf("answer is %+v", k.Heard)
				}
			}
			if n := len(s.Requests()); s.Connections() == n {
				t.Errorf("%d connections: none with a short body was kept", n)
			}
		})
	}
}

// TestUnsatisfiable_Rule25 checks that status 416 means that the server has another file (rule 25).
func TestUnsatisfiable_Rule25(t *testing.T) {
	s := mirrortest.New(t, make([]byte, 100))
	c := newClient(t)
	_, err := fetch(t, c, s.URL, Options{}, part(100, 200))
	e := sourcetest.Fault(t, err, source.FaultMismatch, false)
	if !strings.Contains(e.Error(), "its file has 100 bytes") {
		t.Errorf("error is %q", e)
	}
	s.Set(mirrortest.Status(416))
	_, err = fetch(t, c, s.URL, Options{}, part(10, 20))
	sourcetest.Fault(t, err, source.FaultMismatch, false)
	_, err = fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	s.Set(mirrortest.Header("Content-Range", "bytes */100"))
	_, err = fetch(t, c, s.URL, Options{}, part(10, 20))
	sourcetest.Fault(t, err, source.FaultRefused, false)
}

// TestRefusedRange_Rule25 checks that the whole file is requested, and no range again, after the server refused a range
// of its own file.
func TestRefusedRange_Rule25(t *testing.T) {
	ranged := func(q *http.Request) bool { return q.Header.Get("Range") != "" }
	s := mirrortest.New(t, file, mirrortest.When(ranged, mirrortest.Status(416),
		mirrortest.Header("Content-Range", fmt.Sprintf("bytes */%d", file.Size()))))
	src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
	for range 2 {
		k := &sourcetest.Sink{T: t}
		if err := src.Fetch(t.Context(), part(10, 20), k); err != nil || k.Heard == nil || k.Heard.Ranged || k.Heard.Start != 0 {
			t.Errorf("%v: %+v", err, k.Heard)
		}
	}
	if asked := s.Requests(); len(asked) != 3 || !asked[0].Ranged || asked[1].Ranged || asked[2].Ranged {
		t.Errorf("%+v", asked)
	}
}

// TestRetryAfter_Rule23 checks that a Retry-After that is too long is not waited for, and that the error has its time
// (rule 23).
func TestRetryAfter_Rule23(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		value   string
		wait    time.Duration
		problem string
	}{
		{"0", 0, ""},
		{"7", 7 * time.Second, ""},
		{"120", 120 * time.Second, ""},
		{"121", 0, "wait until 2024-05-01T12:02:01Z"},
		{"3600", 0, "wait until 2024-05-01T13:00:00Z"},
		{"soon", 0, "invalid Retry-After"},
	} {
		wait, problem := retryAfter(http.Header{"Retry-After": {tt.value}}, now)
		if wait != tt.wait || tt.problem == "" && problem != "" || !strings.Contains(problem, tt.problem) {
			t.Errorf("%q: %v, %q", tt.value, wait, problem)
		}
	}
	if wait, problem := retryAfter(http.Header{}, now); wait != 0 || problem != "" {
		t.Errorf("without the field: %v, %q", wait, problem)
	}
}

func TestRetryAfterInError_Rule23(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.Status(503), mirrortest.RetryAfter("7"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	if e := sourcetest.Fault(t, err, source.FaultRefused, true); e.After != 7*time.Second {
		t.Errorf("After is %v", e.After)
	}
	s.Reset(mirrortest.Status(429), mirrortest.RetryAfter("7200"))
	_, err = fetch(t, newClient(t), s.URL, Options{}, whole)
	if e := sourcetest.Fault(t, err, source.FaultRefused, false); !strings.Contains(e.Error(), "wait until") {
		t.Errorf("error is %q", e)
	}
}

// TestIfMatch_Rule35 checks that If-Match is sent, and that one request without it follows if it fails (rule 35 and
// S9).
func TestIfMatch_Rule35(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.ETag(`"v1"`))
	c := newClient(t)
	k := mustFetch(t, c, s.URL, Options{Mirror: true, IfMatch: `"v1"`}, part(0, 10))
	if k.Heard.IfMatchFailed || len(s.Requests()) != 1 {
		t.Errorf("answer is %+v", k.Heard)
	}
	s.Set(mirrortest.ETag(`"v2"`), mirrortest.Digest())
	k = mustFetch(t, c, s.URL, Options{Mirror: true, IfMatch: `"v1"`}, part(0, 10))
	a := k.Heard
	if !a.IfMatchFailed || a.ETag != `"v2"` || len(a.Claims) != 1 || len(a.Hops) != 1 || a.Hops[0].Status != 206 {
		t.Errorf("answer is %+v", a)
	}
	k.Has(file, part(0, 10))
	requests := s.Requests()
	if len(requests) != 3 || requests[1].Header.Get("If-Match") != `"v1"` || requests[2].Header.Get("If-Match") != "" {
		t.Errorf("requests are %+v", requests)
	}
	if reuses(t, s); s.MaxConcurrent() != 1 {
		t.Errorf("%d at a time", s.MaxConcurrent())
	}
	// A server that always responds with 412 gets two requests.
	s.Reset(mirrortest.Status(http.StatusPreconditionFailed))
	_, err := fetch(t, c, s.URL, Options{Mirror: true, IfMatch: `"v1"`}, part(0, 10))
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if n := len(s.Requests()); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
}

func TestNetworkErrors(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, part(0, 10))
	s.Die()
	_, err := fetch(t, c, s.URL, Options{}, part(0, 10))
	sourcetest.Fault(t, err, source.FaultNetwork, true)
	// If an idle connection has failed, the request is sent on a new one.
	s.Revive()
	mustFetch(t, c, s.URL, Options{}, part(0, 10))
	s.Die()
	s.Revive()
	mustFetch(t, c, s.URL, Options{}, part(0, 10))

	for _, u := range []string{"ftp://127.0.0.1/x", "file:///etc/passwd", "http:///x", "http:x"} {
		_, err := fetch(t, c, u, Options{}, whole)
		e, ok := err.(*source.Error)
		if !ok || e.Fault != source.FaultRefused || e.Retry {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// TestErrorText_Rules61_62 checks that an error escapes control characters of servers (rule 61) and has no secrets
// (rule 62).
func TestErrorText_Rules61_62(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.RawString("\x1b]0;owned\x07 nonsense\r\n"))
	_, err := fetch(t, newClient(t), strings.Replace(s.URL, "//", "//me:hunter2@", 1)+"?sig=s3cret", Options{}, whole)
	e := sourcetest.Fault(t, err, source.FaultProtocol, false)
	if all := e.URL + e.Error(); strings.ContainsAny(all, "\x1b\x07") || strings.Contains(all, "hunter2") ||
		strings.Contains(all, "s3cret") {
		t.Errorf("URL %q, text %q", e.URL, e.Error())
	}
}
