package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/internal/test/mirrortest"
	"braid/source"
)

func TestFailureLine(t *testing.T) {
	for _, tt := range []struct {
		f    problem.Problem
		want string
	}{
		{problem.Problem{
			What: "download", Where: "http://h/a", Why: "status 404",
		}, "braid: download http://h/a: status 404"},
		{problem.Problem{
			What: "download", Where: "u", Why: "w", Kept: "5 MiB kept in a.part", Hint: "run again",
		}, "braid: download u: w (5 MiB kept in a.part; run again)"},
		{problem.Problem{
			What: "usage", Why: "missing command", Hint: "braid --help",
		}, "braid: usage: missing command (braid --help)"},
		{problem.Problem{What: "x", Where: "y", Why: "z", Kept: "nothing kept"}, "braid: x y: z (nothing kept)"},
	} {
		if got := render.ErrorLine(&tt.f); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestFailureLineIsOneLine_Rule61: whatever is in it, an error is one line that moves no cursor.
func TestFailureLineIsOneLine_Rule61(t *testing.T) {
	for _, evil := range []string{"a\nb", "\x1b[31m", "\u009b31m", "\u202egnp", "\xff\xfe", "\r", "\x7f", "\u2028"} {
		f := problem.Problem{What: evil, Where: evil, Why: evil, Kept: evil, Hint: evil}
		if line := render.ErrorLine(&f); strings.Contains(line, evil) || line != source.Escape(line) {
			t.Errorf("%q is printed as %q", evil, line)
		}
	}
}

func TestBatchCode(t *testing.T) {
	for _, tt := range []struct {
		codes []int
		want  int
	}{
		{nil, 0}, {[]int{0, 0}, 0}, {[]int{0, 8}, 8}, {[]int{8, 4, 0}, 4}, {[]int{1, 0}, 1}, {[]int{1, 14}, 14},
		{[]int{3, 130}, 130}, {[]int{10, 143, 11}, 143},
		{[]int{12, 3}, 12}, {[]int{12, 9}, 9}, {[]int{9, 11}, 11}, {[]int{11, 10, 2}, 10}, {[]int{130, 143}, 130},
		{[]int{12, 1, 11, 4}, 11},
	} {
		if got := batchCode(tt.codes); got != tt.want {
			t.Errorf("batchCode(%v) is %d, want %d", tt.codes, got, tt.want)
		}
	}
}

// TestKindCodes: every kind of problem has its exit code, as documented.
func TestKindCodes(t *testing.T) {
	want := map[download.Kind]int{
		download.Other: 1, download.Usage: 2, download.Local: 3, download.Network: 4, download.TLS: 5, download.Auth: 6,
		download.Protocol: 7, download.Refused: 8, download.Mismatch: 11, download.NoEvidence: 12, download.Budget: 13,
		download.Limit: 14, download.NoKey: 9, download.BadSignature: 10, download.Interrupted: 130,
	}
	for k := range download.Interrupted + 1 {
		f := downloadProblem(t.Context(), &download.Error{Kind: k, What: "download", Where: "u", Err: errors.New("e")})
		if exitCode(f) != want[k] {
			t.Errorf("kind %d: exit code %d, want %d", k, exitCode(f), want[k])
		}
	}
	if len(exitCodes) != len(want) {
		t.Errorf("%d kinds have a code, want %d", len(exitCodes), len(want))
	}
}

func TestDownloadFailure(t *testing.T) {
	terminated, cancel := context.WithCancelCause(t.Context())
	cancel(&signalError{15})
	refused := &source.Error{URL: "http://h:1/a", Host: "h:1", Fault: source.FaultRefused, Status: 404}
	for _, tt := range []struct {
		ctx  context.Context
		err  error
		code int
		want string
	}{
		{t.Context(), &download.Error{Kind: download.Refused, What: "download", Where: "http://h:1/a", Err: refused}, 8,
			"download http://h:1/a: status 404 (nothing kept; check the URL)"},
		{t.Context(), &download.Error{Kind: download.Refused, What: "download", Where: "http://o/a", Err: refused}, 8,
			"download http://o/a: h:1: status 404 (nothing kept; check the URL)"},
		{t.Context(), &download.Error{Kind: download.Budget, What: "download", Where: "u", Err: errors.New("e"),
			Kept: 5 << 20, Part: "a.part"}, 13, "download u: e (5 MiB kept in a.part; run the same command to go on)"},
		{t.Context(), &download.Error{Kind: download.Local, What: "file", Where: "a", Err: errors.New("exists"),
			Hint: "--overwrite"}, 3, "file a: exists (--overwrite)"},
		{terminated, &download.Error{Kind: download.Interrupted, What: "download", Where: "u",
			Err: fmt.Errorf("x: %w", context.Cause(terminated)), Kept: 1, Part: "p"}, 143,
			"download u: terminated (1 B kept in p; run the same command to go on)"},
		{t.Context(), errors.New("odd"), 1, "error: odd"},
		{terminated, context.Cause(terminated), 143, "error: terminated"},
	} {
		f := downloadProblem(tt.ctx, tt.err)
		if exitCode(f) != tt.code || f.Error() != tt.want {
			t.Errorf("%v: exit code %d, %q; want %d, %q", tt.err, exitCode(f), f.Error(), tt.code, tt.want)
		}
	}
}

// TestTLSHints: each way in which a server can fail to prove who it is has another way out.
func TestTLSHints(t *testing.T) {
	server := func(edit func(*x509.Certificate)) string {
		return mirrortest.New(t, []byte("abc"), mirrortest.TLS(edit)).URL
	}
	plain := mirrortest.New(t, []byte("abc")).URL
	for url, want := range map[string]string{
		server(nil): "(nothing kept; add an authority with --cacert FILE, or skip the check for one host with --insecure HOST)",
		server(func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = nil,
				[]string{"other.example"}
		}): "(nothing kept; the certificate is for a different host: ",
		server(func(c *x509.Certificate) { c.NotAfter = c.NotBefore }): "(nothing kept; check the clock of this machine; ",
		strings.Replace(plain, "http:", "https:", 1): "(nothing kept; the server does not speak TLS " +
			"on this port: ",
	} {
		if code, _, err := get(t, t.TempDir(), url); code != exitTLS || !strings.Contains(err, want) {
			t.Errorf("exit code %d, %s; want %q", code, err, want)
		}
	}
}
