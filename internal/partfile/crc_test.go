package partfile

import "testing"

// The CRC-32C of "123456789" is its check value in the catalogue of CRCs. The one of 32 zero bytes is in RFC 3720,
// section B.4.
func TestChecksum(t *testing.T) {
	if got := checksum([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("%08x", got)
	}
	if got := checksum(make([]byte, 32)); got != 0x8a9136aa {
		t.Errorf("%08x", got)
	}
}

// FuzzJoin compares joined CRCs with the CRC of the whole.
func FuzzJoin(f *testing.F) {
	f.Add([]byte(nil), []byte(nil), uint16(0))
	f.Add([]byte("a"), []byte("b"), uint16(1))
	f.Add(make([]byte, 70000), []byte("tail"), uint16(65535))
	f.Fuzz(func(t *testing.T, a, b []byte, zeros uint16) {
		b = append(b, make([]byte, zeros)...)
		want := checksum(append(a[:len(a):len(a)], b...))
		if got := join(checksum(a), checksum(b), int64(len(b))); got != want {
			t.Fatalf("%d and %d bytes: joined %08x, want %08x", len(a), len(b), got, want)
		}
	})
}

// Joining must be cheap in comparison with writing 16 KiB.
func BenchmarkJoin(b *testing.B) {
	var sum uint32
	for n := range b.N {
		sum = join(sum, uint32(n), 16<<10-1)
	}
}
