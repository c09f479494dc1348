package openpgp

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// The packet types that are told apart here (RFC 9580, section 5).
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

// eachPacket calls f with the packets of data, in order and unparsed, until f fails.
//
// The library's reader of parsed packets is not used for this: it skips what it does not understand, and takes what
// follows the fields inside of a packet for the next packet.
func eachPacket(data []byte, f func(*packet.OpaquePacket) error) error {
	r := packet.NewOpaqueReader(bytes.NewReader(data))
	for {
		p, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("cut off in the middle of a packet")
		case err != nil:
			return errors.New("what is there is no OpenPGP packet")
		}
		if err := f(p); err != nil {
			return err
		}
	}
}

// parsePacket lets the library read one packet. All of it has to be used up.
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

// isUnsupported tells what the library does not know from what is wrong.
func isUnsupported(err error) bool {
	var unsupported pgperrors.UnsupportedError
	return errors.As(err, &unsupported)
}
