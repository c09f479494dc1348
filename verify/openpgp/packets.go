package openpgp

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// The packet types that this package distinguishes (RFC 9580, section 5).
const (
	tagSignature    = 2
	tagSecretKey    = 5
	tagPublicKey    = 6
	tagSecretSubkey = 7
	tagMarker       = 10
	tagPublicSubkey = 14
	tagPadding      = 21
	firstIgnorable  = 40 // RFC 9580, section 4.3: "Packet Type IDs from 40 to 63 are non-critical."
)

// eachPacket calls f for each packet. The library's reader of parsed packets is not used: it skips packets that it does
// not understand, and it treats trailing bytes inside a packet as the next packet.
func eachPacket(data []byte, f func(*packet.OpaquePacket) error) error {
	r := packet.NewOpaqueReader(bytes.NewReader(data))
	for {
		p, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("truncated within a packet")
		case err != nil:
			return errors.New("not an OpenPGP packet")
		}
		if p.Tag == tagSignature && nested(p.Contents) {
			return errors.New("a signature within a signature within a signature")
		}
		if err := f(p); err != nil {
			return err
		}
	}
}

// parsePacket parses one packet with the library. Bytes left over are an error.
func parsePacket(p *packet.OpaquePacket) (packet.Packet, error) {
	var buf bytes.Buffer
	if err := p.Serialize(&buf); err != nil {
		return nil, err
	}
	r := bytes.NewReader(buf.Bytes())
	parsed, err := packet.Read(r)
	if err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("%d bytes too many in a packet", r.Len())
	}
	return parsed, nil
}

// isUnsupported reports whether err is about an unsupported packet, as opposed to a malformed packet.
func isUnsupported(err error) bool {
	var unsupported pgperrors.UnsupportedError
	return errors.As(err, &unsupported)
}
