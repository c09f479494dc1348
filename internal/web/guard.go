package web

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// The errors with which a guard ends a connection.
var (
	errTwoFramings = &AnswerError{"the answer has both Content-Length and Transfer-Encoding", false}
	errOldFraming  = &AnswerError{"a response in HTTP/1.0 has Transfer-Encoding", false}
	errSpaced      = &AnswerError{"a space follows the name of a header field that gives the length of the response", false}
	errHeadTooLong = &AnswerError{"the header section is longer than 256 KiB", true}
)

// maxHead is the maximum size of a header section (rule 20).
const maxHead = 256 << 10

// guard is a connection that tracks where answers begin and end. It detects three faults that net/http does not report:
// an answer with two framings, which RFC 9112, section 6.3, wants "handled as an error"; a body longer than announced;
// and bytes without a request, which net/http only logs. It does not modify valid answers.
//
// The written bytes do not show where a request begins: a long header section is written in several parts, and the
// server determines some of its content. So the transport calls expect when it assigns the connection to a request.
//
// On a connection to a proxy, the guard begins as a tunnel, in the phase through. It stays in this phase until expect
// is called on it. TLS within a tunnel is above the guard, so net/http alone checks the answers through the tunnel.
type guard struct {
	net.Conn
	socket *socket       // nil unless this guard decides when the socket gathers
	closed chan struct{} // closed when the connection is closed
	once   sync.Once

	mu     sync.Mutex
	phase  phase
	due    bool   // the next write begins a request
	head   []byte // in phase inHead: the bytes received so far
	toHead bool   // the request is a HEAD request: its answer has no body
	left   int64  // in phase inBody: bytes to come; -1 if unknown
	excess bool   // the server sent more than it announced
	cut    bool   // the connection ended within a header section
	eof    bool   // the connection ended
	err    error  // why the guard ended the connection; kept, because line readers drop the first error
}

type phase int

const (
	idle    phase = iota // no request is pending
	inHead               // a request was sent, and the header section of its answer is incomplete
	inBody               // the header section is complete, the body is not
	through              // a tunnel: nothing is checked
)

func newGuard(conn net.Conn) *guard { return &guard{Conn: conn, closed: make(chan struct{})} }

// newTunnel returns a guard for a connection that begins as a tunnel.
func newTunnel(conn net.Conn) *guard {
	g := newGuard(conn)
	g.phase = through
	return g
}

// expect announces that the next write begins a request. A connection carries one request at a time.
func (g *guard) expect() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due = true
}

// Close closes the connection and g.closed.
func (g *guard) Close() error {
	err := g.Conn.Close()
	g.once.Do(func() { close(g.closed) })
	return err
}

// overran reports whether the server sent more bytes than it announced (rule 15).
func (g *guard) overran() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.excess
}

// endedInHead reports whether the connection ended within a header section.
func (g *guard) endedInHead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cut
}

// truncated reports whether TLS ended without close_notify, which crypto/tls accepts between two records. In that case
// the guard below TLS has read the end of the connection. After a close_notify, TLS does not read on.
func (g *guard) truncated() bool {
	below := g
	if secure, ok := g.Conn.(*tls.Conn); ok {
		below, _ = secure.NetConn().(*guard)
	}
	below.mu.Lock()
	defer below.mu.Unlock()
	return below.eof
}

// Write sends a request or a part of it. The answer may begin before the whole request is sent.
func (g *guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	if g.due {
		g.due, g.phase, g.head, g.toHead = false, inHead, nil, bytes.HasPrefix(p, []byte("HEAD "))
	}
	g.mu.Unlock()
	return g.Conn.Write(p)
}

// Read reads from the connection. It must not be called concurrently.
func (g *guard) Read(p []byte) (int, error) {
	n, err := g.read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.eof = g.eof || err == io.EOF
	switch g.phase {
	case idle:
		if n > 0 { // bytes without a request: do not use the connection any more
			g.err = io.EOF
			return 0, g.err
		}
	case inHead:
		g.cut = n == 0 && err != nil && len(g.head) > 0
		return g.readHead(p[:n], err)
	case inBody:
		return g.readBody(n, err)
	}
	return n, err
}

// tails are buffers for the last bytes of bodies.
var tails = sync.Pool{New: func() any { return new([BufferSize + 1]byte) }}

// read reads from the connection. If p has exactly the size of the rest of the body, it also requests the byte after
// the body. A reader that knows the length of the body would never see a surplus byte.
func (g *guard) read(p []byte) (int, error) {
	g.mu.Lock()
	if g.err != nil {
		defer g.mu.Unlock()
		return 0, g.err
	}
	left := g.left
	body := g.phase == inBody
	g.mu.Unlock()
	if g.socket != nil {
		g.socket.gather(body && left >= 2*gatherBytes && len(p) >= gatherBytes)
	}
	if !body || left != int64(len(p)) || left > BufferSize {
		return g.readMuch(p)
	}
	buf := tails.Get().(*[BufferSize + 1]byte)
	defer tails.Put(buf)
	n, err := g.Conn.Read(buf[:left+1])
	copy(p, buf[:n])
	return n, err
}

// readMuch reads from the connection. A TLS record has at most 16 KiB, so readMuch also reads the next records if they
// have already arrived.
func (g *guard) readMuch(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.socket == nil || !g.socket.gathers || g.Conn == net.Conn(g.socket) {
		return n, err
	}
	g.socket.eager = true
	defer func() { g.socket.eager = false }()
	for err == nil && n < gatherBytes {
		var more int
		more, err = g.Conn.Read(p[n:])
		n += more
	}
	if err == errDry {
		err = nil
	}
	return n, err
}

// readHead consumes p as part of the header section.
func (g *guard) readHead(p []byte, err error) (int, error) {
	rest := p
	for g.phase == inHead && len(rest) > 0 {
		known, head := len(g.head), rest
		if known > 0 {
			head = append(g.head, rest...)
		}
		end := headEnd(head, known)
		if end < 0 && len(head) <= maxHead {
			g.head = append(g.head, rest...)
			return len(p), err
		}
		if end < 0 || end > maxHead {
			g.err = errHeadTooLong
			return 0, g.err
		}
		rest = rest[end-known:]
		if g.err = g.begin(head[:end]); g.err != nil {
			return 0, g.err
		}
	}
	if g.phase != inBody && g.phase != idle {
		return len(p), err
	}
	n, err := g.readBody(len(rest), err)
	return len(p) - len(rest) + n, err
}

// readBody counts n bytes of the body, and returns how many of them were announced.
func (g *guard) readBody(n int, err error) (int, error) {
	if g.phase == inBody && g.left < 0 {
		return n, err
	}
	if int64(n) > g.left {
		g.excess, g.err = true, io.EOF
		n = int(g.left)
	}
	g.left -= int64(n)
	if g.left == 0 {
		g.phase = idle
	}
	return n, err
}

// headEnd returns the offset after the empty line in head, or -1. The empty line is not in head[:known].
func headEnd(head []byte, known int) int {
	for i := max(0, known-3); i < len(head); i++ {
		if head[i] != '\n' {
			continue
		}
		rest := head[i+1:]
		if bytes.HasPrefix(rest, []byte("\n")) {
			return i + 2
		}
		if bytes.HasPrefix(rest, []byte("\r\n")) {
			return i + 3
		}
	}
	return -1
}

// begin determines the length of the body from the header section (RFC 9112, section 6.3).
func (g *guard) begin(head []byte) error {
	lines := strings.Split(string(head), "\n")
	_, status, _ := strings.Cut(lines[0], " ")
	status = strings.TrimSpace(status)
	switch {
	case strings.HasPrefix(status, "101"):
		g.phase = through
		return nil
	case strings.HasPrefix(status, "1"): // another answer follows
		g.head = nil
		return nil
	}
	length, chunked, err := framing(lines[1:])
	if err != nil {
		return err
	}
	g.phase, g.head, g.left = inBody, nil, -1
	switch {
	case g.toHead, strings.HasPrefix(status, "204"), strings.HasPrefix(status, "304"):
		g.left = 0
	case chunked && length != "":
		return errTwoFramings
	case chunked && (strings.HasPrefix(lines[0], "HTTP/1.0") || strings.HasPrefix(lines[0], "HTTP/0.")):
		// RFC 9112, section 6.1. net/http would treat the chunk framing as content.
		return errOldFraming
	case !chunked && length != "":
		if n, err := strconv.ParseUint(length, 10, 63); err == nil { // net/http refuses other values
			g.left = int64(n)
		}
	}
	if g.left == 0 {
		g.phase = idle
	}
	return nil
}

// framing returns the value of Content-Length, and whether the response has a Transfer-Encoding. A space after the name
// of such a field is an error (RFC 9112, section 5.1): net/http would ignore the field.
func framing(lines []string) (length string, chunked bool, err error) {
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		bare := strings.TrimRight(name, " \t")
		switch {
		case strings.EqualFold(bare, "Content-Length"):
			length = strings.TrimSpace(value)
		case strings.EqualFold(bare, "Transfer-Encoding"):
			chunked = true
		default:
			continue
		}
		if bare != name {
			return "", false, errSpaced
		}
	}
	return length, chunked, nil
}
