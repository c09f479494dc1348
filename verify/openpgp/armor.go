package openpgp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
)

// A block is a block of armor (RFC 9580, section 6).
type block struct {
	kind string // "PGP SIGNATURE"
	line int    // first line, from 1
	data []byte
	err  error // why data is missing
}

// The kinds of block that are recognized.
const (
	signatureBlock = "PGP SIGNATURE"
	publicBlock    = "PGP PUBLIC KEY BLOCK"
	privateBlock   = "PGP PRIVATE KEY BLOCK"
	cleartextBlock = "PGP SIGNED MESSAGE"
	messageBlock   = "PGP MESSAGE"
)

var errEndless = errors.New("cut off: the armor has no end")

// dearmor returns all blocks of armor in text. stray is the number of the first non-empty line outside of the blocks,
// or zero.
//
// The library's decoder is not used: it stops after the first block, accepts a block without an end, and may skip a
// malformed block.
func dearmor(text []byte) (blocks []block, stray int) {
	l := lines{rest: text}
	for l.next() {
		kind, ok := armorLine(l.line, "-----BEGIN ")
		switch {
		case ok && kind == cleartextBlock: // a text follows, up to a signature block
			blocks = append(blocks, block{kind: kind, line: l.number})
		case ok:
			b := block{kind: kind, line: l.number}
			b.data, b.err = consumeBlock(&l, kind)
			blocks = append(blocks, b)
		case len(l.line) > 0 && stray == 0:
			stray = l.number
		}
	}
	return blocks, stray
}

// consumeBlock reads the rest of a block after its BEGIN line, including the END line.
func consumeBlock(l *lines, kind string) ([]byte, error) {
	if err := consumeHeaders(l); err != nil {
		return nil, err
	}
	var digits []byte
	checksum := false
	for before := *l; l.next(); before = *l {
		if _, ok := armorLine(l.line, "-----BEGIN "); ok {
			*l = before // the next block may be complete, so its BEGIN line is left
			break
		}
		if end, ok := armorLine(l.line, "-----END "); ok {
			if end != kind {
				return nil, fmt.Errorf("line %d is the end of another kind of block", l.number)
			}
			return decode64(digits)
		}
		if checksum || bytes.HasPrefix(l.line, []byte("-")) {
			return nil, fmt.Errorf("line %d is not armor", l.number)
		}
		// RFC 9580, section 6.1: an implementation "MUST ignore" the checksum.
		checksum = len(l.line) == 5 && l.line[0] == '='
		if !checksum {
			digits = append(digits, l.line...)
		}
	}
	return nil, errEndless
}

// consumeHeaders reads "Key: value" lines and the empty line after them.
func consumeHeaders(l *lines) error {
	for l.next() {
		if len(l.line) == 0 {
			return nil
		}
		if !bytes.Contains(l.line, []byte(": ")) && !bytes.HasSuffix(l.line, []byte(":")) {
			return fmt.Errorf("line %d is not an armor header", l.number)
		}
	}
	return errEndless
}

func decode64(digits []byte) ([]byte, error) {
	data := make([]byte, base64.StdEncoding.DecodedLen(len(digits)))
	n, err := base64.StdEncoding.Decode(data, digits)
	if err != nil {
		return nil, errors.New("the armor is not base64")
	}
	return data[:n], nil
}

// armorLine returns the kind of block in a line such as "-----BEGIN PGP SIGNATURE-----".
func armorLine(line []byte, prefix string) (kind string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(prefix+"PGP "))
	if !ok {
		return "", false
	}
	name, ok := bytes.CutSuffix(rest, []byte("-----"))
	return "PGP " + string(name), ok
}

// lines iterates over the lines of text.
type lines struct {
	rest   []byte
	line   []byte // without its line ending and trailing white space
	number int    // of line, from 1
}

func (l *lines) next() bool {
	if len(l.rest) == 0 {
		return false
	}
	line, rest, _ := bytes.Cut(l.rest, []byte("\n"))
	l.line, l.rest = bytes.TrimRight(line, " \t\r"), rest
	l.number++
	return true
}

// armored returns sig in armor with a checksum. The checksum is optional in RFC 9580, but GnuPG 2.2 requires it.
func armored(sig []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := armor.EncodeWithChecksumOption(&out, signatureBlock, nil, true)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(sig); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
