// Package apt is a transport of apt: a program that apt starts to fetch URIs and that exchanges messages with apt
// (libapt-pkg-doc, "APT Method Interface"). Package download fetches the files. It checks them against the digests in
// apt's signed lists, so a file may come from any mirror.
//
// A file for which apt sends no SHA-256 or SHA-512 is fetched only from the server of its URI. An unknown setting of
// apt that concerns trust is an error. The package verifies no signatures, because apt does.
//
//	m := &apt.Method{Name: "braid+https", In: os.Stdin, Out: os.Stdout}
//	err := m.Run(ctx) // until apt closes the pipe
package apt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Message is a message of the protocol: a status code with its text, and fields.
type Message struct {
	Code   int
	Text   string
	Fields []Field
}

// A Field is a field of a message. Its value may have several lines.
type Field struct{ Name, Value string }

// Get returns the value of the first field with a name, ignoring case. It returns "" if the message has no such field.
func (m *Message) Get(name string) string {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Add adds a field. Like apt, it omits a field with an empty value.
func (m *Message) Add(name, value string) {
	if value != "" {
		m.Fields = append(m.Fields, Field{name, value})
	}
}

// mostMessage limits the size of a message. The longest is apt's configuration, with some ten thousand bytes.
const mostMessage = 8 << 20

// A FormatError reports a message that is not valid. Later messages cannot be read either.
type FormatError struct{ Why string }

func (e *FormatError) Error() string { return "apt's message: " + e.Why }

// A Reader reads messages.
type Reader struct{ lines *bufio.Reader }

// NewReader returns a Reader that reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10)} }

// Next reads a message. It returns io.EOF at the end, io.ErrUnexpectedEOF within a message, and a *FormatError if the
// message is not valid.
func (r *Reader) Next() (*Message, error) {
	m, left := &Message{}, mostMessage
	for begun := false; ; {
		line, err := r.line(&left)
		switch {
		case err == io.EOF && (begun || line != ""):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case line == "" && begun:
			return m, nil
		case line == "": // between messages
		case !begun:
			begun = true
			if err := m.head(line); err != nil {
				return nil, err
			}
		default:
			if err := m.field(line); err != nil {
				return nil, err
			}
		}
	}
}

// line reads a line without its end. left is the number of bytes that the message may still have.
func (r *Reader) line(left *int) (string, error) {
	var line []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		if *left -= len(part); *left < 0 {
			return "", &FormatError{fmt.Sprintf("it has more than %d bytes", mostMessage)}
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		if i := strings.IndexFunc(text, isControl); i >= 0 {
			return "", &FormatError{fmt.Sprintf("it has a control character: %q", text[i])}
		}
		return text, err
	}
}

// isControl reports whether r is a control character other than a tab, which a message must not contain. apt refuses
// the same characters.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// head parses the first line, such as "600 URI Acquire".
func (m *Message) head(line string) error {
	code, text, _ := strings.Cut(line, " ")
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil || len(code) != 3 {
		return &FormatError{"it does not begin with a status code of three digits"}
	}
	m.Code, m.Text = int(n), strings.TrimSpace(text)
	return nil
}

// field parses a line of a field.
func (m *Message) field(line string) error {
	if line[0] == ' ' || line[0] == '\t' {
		if len(m.Fields) == 0 {
			return &FormatError{"its first line is a continuation line"}
		}
		m.Fields[len(m.Fields)-1].Value += "\n" + strings.TrimSpace(line)
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return &FormatError{"a line is not a field"}
	}
	m.Fields = append(m.Fields, Field{name, strings.TrimSpace(value)})
	return nil
}

// String returns the message in the form in which it is sent. Control characters in values become spaces, because a
// line end would end the field and apt would refuse the other control characters.
func (m *Message) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%03d %s\n", m.Code, oneLine(m.Text))
	for _, f := range m.Fields {
		b.WriteString(f.Name + ": " + oneLine(f.Value) + "\n")
	}
	return b.String() + "\n"
}

func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s))
}
