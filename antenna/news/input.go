package news

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"braid/antenna/feed"
	"braid/internal/feedtext"
	"braid/internal/once"
)

const (
	// maxToken limits the size of one text, or of one JSON item, because it is kept in memory.
	maxToken = 4 << 20
	// chunk is the size of one read.
	chunk = 32 << 10
	// headSize is the number of bytes that are searched for an encoding declaration.
	headSize = 1 << 10
)

// An input is the text of a feed in UTF-8. It keeps the text from the offset passed to forget, and counts lines.
type input struct {
	compressed *feedtext.Reader
	head       *bufio.Reader
	text       io.Reader // nil until the charset is known
	err        error     // first error of text

	window []byte
	base   int64 // offset of the window
	line   int   // line of the first byte of the window
	pos    int   // position in the window

	charset, declared string
	known             bool // the declared charset is supported
	stop              func() error
}

func newInput(r io.Reader, limits feed.Limits, stop func() error) *input {
	compressed := feedtext.NewReader(r, limits)
	return &input{compressed: compressed, head: bufio.NewReaderSize(compressed, headSize), line: 1, charset: "utf-8",
		known: true, stop: stop}
}

func (in *input) describe() feed.Input {
	return feed.Input{Gzip: in.compressed.Gzip(), Charset: in.charset, Declared: in.declared}
}

// declaration matches the encoding declaration of an XML document (XML 1.0, section 4.3.3).
var declaration = once.Pattern(`^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']`)

// start detects the charset and returns the beginning of the text.
func (in *input) start() ([]byte, error) {
	raw, err := in.head.Peek(headSize)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, err
	}
	steps := []transform.Transformer{}
	switch {
	case bytes.HasPrefix(raw, []byte("\xfe\xff")), bytes.HasPrefix(raw, []byte("\xff\xfe")):
		in.charset = "utf-16"
		steps = append(steps, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder())
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		in.head.Discard(3) // the byte order mark
	default:
		if m := declaration().FindSubmatch(raw); m != nil {
			in.declared = string(m[1])
		}
		if enc := in.lookup(); enc != nil {
			steps = append(steps, enc.NewDecoder())
		}
	}
	in.text = transform.NewReader(in.head, transform.Chain(append(steps, &marker{ascii: !in.known})...))
	for len(in.window) < headSize && in.err == nil {
		in.fill()
	}
	return in.window, in.broken()
}

// lookup returns the declared charset. It returns nil if no conversion is needed or the charset is unknown.
func (in *input) lookup() encoding.Encoding {
	if in.declared == "" {
		return nil
	}
	enc, err := htmlindex.Get(strings.TrimSpace(in.declared))
	name := ""
	if err == nil {
		name, err = htmlindex.Name(enc)
	}
	switch {
	case err != nil || name == "replacement":
		in.charset, in.known = "unknown-8bit", false
		return nil
	case name == "utf-8" || strings.HasPrefix(name, "utf-16"): // UTF-16 would begin with a byte order mark
		return nil
	}
	in.charset = name
	return enc
}

// broken returns the error that ended the text, or nil at its end.
func (in *input) broken() error {
	if in.err == io.EOF {
		return nil
	}
	return in.err
}

// fill reads one chunk into the window. It sets err if the window is full or reading ends.
func (in *input) fill() {
	if len(in.window) > maxToken+chunk {
		in.err = codeLargeToken.Reject(in.lineAt(in.base))
		return
	}
	if in.stop != nil {
		if in.err = in.stop(); in.err != nil {
			return
		}
	}
	n := len(in.window)
	in.window = append(in.window, make([]byte, chunk)...)
	for range 100 {
		var got int
		got, in.err = in.text.Read(in.window[n : n+chunk])
		if got > 0 || in.err != nil {
			in.window = in.window[:n+got]
			return
		}
	}
	in.window, in.err = in.window[:n], io.ErrNoProgress
}

// ReadByte implements io.ByteReader, so that package encoding/xml does not read ahead.
func (in *input) ReadByte() (byte, error) {
	for in.pos == len(in.window) {
		if in.err != nil {
			return 0, in.err
		}
		in.fill()
	}
	c := in.window[in.pos]
	in.pos++
	return c, nil
}

func (in *input) Read(p []byte) (int, error) {
	for in.pos == len(in.window) {
		if in.err != nil {
			return 0, in.err
		}
		in.fill()
	}
	n := copy(p, in.window[in.pos:])
	in.pos += n
	return n, nil
}

// forget drops the text before an offset.
func (in *input) forget(offset int64) {
	n := int(offset - in.base)
	if n <= 0 {
		return
	}
	in.line += bytes.Count(in.window[:n], []byte("\n"))
	in.window, in.base, in.pos = in.window[n:], offset, in.pos-n
	if cap(in.window) < chunk { // the next chunk is read into a new slice, which then begins at offset
		in.window = append(make([]byte, 0, 4*chunk), in.window...)
	}
}

// between returns the text between two offsets in the window.
func (in *input) between(start, end int64) []byte { return in.window[start-in.base : end-in.base] }

// lineAt returns the line of an offset in the window.
func (in *input) lineAt(offset int64) int {
	return in.line + bytes.Count(in.window[:offset-in.base], []byte("\n"))
}
