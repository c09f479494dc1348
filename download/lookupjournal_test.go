package download_test

import (
	"bytes"
	"context"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// TestLookupAfterJournal: a digest that an earlier command was given or looked up yields to a list that is beside the
// file now, also if that command was a repair.
func TestLookupAfterJournal_Rules34_77(t *testing.T) {
	t.Parallel()
	old, next := made(2*mib, 8), made(2*mib, 7)
	for name, begin := range map[string]func(t *testing.T, r *run){
		"repair": func(t *testing.T, r *run) {
			r.onDisk(bytes.Clone(old[:mib]))
			r.client.HTTP = nil
			v, err := r.client.Verify(r.ctx, r.req)
			if !v.Repairable() {
				t.Fatalf("verify: %v", err)
			}
			ctx, cancel := context.WithCancel(r.ctx)
			defer cancel()
			_, err = r.client.Repair(ctx, v, func(ev download.Event) {
				if _, ok := ev.(download.Resumed); ok {
					cancel()
				}
			})
			if kindOfError(err) != download.Interrupted {
				t.Fatalf("repair: %v", err)
			}
		},
		"a mistyped digest": func(_ *testing.T, r *run) {
			r.req.Claims = userClaim(other())
			r.interrupt(mib)
			r.req.Claims = nil
		},
	} {
		for _, tag := range []string{"", `"v"`} {
			t.Run(name+", tag "+tag, func(t *testing.T) {
				t.Parallel()
				s := newFolderSite(t, "SHA256SUMS", sum256(string(old))+"  disk.iso\n")
				s.put("disk.iso", string(old), tag)
				r := lookingUp(t, s, "disk.iso")
				begin(t, r)
				want := old
				if tag == "" { // else it is still the same
					want = next
					s.put("disk.iso", string(next), tag)
					s.put("SHA256SUMS", sum256(string(next))+"  disk.iso\n", "")
				}
				r.req.Overwrite = true
				verified(t, r.right(mirrortest.ContentOf(want)), "sha-256 from SHA256SUMS beside it over http")
			})
		}
	}
}
