package download_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// A mirror that stood in for a dead server continues its own bytes in the next run, and begins anew if it may have another
// file then.
func TestStandInResumed_Rules15_30(t *testing.T) {
	t.Parallel()
	other := mirrortest.Corrupt(0)
	for name, now := range map[string][]mirrortest.Option{
		"same file":    nil,
		"without HEAD": {mirrortest.OnHead(mirrortest.Status(http.StatusForbidden))},
		"another tag":  {mirrortest.ETag(`"2"`), other},
		"another date": {mirrortest.Modified(time.Unix(2_000_000_000, 0)), other},
		"another path": {other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, mirror := resumable(t), resumable(t, mirrortest.ETag(`"1"`))
			r := newRun(t, origin.URL)
			r.client.Tries = 1
			origin.Die()
			r.mirrors(mirror)
			kept, before := r.interrupt(2*mib).Kept, mirror.Sent()
			same := name == "same file" || name == "without HEAD"
			if mirror.Set(now...); name == "another path" {
				r.req.Mirrors = []*url.URL{parse(t, mirror.URL+"?")}
			}
			res, err := r.get()
			if err != nil || res.Proof.Verified() {
				t.Fatalf("%v, %v", res.Proof, err)
			}
			got, err := os.ReadFile(r.path())
			if err != nil || bytes.Equal(got, made(6*mib, 7)) != same {
				t.Errorf("the file is not as it is at the mirror (%v)", err)
			}
			if sent := mirror.Sent() - before; (res.Resumed >= kept && kept > 0) != same || same && sent > 6*mib-kept+2*mib {
				t.Errorf("kept %d, resumed %d, %d bytes sent", kept, res.Resumed, sent)
			}
		})
	}
}

// Proves rule 22 for a mirror that would stand in: the bytes of the server stay until that mirror sends the file.
func TestStandInWithoutFile_Rule22(t *testing.T) {
	t.Parallel()
	for name, mirror := range map[string]mirrortest.Option{
		"refuses": mirrortest.Status(http.StatusForbidden), "fails": mirrortest.Status(http.StatusServiceUnavailable),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := resumable(t, mirrortest.ETag(`"1"`))
			r := newRun(t, origin.URL)
			r.client.Tries = 1
			kept := r.interrupt(2 * mib).Kept
			origin.Die()
			r.mirrors(resumable(t, mirror))
			if e := r.wrong(download.Budget); e.Kept != kept {
				t.Errorf("%d of %d bytes are kept", e.Kept, kept)
			}
			origin.Revive()
			if res := r.right(origin.Content); res.Resumed != kept {
				t.Errorf("%d of %d bytes are resumed", res.Resumed, kept)
			}
		})
	}
}

// TestStandInInterrupted_Rule22: the bytes of the server stay if the download ends before the mirror has answered.
func TestStandInInterrupted_Rule22(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	origin := resumable(t, mirrortest.ETag(`"1"`))
	r := newRun(t, origin.URL)
	r.client.Tries = 1
	kept := r.interrupt(2 * mib).Kept
	origin.Die()
	r.mirrors(resumable(t, mirrortest.Raw(func(c net.Conn) {
		cancel()
		io.Copy(io.Discard, c)
	})))
	_, err := r.client.Get(ctx, r.req)
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Interrupted || e.Kept != kept {
		t.Errorf("%v, %d bytes were kept", err, kept)
	}
}
