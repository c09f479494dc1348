package feedtext

import (
	"braid/antenna/feed"
	"bytes"
	"fmt"
	"io"
)

// LineEnd is the kind of end that a line has.
type LineEnd int

const (
	NoLineEnd LineEnd = iota // end of the feed
	LF
	CRLF
	CR
	MixedEnds // CR CR LF, written by systems that convert line ends twice
)

var endNames = [...]string{"", "lf", "crlf", "cr", "mixed"}

func (e LineEnd) String() string { return endNames[e] }

// Line is one line of a feed.
type Line struct {
	// Raw is the line without its end and without a byte order mark. It is valid until the next line is read.
	Raw []byte
	// Number is the number of the line, counted from 1.
	Number int
	End    LineEnd
}

const (
	firstBuffer = 8 << 10
	// lookahead is the amount of text that is examined to determine the charset.
	lookahead = 256 << 10
)

// Lines reads the lines of a feed.
type Lines struct {
	in     *Reader
	limit  int
	buf    []byte
	start  int
	end    int
	lf, cr finder
	err    error // error of in, returned by all later calls
	number int

	ends  LineEnd // kind of line ends so far
	mark  bool
	guess *guess
	// charset is nil until the first line that is not ASCII.
	charset  *Charset
	declared string
	// strange is set after a report about an unexpected charset.
	strange bool
	scratch []byte
}

// NewLines returns a Lines for the decompressed content of r.
func NewLines(r io.Reader, limits feed.Limits) *Lines {
	limits = limits.OrDefault()
	return &Lines{
		in: NewReader(r, limits), limit: limits.Line, buf: make([]byte, firstBuffer),
		lf: finder{octet: '\n'}, cr: finder{octet: '\r'}, guess: newGuess(""),
	}
}

// Next returns the next line. The error is io.EOF at the end, or the error that ended the feed early. An incomplete
// line is not returned.
func (s *Lines) Next() (Line, error) {
	for {
		if raw, size, end, ok := s.cut(); ok {
			return s.take(raw, size, end), nil
		}
		if n := s.end - s.start; n > s.limit+2 || s.err == io.EOF && n > s.limit { // two octets may be CRs
			return Line{}, &feed.RejectError{Line: s.number + 1, Code: "line-too-long",
				Why: fmt.Sprintf("more than %d octets", s.limit)}
		}
		if s.err != nil {
			return Line{}, s.located()
		}
		s.fill()
	}
}

// located returns the error of the input with the line number.
func (s *Lines) located() error {
	if reject, ok := s.err.(*feed.RejectError); ok {
		return &feed.RejectError{Line: s.number + 1, Code: reject.Code, Why: reject.Why}
	}
	return s.err
}

// cut returns the next line if its end is in the buffer.
func (s *Lines) cut() (raw []byte, size int, end LineEnd, ok bool) {
	w := s.buf[s.start:s.end]
	lf := s.lf.next(s.buf, s.start, s.end) - s.start
	cr := s.cr.next(s.buf, s.start, s.end) - s.start
	switch {
	case cr < len(w) && cr < lf:
		return s.cutCR(w, cr)
	case lf < len(w):
		return w[:lf], lf + 1, LF, lf <= s.limit
	case s.err == io.EOF && len(w) > 0:
		return w, len(w), NoLineEnd, len(w) <= s.limit
	}
	return nil, 0, NoLineEnd, false
}

// cutCR implements cut for a line that ends with CR.
func (s *Lines) cutCR(w []byte, cr int) (raw []byte, size int, end LineEnd, ok bool) {
	tail := w[cr:]
	raw, ok = w[:cr], cr <= s.limit
	switch {
	case bytes.HasPrefix(tail, []byte("\r\n")):
		return raw, cr + 2, CRLF, ok
	case bytes.HasPrefix(tail, []byte("\r\r\n")):
		return raw, cr + 3, MixedEnds, ok
	case s.err == nil && (len(tail) == 1 || len(tail) == 2 && tail[1] == '\r'):
		return nil, 0, NoLineEnd, false // depends on the next octets
	}
	return raw, cr + 1, CR, ok
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

func (s *Lines) take(raw []byte, size int, end LineEnd) Line {
	s.number++
	s.start += size
	if s.number == 1 && bytes.HasPrefix(raw, byteOrderMark) {
		s.mark = true
		s.charset = UTF8
		raw = raw[len(byteOrderMark):]
	}
	switch {
	case s.ends == NoLineEnd:
		s.ends = end
	case end != NoLineEnd && end != s.ends:
		s.ends = MixedEnds
	}
	return Line{Raw: raw, Number: s.number, End: end}
}

func (s *Lines) fill() {
	if s.start > 0 && (s.start == s.end || s.end == len(s.buf)) {
		s.lf.shift(s.start)
		s.cr.shift(s.start)
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		var n int
		n, s.err = s.in.Read(s.buf[s.end:])
		s.end += n
		if n > 0 || s.err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}

// finder finds an octet in a buffer. It examines each position once, however often next is called.
type finder struct {
	octet byte
	// found is the position of the octet, if found is less than upTo. The buffer was examined up to upTo.
	found, upTo int
}

// next returns the first position of the octet in buf[start:end], or end.
func (f *finder) next(buf []byte, start, end int) int {
	if start <= f.found && f.found < f.upTo {
		return f.found
	}
	from := max(start, f.upTo)
	i := bytes.IndexByte(buf[from:end], f.octet)
	if i < 0 {
		f.found, f.upTo = end, end
		return end
	}
	f.found, f.upTo = from+i, from+i+1
	return f.found
}

// shift adjusts the positions after the first n octets of the buffer were removed.
func (f *finder) shift(n int) { f.found, f.upTo = f.found-n, f.upTo-n }
