package download

import (
	"net/url"
	"testing"

	"braid/internal/partfile"
	"braid/metalink"
	"braid/verify"
)

// claimed returns a claim of a digest of equal bytes.
func claimed(t *testing.T, a verify.Algorithm, over verify.Channel, fill byte) verify.Claim {
	t.Helper()
	raw := make([]byte, a.Size())
	for i := range raw {
		raw[i] = fill
	}
	d, err := verify.NewDigest(a, raw)
	if err != nil {
		t.Fatal(err)
	}
	return verify.Claim{Digest: d, Field: "Digest", Channel: over}
}

// Proves rules 34 and 64: a digest that the server stated in an earlier run yields only if the server states
// a strong digest of another algorithm over a channel as trusted. Digests given to this run never yield.
func TestOutdate_Rule34_Rule64(t *testing.T) {
	claims := func(c ...verify.Claim) []verify.Claim { return c }
	same := func(a, b []verify.Claim) bool { return len(a) == len(b) && len(without(a, b)) == 0 }
	v1 := claimed(t, verify.SHA256, verify.HTTPS, 1)
	for name, tt := range map[string]struct{ before, yielding, given, now, recalled []verify.Claim }{
		"another algorithm": {before: claims(v1), now: claims(claimed(t, verify.SHA512, verify.HTTPS, 2)),
			recalled: claims(v1)},
		"over http":  {before: claims(v1), now: claims(claimed(t, verify.SHA512, verify.HTTP, 2))},
		"a weak one": {before: claims(v1), now: claims(claimed(t, verify.MD5, verify.HTTPS, 2))},
		"nothing":    {before: claims(v1)},
		"the same":   {before: claims(v1), now: claims(v1, claimed(t, verify.SHA512, verify.HTTPS, 2))},
		"the same over http": {before: claims(v1), now: claims(claimed(t, verify.SHA256, verify.HTTP, 1),
			claimed(t, verify.SHA512, verify.HTTPS, 2))},
		"of two that one differs": {before: claims(v1, claimed(t, verify.MD5, verify.HTTPS, 1)),
			now: claims(claimed(t, verify.SHA512, verify.HTTPS, 2), claimed(t, verify.MD5, verify.HTTPS, 3))},
		"given to this run":     {before: claims(v1), given: claims(v1), now: claims(claimed(t, verify.SHA512, verify.HTTPS, 2))},
		"given to that run":     {before: claims(v1), yielding: claims(v1), recalled: claims(v1)},
		"given to both":         {before: claims(v1), yielding: claims(v1), given: claims(v1)},
		"given, and stated now": {before: claims(v1), yielding: claims(v1), now: claims(v1)},
	} {
		t.Run(name, func(t *testing.T) {
			for order, learn := range map[string]func(*known){
				"state":  func(k *known) { k.addDigests(tt.now) },
				"learn":  func(k *known) { k.learn(statement{by: byServer, size: -1, file: metalink.File{Claims: tt.now}}) },
				"before": nil, // the server was asked before the journal counted
			} {
				r := &Request{URL: &url.URL{Scheme: "https", Host: "a.example"}, Trust: Trust{Claims: tt.given}}
				k := newKnown(r)
				if learn == nil {
					k.addDigests(tt.now)
				}
				k.recall(partfile.Identity{Size: -1, Claims: tt.before, Yielding: tt.yielding}, r)
				if learn != nil {
					learn(k)
				}
				if got := k.digests.used(yields); !same(got, tt.recalled) {
					t.Errorf("%s: %v yield, want %v", order, got, tt.recalled)
				}
				if got, want := k.digests.counting(), join(join(tt.given, tt.before), tt.now); !same(got, want) {
					t.Errorf("%s: %v are known, want %v", order, got, want)
				}
				if id := identityOf(r, k); !same(id.Yielding, join(tt.given, tt.recalled)) {
					t.Errorf("%s: %v yield in the next run", order, id.Yielding)
				}
			}
		})
	}
}

// Proves rule 64: a yielding digest is forgotten once the server states another digest of the same algorithm, also if
// that digest is only in the other answer that checkBoth asks for.
func TestLearnContradiction_Rule64(t *testing.T) {
	v1, v2 := claimed(t, verify.SHA256, verify.HTTPS, 1), claimed(t, verify.SHA256, verify.HTTPS, 2)
	r := &Request{URL: &url.URL{Scheme: "https", Host: "a.example"}}
	k := newKnown(r)
	k.recall(partfile.Identity{Size: -1, Claims: []verify.Claim{v1}, Yielding: []verify.Claim{v1}}, r)
	k.learn(statement{by: byServer, size: -1, file: metalink.File{Claims: []verify.Claim{v2}}})
	if got := k.digests.counting(); len(got) != 1 || got[0] != v2 {
		t.Errorf("%v count, want only %v", got, v2)
	}
}
