//go:build linux

package torture

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/pem"
	"net/http"
)

// page is a handler that has one text.
func page(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) })
}

// bomb is n MiB of one byte, in a few KiB.
func bomb(n int, c byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range n {
		z.Write(bytes.Repeat([]byte{c}, 1<<20)) // a buffer takes everything
	}
	z.Close()
	return b.Bytes()
}

// bombPacket is an OpenPGP packet of compressed data (RFC 9580, section 5.6) that grows to a gigabyte.
func bombPacket() []byte {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // the level is one of its own
	}
	for range 256 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	head := []byte{0xc8, 0xff, 0, 0, 0, 0, 1} // tag 8, a length of five octets, ZIP
	n := b.Len() + 1
	head[2], head[3], head[4], head[5] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return append(head, b.Bytes()...)
}

// binary takes the armor off.
func binary(armored []byte) []byte {
	lines := bytes.Split(armored, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte("=")) { // the checksum, which PEM has not
			lines = append(lines[:i], lines[i+1:]...)
			break
		}
	}
	block, _ := pem.Decode(bytes.Join(lines, []byte("\n")))
	if block == nil {
		return nil
	}
	return block.Bytes
}
