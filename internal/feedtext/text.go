package feedtext

import (
	"bytes"
	"slices"
	"strings"

	"braid/antenna/feed"
)

// Declare sets the charset that the feed declares. It must be called before the first line is decoded.
func (s *Lines) Declare(label string) {
	s.declared = label
	s.guess = newGuess(label)
}

// Text decodes a line. It writes octets that are invalid in the charset of the feed as \xNN, and then reports false.
//
// The charset is determined once, at the first line that is not ASCII, from that line and the lines in the next 256
// KiB. Line.Raw is invalid afterwards.
func (s *Lines) Text(raw []byte) (text string, clean bool) {
	if !s.guess.stateful() && IsASCII(raw) {
		return string(raw), true
	}
	if s.charset == nil {
		raw = bytes.Clone(raw)
		s.choose(raw)
	}
	s.scratch, clean = s.charset.Append(s.scratch[:0], raw)
	return string(s.scratch), clean
}

func (s *Lines) choose(first []byte) {
	for s.err == nil && s.end-s.start < lookahead {
		s.fill()
	}
	s.guess.observe(first)
	rest := s.buf[s.start:s.end]
	for len(rest) > 0 {
		line, after, ended := cutLine(rest)
		if !ended && s.err == nil {
			break // the line continues beyond the buffer
		}
		s.guess.observe(line)
		rest = after
	}
	s.charset = s.guess.charset()
}

// cutLine splits b after its first line. A CRLF results in an additional empty line, which is valid in every charset.
func cutLine(b []byte) (line, rest []byte, ended bool) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil, false
	}
	return b[:i], b[i+1:], true
}

// Input describes the encoding of the feed as far as it was read.
func (s *Lines) Input() feed.Input {
	chosen := s.charset
	if chosen == nil {
		chosen = s.guess.first()
	}
	return feed.Input{Gzip: s.in.Gzip(), LineEnds: s.ends.String(), Charset: chosen.String(), Declared: s.declared}
}

// lineEnds are the codes of feeds with unexpected line ends.
var (
	lineEnds = map[LineEnd]*Code{
		LF:        Note("line-endings-lf", "lines end with LF instead of CRLF"),
		CR:        Note("line-endings-cr", "lines end with CR alone"),
		MixedEnds: Note("line-endings-mixed", "line endings are mixed"),
	}
	codeMark = Note("byte-order-mark", "the feed begins with a byte order mark")
)

// ReadLine returns the next line. It reports a byte order mark, and each kind of line end in odd when it first occurs.
func (r *Reading) ReadLine(in *Lines, odd ...LineEnd) (Line, error) {
	before := in.ends
	l, err := in.Next()
	if err != nil {
		return l, err
	}
	if in.ends != before && slices.Contains(odd, in.ends) {
		r.Problem(lineEnds[in.ends], l.Number, "", "")
	}
	if l.Number == 1 && in.mark {
		r.Problem(codeMark, 1, "", "")
	}
	return l, nil
}

// Decode decodes a line. It reports once if the charset differs from the default, with code undeclared, or from the
// declared charset, with code mismatch.
func (r *Reading) Decode(in *Lines, l Line, undeclared, mismatch *Code) (text string, clean bool) {
	text, clean = in.Text(l.Raw)
	if in.charset != nil && in.charset != in.guess.first() && !in.mark && !in.strange {
		in.strange = true
		code := undeclared
		if in.declared != "" {
			code = mismatch
		}
		r.Problem(code, l.Number, "", in.charset.String())
	}
	return text, clean
}

// IsNumber reports whether s consists of decimal digits.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
