package openpgp

import (
	"encoding/binary"
	"iter"
)

// The types of subpackets that this package reads (RFC 9580, section 5.2.3.7).
const (
	subpacketMade        = 2 // the time
	subpacketRevoker     = 12
	subpacketKeyID       = 16
	subpacketEmbedded    = 32
	subpacketFingerprint = 33
)

// subpackets iterates over the types and contents of the subpackets in the body of a signature packet: first the hashed
// subpackets, then the unhashed ones, each up to the first malformed one. The types lack the critical bit. Nothing is
// copied, because a subpacket can be as short as two bytes. The bodies of versions other than 4 and 6 have none.
func subpackets(body []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		if len(body) < 4 || body[0] != 4 && body[0] != 6 {
			return
		}
		hashed, rest := consumeArea(body[0], body[4:])
		unhashed, _ := consumeArea(body[0], rest)
		for _, area := range [][]byte{hashed, unhashed} {
			for len(area) > 0 {
				n, rest := consumeLength(area)
				if n == 0 || n > uint64(len(rest)) {
					break
				}
				if !yield(rest[0]&0x7f, rest[1:n]) {
					return
				}
				area = rest[n:]
			}
		}
	}
}

// nested reports whether the body of a signature packet has a signature within a signature within the signature. A key
// needs a single level, for the back-signature of a subkey. The library copies the rest of the body at each level.
func nested(body []byte) bool {
	for kind, inner := range subpackets(body) {
		if kind != subpacketEmbedded {
			continue
		}
		for kind := range subpackets(inner) {
			if kind == subpacketEmbedded {
				return true
			}
		}
	}
	return false
}

func countSubpackets(body []byte) (n int) {
	for kind, inner := range subpackets(body) {
		if n++; kind == subpacketEmbedded {
			n += countSubpackets(inner)
		}
	}
	return n
}

// consumeLength splits b after the length of a subpacket (RFC 9580, section 5.2.3.7). The length is 0 if b is too short.
func consumeLength(b []byte) (n uint64, rest []byte) {
	switch {
	case b[0] < 192:
		return uint64(b[0]), b[1:]
	case b[0] < 255 && len(b) > 1:
		return uint64(b[0]-192)<<8 + uint64(b[1]) + 192, b[2:]
	case b[0] == 255 && len(b) > 4:
		return uint64(binary.BigEndian.Uint32(b[1:])), b[5:]
	}
	return 0, nil
}

// consumeArea splits body after its first area of subpackets: a length (2 bytes, 4 in version 6) and that many bytes.
func consumeArea(version byte, body []byte) (area, rest []byte) {
	width := 2
	if version == 6 {
		width = 4
	}
	if len(body) < width {
		return nil, nil
	}
	n := uint64(binary.BigEndian.Uint16(body))
	if width == 4 {
		n = uint64(binary.BigEndian.Uint32(body))
	}
	if body = body[width:]; n > uint64(len(body)) {
		return nil, nil
	}
	return body[:n], body[n:]
}
