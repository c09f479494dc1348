package soif

import "io"

// bufferSize limits how far a scanner can look ahead, and the size of a read.
const bufferSize = 64 << 10

// A scanner reads a stream in windows and tracks its position. It waits only for the requested bytes, so that objects
// of a slow stream are passed on as they arrive.
type scanner struct {
	r          io.Reader
	buf        []byte
	start, end int
	err        error // first error of r

	offset int64
	line   int
	// lineStart reports whether the position is at the beginning of a line.
	lineStart bool
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, bufferSize), line: 1, lineStart: true}
}

// window returns the following bytes: at least n, unless the stream ends or fails before. n is at most bufferSize. The
// result is valid until the next call.
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

// fill reads once. A reader that returns no bytes a hundred times is broken, as in package bufio.
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

// peek returns the next byte. ok is false at the end of the stream and after an error.
func (s *scanner) peek() (c byte, ok bool) {
	w := s.window(1)
	if len(w) == 0 {
		return 0, false
	}
	return w[0], true
}

// skipSpace skips white space and reports whether it found any.
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

// appendWhile appends to dst the following bytes for which is returns true. It stops within a window once dst is longer
// than limit.
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

// appendN appends the next n bytes to dst. dst grows with the received bytes, not by n at once.
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

// spanOf returns the number of bytes at the beginning of w for which is returns true.
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

// isName reports whether an identifier may contain c (RFC 2655, section 3.5, ALPHA-NUMERIC-STRING).
func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '-' || c == '_'
}

// isEmbedName is like isName but also accepts the brackets of Harvest's Embed<1>-Type.
func isEmbedName(c byte) bool { return isName(c) || c == '<' || c == '>' }

// isURL reports whether c can be part of the URL of an object. Such a URL ends at white space or the closing brace.
func isURL(c byte) bool { return c != '}' && !isSpace(c) }
