package soif

import "io"

// bufferSize bounds what a scanner can look ahead; a read is at most as long.
const bufferSize = 64 << 10

// A scanner reads a stream in windows and knows where it is. It waits for no more than it was asked for, so that a slow
// stream is handed on as it comes.
type scanner struct {
	r          io.Reader
	buf        []byte
	start, end int
	err        error // of r; it sticks

	offset int64
	line   int
	// lineStart: the last octet ended a line, or there was none.
	lineStart bool
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, bufferSize), line: 1, lineStart: true}
}

// window returns what comes next: at least n octets, unless the stream ends or breaks before. n is at most bufferSize.
// It is valid until the next call.
func (s *scanner) window(n int) []byte {
	for s.end-s.start < n && s.err == nil {
		if s.start > 0 && s.start+n > len(s.buf) {
			s.end = copy(s.buf, s.buf[s.start:s.end])
			s.start = 0
		}
		if s.start == s.end {
			s.start, s.end = 0, 0
		}
		s.fill()
	}
	return s.buf[s.start:s.end]
}

// fill reads once. A reader that brings nothing a hundred times is broken (as in package bufio).
func (s *scanner) fill() {
	for range 100 {
		var n int
		n, s.err = s.r.Read(s.buf[s.end:])
		s.end += n
		if n > 0 || s.err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}

// skip passes the next n octets of the window.
func (s *scanner) skip(n int) {
	for _, c := range s.buf[s.start : s.start+n] {
		if c == '\n' {
			s.line++
		}
	}
	if n > 0 {
		last := s.buf[s.start+n-1]
		s.lineStart = last == '\n' || last == '\r'
	}
	s.start += n
	s.offset += int64(n)
}

// peek returns the next octet; there is none where the stream ends or breaks.
func (s *scanner) peek() (c byte, ok bool) {
	w := s.window(1)
	if len(w) == 0 {
		return 0, false
	}
	return w[0], true
}

// skipSpace passes white space and reports whether there was any.
func (s *scanner) skipSpace() bool {
	before := s.offset
	for {
		w := s.window(1)
		n := spanOf(w, isSpace)
		s.skip(n)
		if n == 0 || n < len(w) {
			return s.offset > before
		}
	}
}

// appendWhile appends to dst the octets that are what is asked for, but stops within a window when dst is longer than
// limit.
func (s *scanner) appendWhile(dst []byte, is func(byte) bool, limit int) []byte {
	for {
		w := s.window(1)
		n := spanOf(w, is)
		dst = append(dst, w[:n]...)
		s.skip(n)
		if n == 0 || n < len(w) || len(dst) > limit {
			return dst
		}
	}
}

// appendN appends the next n octets to dst, which grows by what has really come and not by n.
func (s *scanner) appendN(dst []byte, n int) (_ []byte, ok bool) {
	for n > 0 {
		w := s.window(1)
		if len(w) == 0 {
			return dst, false
		}
		w = w[:min(len(w), n)]
		dst = append(dst, w...)
		s.skip(len(w))
		n -= len(w)
	}
	return dst, true
}

// spanOf returns how many octets at the beginning of w are what is asked for.
func spanOf(w []byte, is func(byte) bool) int {
	for i, c := range w {
		if !is(c) {
			return i
		}
	}
	return len(w)
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isName reports whether c may stand in an identifier (RFC 2655, section 3.5, ALPHA-NUMERIC-STRING).
func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '-' || c == '_'
}

// isEmbedName is isName and the brackets of Harvest's Embed<1>-Type.
func isEmbedName(c byte) bool { return isName(c) || c == '<' || c == '>' }

// isURL reports whether c can belong to the URL of an object, which white space or the closing brace ends.
func isURL(c byte) bool { return c != '}' && !isSpace(c) }
