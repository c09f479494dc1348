package ftpsource

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Limits of rule 58.
const (
	maxLine  = 8 << 10 // bytes of a line, without its end
	maxLines = 100     // lines of a reply
)

var (
	errLongLine   = errors.New("a line of a reply is longer than 8 KiB")
	errManyLines  = errors.New("a reply has more than 100 lines")
	errUnasked    = errors.New("a reply to a command that was not sent")
	errNoPort     = errors.New("the reply has no port")
	errShortReply = errors.New("a reply has no code")
)

// A reply is the reply to a command (RFC 959, section 4.2).
type reply struct {
	code  int
	lines []string // without codes
}

// newLines returns a reader of r that can hold the longest line.
func newLines(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, maxLine+len("\r\n")) }

// readReply reads one reply. RFC 959, section 4.2: "the format for multi-line replies is that the first line will begin
// with the exact required reply code, followed immediately by a Hyphen [...]. The last line will begin with the same
// code, followed immediately by Space".
//
// The error is io.EOF only if nothing was received.
func readReply(r *bufio.Reader) (reply, error) {
	line, err := readLine(r)
	if err != nil {
		return reply{}, err
	}
	code, more, text, ok := cutCode(line)
	if !ok {
		return reply{}, errShortReply
	}
	p := reply{code: code, lines: []string{text}}
	for more {
		if line, err = readLine(r); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return reply{}, err
		}
		if len(p.lines) == maxLines {
			return reply{}, errManyLines
		}
		if c, goesOn, text, ok := cutCode(line); ok && c == code {
			more, line = goesOn, text
		}
		p.lines = append(p.lines, line)
	}
	return p, nil
}

// readLine reads a line from r without its end, which is CR LF, or LF from some servers.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return "", errLongLine
	case err == io.EOF && len(line) > 0:
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	text := strings.TrimSuffix(string(line[:len(line)-1]), "\r")
	if len(text) > maxLine {
		return "", errLongLine
	}
	return text, nil
}

// cutCode splits a line after its code. Some servers omit the space if no text follows.
func cutCode(line string) (code int, more bool, text string, ok bool) {
	if len(line) < 3 || line[0] < '1' || line[0] > '5' {
		return 0, false, "", false
	}
	n, err := strconv.ParseUint(line[:3], 10, 16)
	switch {
	case err != nil:
		return 0, false, "", false
	case len(line) == 3:
		return int(n), false, "", true
	case line[3] != ' ' && line[3] != '-':
		return 0, false, "", false
	}
	return int(n), line[3] == '-', line[4:], true
}

// kind returns the first digit: 1 preliminary, 2 completed, 3 continue, 4 temporary failure, 5 permanent failure (RFC
// 959, section 4.2.1).
func (p reply) kind() int { return p.code / 100 }

// text returns the text of the reply on one line.
func (p reply) text() string { return strings.Join(strings.Fields(strings.Join(p.lines, " ")), " ") }

// size parses the reply to SIZE (RFC 3659, section 4).
func (p reply) size() (int64, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(p.lines[0]), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("SIZE is %.40q", p.lines[0])
	}
	return int64(n), nil
}

// extendedPort parses the port in the reply to EPSV (RFC 2428, section 3): three delimiters, the port, a delimiter. An
// address between the delimiters is ignored.
func (p reply) extendedPort() (int, error) {
	text := strings.Join(p.lines, " ")
	i := strings.LastIndexByte(text, '(')
	if i < 0 || i+1 == len(text) {
		return 0, errNoPort
	}
	fields := strings.Split(text[i+1:], text[i+1:i+2])
	if len(fields) != 5 || !strings.HasPrefix(fields[4], ")") {
		return 0, errNoPort
	}
	return port(fields[3])
}

// passivePort parses the port in the reply to PASV: the last two of six numbers. RFC 1123, section 4.1.2.6, requires
// clients to look for the first digit, because some replies lack the parentheses of RFC 959. The other four numbers are
// an address, which is ignored.
func (p reply) passivePort() (int, error) {
	text := strings.Join(p.lines, " ")
	text = text[strings.IndexByte(text, '(')+1:]
	text = text[max(0, strings.IndexAny(text, "0123456789")):]
	if end := strings.IndexFunc(text, func(r rune) bool { return r != ',' && (r < '0' || r > '9') }); end >= 0 {
		text = text[:end]
	}
	numbers := strings.Split(text, ",")
	if len(numbers) != 6 {
		return 0, errNoPort
	}
	n := 0
	for _, number := range numbers {
		part, err := strconv.ParseUint(number, 10, 8)
		if err != nil {
			return 0, errNoPort
		}
		n = n<<8&0xffff | int(part)
	}
	if n == 0 {
		return 0, errNoPort
	}
	return n, nil
}

func port(digits string) (int, error) {
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return 0, errNoPort
	}
	return int(n), nil
}

// has reports whether p, a reply to FEAT, lists feature (RFC 2389, section 3.2).
func (p reply) has(feature string) bool {
	return slices.ContainsFunc(p.lines, func(line string) bool {
		return strings.EqualFold(strings.Join(strings.Fields(line), " "), feature)
	})
}

// An Error is an unsuccessful reply.
type Error struct {
	Command string // without its arguments
	Code    int
	Text    string // of the server, shortened; not escaped
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("%s: reply %d", e.Command, e.Code)
	}
	return fmt.Sprintf("%s: reply %d %s", e.Command, e.Code, e.Text)
}
