package feedtext

import (
	"braid/antenna/feed"
	"bytes"
	"fmt"
	"io"
)

// A LineEnd is what ended a line.
type LineEnd int

const (
	NoLineEnd LineEnd = iota // the feed did
	LF                       //
	CRLF                     //
	CR                       //
	MixedEnds                // CR CR LF, as systems write that translate line ends twice
)

var endNames = [...]string{"", "lf", "crlf", "cr", "mixed"}

func (e LineEnd) String() string { return endNames[e] }

// A Line is one line of a feed.
type Line struct {
	// Raw is the line without its end, and without a byte order mark. It is valid until the next line is read.
	Raw []byte
	// Number counts from 1.
	Number int
	End    LineEnd
}

const (
	firstBuffer = 8 << 10
	// lookahead is how far a Lines looks to tell the charset of a feed.
	lookahead = 256 << 10
)

// A Lines reads the lines of a feed.
type Lines struct {
	in     *Reader
	limit  int
	buf    []byte
	start  int
	end    int
	lf, cr finder
	err    error // of in; it sticks
	number int

	ends  LineEnd // of the lines so far
	mark  bool
	guess *guess
	// charset is nil until there was a line that is not ASCII.
	charset  *Charset
	declared string
	// strange: it was reported that the charset is not the one that it should be.
	strange bool
	scratch []byte
}

// NewLines returns a Lines of what r decodes to.
func NewLines(r io.Reader, limits feed.Limits) *Lines {
	limits = limits.OrDefault()
	return &Lines{
		in: NewReader(r, limits), limit: limits.Line, buf: make([]byte, firstBuffer),
		lf: finder{octet: '\n'}, cr: finder{octet: '\r'}, guess: newGuess(""),
	}
}

// Next returns the next line, or io.EOF, or what ended the feed before its end. A line that breaks off is not returned.
func (s *Lines) Next() (Line, error) {
	for {
		if raw, size, end, ok := s.cut(); ok {
			return s.take(raw, size, end), nil
		}
		if n := s.end - s.start; n > s.limit+2 || s.err == io.EOF && n > s.limit { // two octets may be CRs
			return Line{}, &feed.RejectError{Line: s.number + 1, Code: "line-too-long", Why: fmt.Sprintf("more than %d octets", s.limit)}
		}
		if s.err != nil {
			return Line{}, s.located()
		}
		s.fill()
	}
}

// located is the error of the input, with the line.
func (s *Lines) located() error {
	if reject, ok := s.err.(*feed.RejectError); ok {
		return &feed.RejectError{Line: s.number + 1, Code: reject.Code, Why: reject.Why}
	}
	return s.err
}

// cut finds the end of the next line in the buffer, if it is there.
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

// cutCR is cut for a line with a CR at its end.
func (s *Lines) cutCR(w []byte, cr int) (raw []byte, size int, end LineEnd, ok bool) {
	tail := w[cr:]
	raw, ok = w[:cr], cr <= s.limit
	switch {
	case bytes.HasPrefix(tail, []byte("\r\n")):
		return raw, cr + 2, CRLF, ok
	case bytes.HasPrefix(tail, []byte("\r\r\n")):
		return raw, cr + 3, MixedEnds, ok
	case s.err == nil && (len(tail) == 1 || len(tail) == 2 && tail[1] == '\r'):
		return nil, 0, NoLineEnd, false // what follows decides
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

// fill reads once more from the input.
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

// A finder finds an octet in a buffer, and looks at each place once however often it is asked.
type finder struct {
	octet byte
	// found is where the octet was seen, if it is less than upTo; all of the buffer before upTo was looked at.
	found, upTo int
}

// next returns the first place in buf[start:end] with the octet, or end.
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

// shift says that the first n octets of the buffer are gone.
func (f *finder) shift(n int) { f.found, f.upTo = f.found-n, f.upTo-n }
