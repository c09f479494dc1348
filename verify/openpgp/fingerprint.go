package openpgp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// A Fingerprint identifies a key (RFC 9580, section 5.5.4). It has 20 bytes for a key of version 4, and 32 bytes for a
// key of version 6. Fingerprints can be compared with ==. The zero value identifies no key.
type Fingerprint struct{ raw string }

const (
	sizeV4 = 20
	sizeV6 = 32
)

// ParseFingerprint parses 40 or 64 hexadecimal digits in either case. Spaces and a leading 0x are allowed. Key IDs are
// refused: they are so short that an attacker can make a key with the same key ID.
func ParseFingerprint(s string) (Fingerprint, error) {
	digits := strings.Join(strings.Fields(s), "")
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits = rest
	}
	raw, err := hex.DecodeString(digits)
	switch {
	case err == nil && (len(raw) == sizeV4 || len(raw) == sizeV6):
		return Fingerprint{string(raw)}, nil
	case err == nil && (len(raw) == 4 || len(raw) == 8):
		return Fingerprint{}, fmt.Errorf(
			"%s is a key ID, which is not unique: give all 40 (or 64) digits of the fingerprint", quote(s))
	case err == nil || err == hex.ErrLength:
		return Fingerprint{}, fmt.Errorf("fingerprint %s has %d digits, want 40 or 64", quote(s), len(digits))
	}
	return Fingerprint{}, fmt.Errorf("fingerprint %s is not hexadecimal", quote(s))
}

// fingerprint converts a fingerprint of the library. It returns the zero value if raw has the wrong length.
func fingerprint(raw []byte) Fingerprint {
	if len(raw) != sizeV4 && len(raw) != sizeV6 {
		return Fingerprint{}
	}
	return Fingerprint{string(raw)}
}

// String returns the fingerprint in capital hexadecimal digits.
func (f Fingerprint) String() string {
	if f.IsZero() {
		return "no key"
	}
	return strings.ToUpper(hex.EncodeToString([]byte(f.raw)))
}

// IsZero reports whether f is the zero value.
func (f Fingerprint) IsZero() bool { return f.raw == "" }

// keyID returns the key ID. It is the only reference to the key in some signatures (RFC 9580, section 5.5.4).
func (f Fingerprint) keyID() uint64 {
	switch len(f.raw) {
	case sizeV4:
		return binary.BigEndian.Uint64([]byte(f.raw[sizeV4-8:]))
	case sizeV6:
		return binary.BigEndian.Uint64([]byte(f.raw[:8]))
	}
	return 0
}
