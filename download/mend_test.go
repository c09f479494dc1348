package download_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// repair checks the file, which must be wrong, and replaces it with the right one.
func (r *run) repair(ctx context.Context) (download.Result, error) {
	r.t.Helper()
	r.client.HTTP = &httpsource.Client{}
	defer r.client.HTTP.CloseIdle()
	v, err := r.client.Verify(ctx, r.req)
	if e, _ := errors.AsType[*download.Error](err); e == nil || e.Kind != download.Mismatch || !v.Repairable() {
		r.t.Fatalf("verify: %v", err)
	}
	return r.client.Repair(ctx, v, r.req.Observe)
}

// repaired checks that a repair succeeds, fetches so many bytes, and leaves no other file.
func (r *run) repaired(want mirrortest.Content, fetched int64) download.Result {
	r.t.Helper()
	res, err := r.repair(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	if r.same(want); res.Fetched-res.Duplicate != fetched || res.Duplicate > fetched/100 {
		r.t.Errorf("%d bytes were fetched, %d of them twice, want %d", res.Fetched, res.Duplicate, fetched)
	}
	if left, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(left) != 1 {
		r.t.Errorf("the folder has %v", left)
	}
	return res
}

// Proves S3 and rule 40 for files on disk: right bytes are not fetched again, as far as they are known.
func TestRepair_S3_Rule40(t *testing.T) {
	t.Parallel()
	const size = 9*mib + 1000
	right := made(size, 7)
	for name, tt := range map[string]struct {
		data            []byte
		pieces, without int64 // bytes to be fetched, with and without a document
	}{
		"two pieces": {changed(right, 0, size-1), piece + 1000, size},
		"cut":        {right[:8*mib+1], mib + 1000, mib + 999},
		"longer":     {append(bytes.Clone(right), right...), 0, 0},
		"empty":      {nil, size, size},
		"other":      {made(size, 8), size, size},
	} {
		t.Run(name, func(t *testing.T) {
			mirror := sized(t, size)
			r := newRun(t, described(t, size, right, mirror).URL)
			r.onDisk(tt.data)
			r.repaired(mirror.Content, tt.pieces)

			r = newRun(t, sized(t, size, mirrortest.Digest()).URL)
			r.onDisk(tt.data)
			r.repaired(mirror.Content, tt.without)
		})
	}
}

// A file that is both cut off and damaged is found to be wrong in the end, and fetched again.
func TestRepairCutAndDamaged_Rule40(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	s := sized(t, size, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.onDisk(changed(made(size, 7)[:6*mib], 100))
	if _, err := r.repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.same(s.Content)
}

// Proves rule 2: damage after the check is still found, with or without pieces.
func TestRepairChanging_Rule2(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	right := made(size, 7)
	mirror := sized(t, size)
	r := newRun(t, described(t, size, right, mirror).URL)
	r.onDisk(changed(right, 0))
	starts := 0
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Started); ok {
			if starts++; starts == 2 {
				r.onDisk(changed(right, 0, 5*mib))
			}
		}
	}
	r.repaired(mirror.Content, 2*piece)
}

// Proves rules 1 and 3: a repair that fails leaves the damaged file unchanged, and keeps its own bytes as a
// part file. The next repair resumes it.
func TestRepairFails_Rule1_Rule3(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	right := made(size, 7)
	damaged := changed(right, 0, 5*mib)
	gone := sized(t, size, mirrortest.Status(404))
	f := of(t, right)
	f.Pieces = []verify.Pieces{piecesOf(t, right)}
	r := following(t, f, gone)
	r.onDisk(damaged)
	_, err := r.repair(t.Context())
	if e, _ := errors.AsType[*download.Error](err); e == nil || e.Kind != download.Refused || e.Kept != size-2*piece ||
		e.Part != r.part() {
		t.Errorf("%+v", err)
	}
	if got, _ := os.ReadFile(r.path()); !bytes.Equal(got, damaged) {
		t.Error("the damaged file is another one")
	}
	r.onDisk(made(size, 8)) // none of its bytes is usable any more
	gone.Set(mirrortest.Status(0))
	r.repaired(gone.Content, 2*piece)
}

// A repair can be interrupted while it is still copying.
func TestRepairInterrupted(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	s := sized(t, size, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.onDisk(made(size, 7)[:6*mib])
	ctx, cancel := context.WithCancel(t.Context())
	starts := 0
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Started); ok {
			if starts++; starts == 2 {
				cancel()
			}
		}
	}
	_, err := r.repair(ctx)
	if e, _ := errors.AsType[*download.Error](err); e == nil || e.Kind != download.Interrupted {
		t.Errorf("%v", err)
	}
	r.req.Observe = nil
	r.repaired(s.Content, 3*mib)
}

// Proves rule 47: a signature in the document also counts for the repaired file, and a required one is
// required there as well.
func TestRepairSigned_Rule47(t *testing.T) {
	t.Parallel()
	const size = 9 * mib
	right, alice := made(size, 7), newSigner(t, "alice")
	f := of(t, right)
	f.Pieces = []verify.Pieces{piecesOf(t, right)}
	f.Signatures = []metalink.Signature{{Type: "application/pgp-signature", Text: string(alice.sign(t, right))}}
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{f}})
	if err != nil {
		t.Fatal(err)
	}
	s := sized(t, size, mirrortest.Digest(), mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc),
		mirrortest.Link(`</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`))
	r := newRun(t, s.URL)
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
	r.onDisk(changed(right, 1))
	if res := r.repaired(s.Content, piece); !res.Proof.Signed() {
		t.Errorf("the proof is %v", res.Proof)
	}
}

// Without evidence, or without a source of the right bytes, a file cannot be repaired.
func TestNotRepairable(t *testing.T) {
	t.Parallel()
	right := made(mib, 7)
	for name, tt := range map[string]struct {
		claims []verify.Claim
		url    string
	}{
		"nothing is known": {nil, sized(t, mib).URL}, "nobody has it": {userClaim(other()), ""},
		"another one is asked for": {userClaim(other()), sized(t, mib, mirrortest.Digest()).URL},
		"it is right":              {userClaim(sum(t, right)), ""},
	} {
		r := newRun(t, tt.url)
		if tt.url == "" {
			r.req.URL = nil
		}
		r.req.Trust.Claims = tt.claims
		r.req.Trust.Require = download.RequireDigest
		r.onDisk(right)
		v, _ := r.client.Verify(t.Context(), r.req)
		_, err := r.client.Repair(t.Context(), v, nil)
		if e, _ := errors.AsType[*download.Error](err); v.Repairable() || e == nil || e.Kind != download.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
