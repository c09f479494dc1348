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

// Why a guard ends a connection.
var (
	errTwoFramings = &AnswerError{"the answer has both Content-Length and Transfer-Encoding", false}
	errOldFraming  = &AnswerError{"an answer of HTTP/1.0 has Transfer-Encoding", false}
	errSpaced      = &AnswerError{"a space behind the name of a field that says how long the answer is", false}
	errHeadTooLong = &AnswerError{"the header section is longer than 256 KiB", true}
)

// maxHead is the most that a header section may have (rule 20).
const maxHead = 256 << 10

// A guard is a connection that watches where answers begin and end, for what net/http does not tell: an
// answer with two framings, which RFC 9112, section 6.3, wants "handled as an error"; a body longer than
// announced; and bytes that no request asked for, which net/http prints to the log. It changes nothing in an
// answer that is in order.
//
// What is written does not tell where a request begins: a long head comes in several writes, and a server chooses
// some of what is in it. The transport says so when it gives the connection to a request (expect).
//
// The dialer makes a guard on a connection to a proxy a tunnel, which it stays until a request is expected on the guard itself.
// TLS within a tunnel is above the guard: what goes through a proxy that way has the checks of net/http only.
type guard struct {
	net.Conn
	socket *socket       // below, if this is the layer that knows when to gather
	closed chan struct{} // the connection is closed
	once   sync.Once

	mu     sync.Mutex
	phase  phase
	due    bool   // the next write begins a request
	head   []byte // while phase is inHead: what came of it
	toHead bool   // the request is HEAD: its answer has no body
	left   int64  // while phase is inBody: bytes to come; -1 if not known
	excess bool   // there was more than the last answer announced
	cut    bool   // the connection ended within a head
	eof    bool   // the connection ended
	err    error  // why the guard ended the connection; readers of lines swallow the first error
}

type phase int

const (
	idle    phase = iota // no request is under way
	inHead               // a request was sent, its answer's head is not complete
	inBody               // the head is complete, the body is not
	through              // a tunnel: none of our business
)

func newGuard(conn net.Conn) *guard { return &guard{Conn: conn, closed: make(chan struct{})} }

// newTunnel is a guard on a connection that carries something else than requests at first, or for ever.
func newTunnel(conn net.Conn) *guard {
	g := newGuard(conn)
	g.phase = through
	return g
}

// expect says that what is written next is a request. There is one request at a time.
func (g *guard) expect() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due = true
}

// Close closes the connection and wakes what waits for that.
func (g *guard) Close() error {
	err := g.Conn.Close()
	g.once.Do(func() { close(g.closed) })
	return err
}

// overran says that the server sent more than it announced (rule 15).
func (g *guard) overran() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.excess
}

// endedInHead says that the connection ended before the head of an answer did.
func (g *guard) endedInHead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cut
}

// truncated says that TLS ended without close_notify, which crypto/tls lets pass between two records. It is
// told by the reader of the end: TLS does not read on after a close_notify.
func (g *guard) truncated() bool {
	below := g
	if secure, ok := g.Conn.(*tls.Conn); ok {
		below, _ = secure.NetConn().(*guard)
	}
	below.mu.Lock()
	defer below.mu.Unlock()
	return below.eof
}

// Write sends a request, or a part of it. The answer may begin once a part was sent.
func (g *guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	if g.due {
		g.due, g.phase, g.head, g.toHead = false, inHead, nil, bytes.HasPrefix(p, []byte("HEAD "))
	}
	g.mu.Unlock()
	return g.Conn.Write(p)
}

// Read reads from the connection. Only one goroutine reads at a time.
func (g *guard) Read(p []byte) (int, error) {
	n, err := g.read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.eof = g.eof || err == io.EOF
	switch g.phase {
	case idle:
		if n > 0 { // no request asked: the connection cannot be trusted any more
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

// read is a Read of the connection. Where p can take no more than the rest of a body, it asks for one byte
// more: a reader that knows the length would never see that one.
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

// readMuch is a Read of the connection that does not stop at the end of a record of TLS, of which none has more
// than 16 KiB, while the next ones are there.
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

// readHead takes p into the head.
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

// readBody counts n bytes of the body and gives those that were announced.
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

// headEnd is the offset after the empty line in head, or -1. Up to known there is none.
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

// begin finds out from a head how long the body is (RFC 9112, section 6.3).
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
		// RFC 9112, section 6.1; net/http would take the chunks for the file.
		return errOldFraming
	case !chunked && length != "":
		if n, err := strconv.ParseUint(length, 10, 63); err == nil { // else net/http refuses it
			g.left = int64(n)
		}
	}
	if g.left == 0 {
		g.phase = idle
	}
	return nil
}

// framing finds the two fields that say how long a body is. net/http does not see them where a space is behind the name
// (RFC 9112, section 5.1).
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
