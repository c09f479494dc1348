package download_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// A request without a URL is an error of the caller.
func TestRequestWithoutURL(t *testing.T) {
	t.Parallel()
	var c download.Client
	for name, call := range map[string]func(context.Context, download.Request) error{
		"Get":      func(ctx context.Context, r download.Request) error { _, err := c.Get(ctx, r); return err },
		"Plan":     func(ctx context.Context, r download.Request) error { _, err := c.Plan(ctx, r); return err },
		"Probe":    func(ctx context.Context, r download.Request) error { _, err := c.Probe(ctx, r); return err },
		"Verify":   func(ctx context.Context, r download.Request) error { _, err := c.Verify(ctx, r); return err },
		"Document": func(ctx context.Context, r download.Request) error { _, err := c.Document(ctx, r); return err },
		"List":     func(ctx context.Context, r download.Request) error { _, err := c.List(ctx, r); return err },
		"a mirror": func(ctx context.Context, r download.Request) error {
			r.URL, r.Mirrors = parse(t, "http://127.0.0.1:1/file.bin"), []*url.URL{nil}
			_, err := c.Get(ctx, r)
			return err
		},
	} {
		err := call(t.Context(), download.Request{Dir: t.TempDir()})
		var e *download.Error
		if !errors.As(err, &e) || e.Kind != download.Usage || !strings.Contains(err.Error(), "URL") ||
			strings.Contains(err.Error(), " :") {
			t.Errorf("%s: %v, want an *Error of kind %v about the URL", name, err, download.Usage)
		}
	}
}

// A digest that a program gives without a channel is its own statement: it contradicts a server, and it
// suffices if the server has none.
func TestClaimWithoutChannel(t *testing.T) {
	t.Parallel()
	const size = 4 << 10
	server := sized(t, size)
	var c download.Client
	req := download.Request{
		URL: parse(t, server.URL), Dir: t.TempDir(),
		Trust: download.Trust{Require: download.RequireDigest},
	}
	req.Trust.Claims = []verify.Claim{{Digest: sum(t, made(size, 99))}}
	_, err := c.Get(t.Context(), req)
	if err == nil || !strings.Contains(err.Error(), "from the user") {
		t.Errorf("another digest: %v", err)
	}
	req.Trust.Claims[0].Digest = sum(t, made(size, 7))
	result, err := c.Get(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Proof.String(); got != "sha-256 from the user" {
		t.Errorf("proven by %s", got)
	}
	if req.Trust.Claims[0].Channel != 0 {
		t.Error("the request was changed")
	}
}

// Verify checks the file that Get makes of the same request: without a name it is that of the URL.
func TestVerifyNamedByURL(t *testing.T) {
	t.Parallel()
	server := sized(t, 4<<10, mirrortest.Digest())
	var c download.Client
	req := download.Request{URL: parse(t, server.URL), Dir: t.TempDir()}
	result, err := c.Get(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Verify(t.Context(), req)
	if err != nil || v.Path != result.Path || !v.Proof.Verified() {
		t.Errorf("%+v, %v", v, err)
	}
	if err := os.WriteFile(filepath.Join(req.Dir, "file.bin"), []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if v, err = c.Verify(t.Context(), req); err == nil {
		t.Fatal("another file is right")
	}
	if result, err = c.Repair(t.Context(), v, nil); err != nil || result.Path != v.Path {
		t.Errorf("repaired: %+v, %v", result, err)
	}
}

// Each kind has its own name, and an unknown kind does not stop a program that prints it.
func TestKindNames(t *testing.T) {
	seen := map[string]download.Kind{}
	for k := range download.BadSignature + 1 {
		s := k.String()
		if other, ok := seen[s]; ok || s == "" || strings.HasPrefix(s, "kind") {
			t.Errorf("kind %d is %q, as is %d", uint8(k), s, uint8(other))
		}
		seen[s] = k
	}
	if got := (download.BadSignature + 1).String(); got != "kind 15" {
		t.Errorf("no kind is %q", got)
	}
	if got := download.Require(9).String(); got != "" {
		t.Errorf("no requirement is %q", got)
	}
}
