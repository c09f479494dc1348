package openpgp

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"braid/verify"
)

// nest returns a signature packet of about n bytes, in which each signature has the next one as a hashed subpacket.
func nest(n int) []byte {
	body := make([]byte, 0, n)
	for left := n; left > 40; left = n - len(body) {
		body = append(body, 6, 0, 27, 8)
		body = binary.BigEndian.AppendUint32(body, uint32(left-8))
		body = append(body, 0xff)
		body = binary.BigEndian.AppendUint32(body, uint32(left-13))
		body = append(body, subpacketEmbedded)
	}
	return packetOf(tagSignature, append(body, make([]byte, n-len(body))...))
}

// many returns a signature packet of n subpackets that no one knows, each of two bytes.
func many(n int) []byte {
	body := binary.BigEndian.AppendUint32([]byte{6, 0, 27, 8}, uint32(2*n))
	return packetOf(tagSignature, append(body, bytes.Repeat([]byte{1, 100}, n)...))
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Proves rules 20 and 47: the memory for a signature is a small multiple of its length, also in a key.
func TestMemory_Rule20_Rule47(t *testing.T) {
	ann := newEntity(t, at(born))
	keys := keyringOf(t, ann)
	for name, tt := range map[string]struct {
		sig  []byte
		want verify.SignatureCode
	}{
		"nested":          {nest(verify.MaxSignature - 6), verify.SignatureMalformed},
		"many subpackets": {many(500_000), verify.SignatureTooLarge},
	} {
		if n := allocated(func() {
			if got, says := verdict(tt.sig, keys, Policy{Now: present}, signed); got != tt.want {
				t.Errorf("%s: got %v: %s", name, got, says)
			}
		}); n > 8<<20 {
			t.Errorf("%s: %d bytes for a signature of %d", name, n, len(tt.sig))
		}
	}
	export := slices.Concat(publicKey(t, ann), nest(verify.MaxSignature))
	if n := allocated(func() {
		if k, err := ParseKeyring(export); err == nil {
			t.Errorf("%d keys of an export with nested signatures", k.Len())
		}
	}); n > 8<<20 {
		t.Errorf("%d bytes for a key of %d", n, len(export))
	}
}

// The back-signature of a subkey is a signature within a signature.
func TestEmbeddedOnce(t *testing.T) {
	ann := newEntity(t, at(born))
	sub := withSubkey(t, ann, at(born))
	sig := draft{}.by(t, sub.PrivateKey, signed)
	if got, says := verdict(sig, keyringOf(t, ann), Policy{Now: present}, signed); got != verify.SignatureGood {
		t.Errorf("got %v: %s", got, says)
	}
}
