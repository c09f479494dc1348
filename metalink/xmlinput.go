package metalink

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// An input passes a document to the XML decoder, byte by byte and as UTF-8. It reports an error if the document is too
// long, has another encoding, or contains characters that XML does not allow.
type input struct {
	src   *bufio.Reader
	taken int64             // bytes read of the document
	wide  binary.ByteOrder  // byte order of UTF-16; nil for UTF-8
	buf   [utf8.UTFMax]byte // encoding of the current character
	rest  []byte            // unread part of buf
	token int               // bytes since the beginning of the current token
	err   error             // why reading ended; ReadByte returns it from then on
}

// newInput returns an input for the document in r. It reads the byte order mark of r. XML 1.0, section 4.3.3: "Entities
// encoded in UTF-16 MUST [...] begin with the Byte Order Mark".
func newInput(r io.Reader) *input {
	in := &input{src: bufio.NewReader(r)}
	mark, err := in.src.Peek(3)
	switch {
	case len(mark) >= 2 && mark[0] == 0xFF && mark[1] == 0xFE:
		in.wide = binary.LittleEndian
		in.skip(2)
	case len(mark) >= 2 && mark[0] == 0xFE && mark[1] == 0xFF:
		in.wide = binary.BigEndian
		in.skip(2)
	case string(mark) == "\uFEFF":
		in.skip(3)
	}
	if err != nil && err != io.EOF {
		in.err = err
	}
	return in
}

func (in *input) skip(n int) {
	in.src.Discard(n)
	in.taken += int64(n)
}

// begin resets the size of the current token.
func (in *input) begin() { in.token = 0 }

// ReadByte implements io.ByteReader.
func (in *input) ReadByte() (byte, error) {
	if len(in.rest) == 0 && in.err == nil {
		in.err = in.fill()
	}
	if in.err != nil {
		return 0, in.err
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b, nil
}

// Read exists because xml.NewDecoder takes an io.Reader. The decoder calls only ReadByte.
func (in *input) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// fill reads the next character.
func (in *input) fill() error {
	r, err := in.character()
	switch {
	case err != nil:
		return err
	case in.taken > MaxSize:
		return fault(TooMuch, "it is larger than %d MiB", MaxSize>>20)
	case !inXML(r):
		return fault(Charset, "it has the character U+%04X, which XML does not allow", r)
	}
	in.rest = utf8.AppendRune(in.buf[:0], r)
	if in.token += len(in.rest); in.token > maxToken {
		return fault(TooMuch, "a tag, comment or text has more than %d MiB", maxToken>>20)
	}
	return nil
}

func (in *input) character() (rune, error) {
	if in.wide != nil {
		return in.wideCharacter()
	}
	r, n, err := in.src.ReadRune()
	in.taken += int64(n)
	if r == utf8.RuneError && n == 1 {
		return 0, fault(Charset, "it is not UTF-8")
	}
	return r, err
}

// wideCharacter decodes UTF-16 (RFC 2781, section 2.2).
func (in *input) wideCharacter() (rune, error) {
	r, err := in.unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	low, err := in.unit()
	if err != nil && err != io.EOF {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, fault(Charset, "it is not valid UTF-16: half of a surrogate pair is missing")
	}
	return r, nil
}

func (in *input) unit() (rune, error) {
	var b [2]byte
	n, err := io.ReadFull(in.src, b[:])
	in.taken += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fault(Charset, "it is not valid UTF-16: its last character has only one byte")
	}
	return rune(in.wide.Uint16(b[:])), err
}

// inXML reports whether XML allows r in a document (XML 1.0, section 2.2).
func inXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}
