package download_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
	"braid/internal/test/pipes"
	"braid/source/httpsource"
)

// Proves rule 23: the server's Retry-After is not obeyed beyond the time that the user gave.
func TestRetryAfterBeyondTimeout_Rule23(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Status(503), mirrortest.RetryAfter("90"))
	r := newRun(t, s.URL)
	r.client.Timeout = 5 * time.Second
	e := r.wrong(download.Refused)
	if n := len(s.Requests()); n != 1 || !strings.Contains(e.Error(), "1m30s") {
		t.Errorf("after %d requests: %v", n, e)
	}
}

// An interruption during the comparison of an existing file is an interruption, not a result about that file.
func TestInterruptedWhileComparing(t *testing.T) {
	t.Parallel()
	s := sized(t, 64*mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.req.Trust.Claims = userClaim(s.Digest())
	if err := os.WriteFile(r.path(), bytes.Repeat([]byte{1}, 64*mib), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	files := fsystest.Tap(fsys.OS, func(op fsystest.Op) error {
		if op.Name == "read" && op.Path == r.path() {
			cancel()
		}
		return nil
	})
	r.client.HTTP = &httpsource.Client{}
	defer r.client.HTTP.CloseIdle()
	_, err := r.client.Get(fsys.With(ctx, files), r.req)
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Interrupted {
		t.Errorf("%+v", err)
	}
}

// Proves rule 19: a limit of the user also applies to an announced length, before the first byte.
func TestMaxSizeOfAnnouncedLength_Rule19(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.client.MaxSize = mib - 1
	r.wrong(download.Limit)
	r.client.MaxSize = mib
	r.right(s.Content)
}

// Proves rule 21: if a server falls silent and no other can replace it, the error states that: exit code 4
// without any byte, and 13 with bytes that can be resumed.
func TestSilentForGood_Rule21(t *testing.T) {
	t.Parallel()
	for at, want := range map[int64]download.Kind{0: download.Network, 5000: download.Budget} { // in time
		s := sized(t, mib, mirrortest.Digest(), mirrortest.StallAfter(at), mirrortest.IgnoreRange())
		r := newRun(t, s.URL)
		r.client.Timeout, r.client.Tries, r.client.RetryWait = 3*time.Second, 2, time.Millisecond
		if e := r.wrong(want); !strings.Contains(e.Error(), "stopped sending") {
			t.Errorf("silent after %d bytes: %v", at, e)
		}
	}
}

// Proves rule 21 for documents, which no other server has: neither silence nor single bytes delay a download
// forever.
func TestDocumentThatNeverEnds_Rule21(t *testing.T) {
	for does, tt := range map[string]struct {
		pause time.Duration // after each byte
		why   string
	}{
		"goes silent":    {time.Hour, "stopped sending"},
		"comes bytewise": {time.Second, "too long"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := make(pipes.Listener)
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					io.WriteString(w, "#")
					http.NewResponseController(w).Flush()
					select {
					case <-r.Context().Done():
					case <-time.After(tt.pause):
					}
				}
			})}
			go s.Serve(l)
			defer s.Close()
			c := &download.Client{HTTP: &httpsource.Client{Dial: l.Dial}, Timeout: 4 * time.Second}
			defer c.HTTP.CloseIdle()
			_, err := c.List(t.Context(), download.Request{URL: parse(t, "http://127.0.0.1/SHA256SUMS")})
			e, ok := errors.AsType[*download.Error](err)
			if !ok || e.Kind != download.Network || !strings.Contains(e.Error(), tt.why) {
				t.Errorf("a list that %s: %v", does, err)
			}
		})
	}
}
