// Package apt is a transport of apt: a program that apt starts to fetch what URIs name, and that it talks to by messages
// (libapt-pkg-doc, "APT Method Interface"). What apt wants goes to package download, with the digests of apt's signed lists as
// demands, so any mirror is good enough.
//
// It refuses to trust for itself: what apt gives no SHA-256 or better for comes from the server of its URI alone, and a
// setting of apt about trust that it does not know is an error. It verifies no signature, as apt does that.
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

// A Message is one of the protocol: a status code with its words, and fields.
type Message struct {
	Code   int
	Text   string
	Fields []Field
}

// A Field is one line of a message, or several: those after the first begin with a space there and not here.
type Field struct{ Name, Value string }

// Get is the value of the first field of that name, in either case. Without such a field it is empty.
func (m *Message) Get(name string) string {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Add adds a field. Apt leaves out those that are empty, and so does Add.
func (m *Message) Add(name, value string) {
	if value != "" {
		m.Fields = append(m.Fields, Field{name, value})
	}
}

// mostMessage limits a message. The longest is apt's whole configuration, which has some ten thousand bytes.
const mostMessage = 8 << 20

// A FormatError says why a message cannot be read. Nothing behind it can be, either.
type FormatError struct{ Why string }

func (e *FormatError) Error() string { return "apt's message: " + e.Why }

// A Reader reads messages.
type Reader struct{ lines *bufio.Reader }

// NewReader reads messages from r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10)} }

// Next reads a message. It returns io.EOF at the end, io.ErrUnexpectedEOF within a message, and a *FormatError for
// anything that is not a message.
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

// line reads a line without its end; left is what a message may have.
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
			return "", &FormatError{fmt.Sprintf("a control character: %q", text[i])}
		}
		return text, err
	}
}

// isControl reports whether a message must not contain r. apt refuses the same ones; it allows a tab.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// head reads "600 URI Acquire".
func (m *Message) head(line string) error {
	code, text, _ := strings.Cut(line, " ")
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil || len(code) != 3 {
		return &FormatError{"it does not begin with a status code of three digits"}
	}
	m.Code, m.Text = int(n), strings.TrimSpace(text)
	return nil
}

// field reads a line of a field.
func (m *Message) field(line string) error {
	if line[0] == ' ' || line[0] == '\t' {
		if len(m.Fields) == 0 {
			return &FormatError{"its first field goes on, and has not begun"}
		}
		m.Fields[len(m.Fields)-1].Value += "\n" + strings.TrimSpace(line)
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return &FormatError{"a line is no field"}
	}
	m.Fields = append(m.Fields, Field{name, strings.TrimSpace(value)})
	return nil
}

// String is the message as it is sent. A line end within a value, or another control character, is a space: it would
// end the message, or apt would refuse it.
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
