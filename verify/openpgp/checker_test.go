package openpgp

import (
	"braid/verify"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// A file is hashed once for each algorithm that its signatures need, whatever their number, and not at all for those
// that do not count.
func TestCheckerHashesOnce(t *testing.T) {
	ann, eve := newEntity(t, at(born)), newEntity(t, at(born))
	keys := keyringOf(t, ann)
	var sigs []byte
	for range 20 {
		sigs = append(sigs, draft{}.by(t, ann.PrivateKey, signed)...)
		sigs = append(sigs, draft{hash: 10}.by(t, ann.PrivateKey, signed)...)
		sigs = append(sigs, draft{hash: 14}.by(t, eve.PrivateKey, signed)...)
	}
	c, err := New(sigs, keys, Policy{Now: present})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.hashes) != 2 || len(c.salted) != 0 {
		t.Errorf("%d hashes and %d with salt, want 2 and none", len(c.hashes), len(c.salted))
	}
	io.WriteString(c, signed)
	if all, err := c.Signatures(); err != nil || len(all) != 60 {
		t.Errorf("got %v, %v", all, err)
	}
}

// Signatures judges what was there so far, as often as it is asked, and changes nothing.
func TestResultIsRepeated(t *testing.T) {
	ann := newEntity(t, at(born))
	c, err := New(draft{}.by(t, ann.PrivateKey, signed), keyringOf(t, ann), Policy{Now: present})
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(signed) + 2 {
		for range 2 {
			all, err := c.Signatures()
			if _, ok := verify.GoodSignature(all); ok != (i == len(signed)) || (err == nil) != ok {
				t.Errorf("after %d bytes: %v, %v", i, all, err)
			}
		}
		c.Write([]byte((signed + "!!")[i : i+1]))
	}
}

// A signature that is named by its key ID alone may be by any key that has it.
func TestCollidingKeys(t *testing.T) {
	ann, eve := newEntity(t, at(born)), newEntity(t, at(born))
	c, err := New(draft{}.by(t, ann.PrivateKey, signed), keyringOf(t, ann), Policy{Now: present})
	if err != nil {
		t.Fatal(err)
	}
	// Making keys whose IDs collide takes 2^32 tries, so the checker is told of one.
	c.pending[0].signers = append([]signer{{entity: eve}}, c.pending[0].signers...)
	io.WriteString(c, signed)
	all, err := c.Signatures()
	if s, ok := verify.GoodSignature(all); err != nil || !ok || s.Key != fingerprint(ann.PrimaryKey.Fingerprint).String() {
		t.Errorf("got %v, %v", all, err)
	}
}

// What no file could pass is told before the file comes, also if the key is there twice.
func TestNewFailsAtOnce(t *testing.T) {
	ann, eve := newEntity(t, at(born)), newEntity(t, at(born))
	sig := draft{}.by(t, ann.PrivateKey, signed)
	for name, tt := range map[string]struct {
		keys Keyring
		want verify.SignatureCode
	}{
		"unknown key": {keyringOf(t, eve), verify.SignatureUnknownKey},
		"not pinned":  {keyringOf(t, eve, ann), verify.SignatureNotPinned},
	} {
		c, err := New(sig, tt.keys, Policy{Now: present, Pins: []Fingerprint{fingerprint(eve.PrimaryKey.Fingerprint)}})
		var e *verify.SignatureError
		if !errors.As(err, &e) || e.Code != tt.want || len(e.Signatures) != 1 || c != nil {
			t.Errorf("%s: got %v, %v", name, c, err)
		}
	}
	c, err := New(sig, keyringOf(t, ann, eve, ann), Policy{Now: present})
	if err != nil || len(c.pending) != 1 || len(c.pending[0].signers) != 1 {
		t.Errorf("a key that is there twice: %v", err)
	}
}

func BenchmarkChecker(b *testing.B) {
	ann := newEntity(b, at(born))
	keys := keyringOf(b, ann)
	for name, d := range map[string]draft{"SHA-256": {hash: 8}, "SHA-512": {hash: 10}} {
		b.Run(name, func(b *testing.B) {
			sig := bytes.Repeat(d.by(b, ann.PrivateKey, signed), 10)
			c, err := New(sig, keys, Policy{Now: present})
			if err != nil {
				b.Fatal(err)
			}
			buf := []byte(strings.Repeat("x", 256<<10))
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				c.Write(buf)
			}
		})
	}
}

// Proves rule 51 and C11: with nobody to trust nothing is validated, whatever the signatures say.
func TestNoAnchor_C11_Rule51(t *testing.T) {
	ann := newEntity(t, at(born))
	c, err := New(draft{}.by(t, ann.PrivateKey, signed), Keyring{}, Policy{Now: present})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, signed)
	all, err := c.Signatures()
	if _, ok := verify.GoodSignature(all); err != nil || ok || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
