package soif

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// An input detects the encodings of a stream from the content, and removes them: gzip, then the header of a MIME entity
// (RFC 2652), then the transfer encoding that RFC 2655, section 3, requires for binary values.
type input struct {
	compressed *feedtext.Reader
	body       io.Reader // nil until open is called
	err        error
	// charset is the charset of the text. declared is its name in the header.
	charset  *feedtext.Charset
	declared string
}

func newInput(r io.Reader, l feed.Limits) *input {
	return &input{compressed: feedtext.NewReader(r, l), charset: feedtext.UTF8}
}

func (i *input) Read(p []byte) (int, error) {
	if i.body == nil && i.err == nil {
		i.err = i.open()
	}
	if i.err != nil {
		return 0, i.err
	}
	return i.body.Read(p)
}

// open detects the encodings.
func (i *input) open() error {
	in := bufio.NewReaderSize(i.compressed, maxHeader)
	i.body = in
	if first, err := in.Peek(1); err != nil || first[0] == '@' {
		return nil // Read returns the error again
	}
	head, _ := in.Peek(maxHeader)
	if fields, length := consumeHeader(head); i.declare(fields["content-type"]) {
		if _, err := in.Discard(length); err != nil {
			return err
		}
		return i.decode(fields["content-transfer-encoding"])
	}
	if isBase64(head) {
		return i.decode("base64")
	}
	return nil
}

const maxHeader = 16 << 10

// consumeHeader parses the fields of a MIME entity (RFC 2045, section 3) up to the blank line. The names are in lower
// case. length is the length of the header. fields is nil if text does not begin with a complete header.
func consumeHeader(text []byte) (fields map[string]string, length int) {
	fields = map[string]string{}
	last, rest := "", text
	for {
		line, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return nil, 0
		}
		rest = after
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			return fields, len(text) - len(rest)
		}
		if isSpace(line[0]) && last != "" { // folded
			fields[last] += " " + string(bytes.TrimSpace(line))
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || spanOf(name, isName) < len(name) {
			return nil, 0
		}
		last = strings.ToLower(string(name))
		fields[last] = string(bytes.TrimSpace(value))
	}
}

// declare evaluates a Content-Type. It returns false for any type other than those of SOIF: the type of RFC 2655,
// section 2, its form with a parameter (RFC 2652), and the type of old search programs.
func (i *input) declare(contentType string) bool {
	t, params, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return false
	case t == "application/index.obj.harvest-soif-1", t == "application/x-soif":
	case t == "application/index.obj" && strings.EqualFold(params["type"], "harvest-soif-1"):
	default:
		return false
	}
	if i.declared = params["charset"]; i.declared != "" {
		var ok bool
		if i.charset, ok = feedtext.LookupCharset(i.declared); !ok {
			i.charset = feedtext.UnknownCharset
		}
	}
	return true
}

// decode removes a Content-Transfer-Encoding (RFC 2045, section 6).
func (i *input) decode(encoding string) error {
	source := &transfer{r: i.body}
	switch strings.ToLower(encoding) {
	case "", "7bit", "8bit", "binary":
	case "base64":
		source.dense = true
		i.body = blaming{source, base64.NewDecoder(base64.StdEncoding, source)}
	case "quoted-printable":
		i.body = blaming{source, quotedprintable.NewReader(source)}
	default:
		return &feed.RejectError{Code: "unknown-encoding", Why: fmt.Sprintf("unknown Content-Transfer-Encoding %q", encoding)}
	}
	return nil
}

// A transfer is the source of a decoder. It keeps the last error.
type transfer struct {
	r io.Reader
	// dense drops white space, which decoders of base64 must ignore (RFC 2045, section 6.8).
	dense bool
	err   error
}

func (s *transfer) Read(p []byte) (n int, err error) {
	n, s.err = s.r.Read(p)
	if s.dense {
		n = len(withoutSpace(p[:n]))
	}
	return n, s.err
}

func withoutSpace(p []byte) []byte {
	kept := p[:0]
	for _, c := range p {
		if !isSpace(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// A blaming distinguishes an error of the encoding from an error of reading.
type blaming struct {
	source *transfer
	r      io.Reader
}

func (b blaming) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case b.source.err == nil || b.source.err == io.EOF:
		return n, &feed.RejectError{Code: "bad-encoding", Why: err.Error()}
	}
	return n, b.source.err
}

// isBase64 reports whether head begins with a line of base64 that decodes to the beginning of a SOIF object.
func isBase64(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	line = bytes.TrimRight(line, " \t\r=")
	if len(line) < 4 || spanOf(line, isBase64Digit) < len(line) {
		return false
	}
	var start [3]byte
	if _, err := base64.StdEncoding.Decode(start[:], line[:4]); err != nil {
		return false
	}
	return start[0] == '@' && isName(start[1]) && (isName(start[2]) || isSpace(start[2]) || start[2] == '{')
}

func isBase64Digit(c byte) bool { return isName(c) && c != '-' && c != '_' || c == '+' || c == '/' }
