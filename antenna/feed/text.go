package feed

import (
	"bytes"
)

// Declare says which charset the feed declares itself to be in, before the first line is decoded.
func (s *Lines) Declare(label string) {
	s.declared = label
	s.guess = newGuess(label)
}

// Text decodes a line. What is not text in the charset of the feed is written as \xNN, and clean is false then.
//
// The charset is chosen once, at the first line that is not ASCII, by that line and those of the next 256 KiB. Raw is not
// valid any more.
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

// choose chooses the charset.
func (s *Lines) choose(first []byte) {
	for s.err == nil && s.end-s.start < lookahead {
		s.fill()
	}
	s.guess.observe(first)
	rest := s.buf[s.start:s.end]
	for len(rest) > 0 {
		line, after, ended := cutLine(rest)
		if !ended && s.err == nil {
			break // it goes on behind what was read
		}
		s.guess.observe(line)
		rest = after
	}
	s.charset = s.guess.charset()
}

// cutLine splits b behind its first line. A CRLF leaves an empty line, which speaks for nothing.
func cutLine(b []byte) (line, rest []byte, ended bool) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil, false
	}
	return b[:i], b[i+1:], true
}

// Charset returns the charset that was chosen, or nil.
func (s *Lines) Charset() *Charset { return s.charset }

// Expected returns the charset that the feed is in by its own word, or by default.
func (s *Lines) Expected() *Charset { return s.guess.first() }

// Marked reports whether the feed begins with a byte order mark.
func (s *Lines) Marked() bool { return s.mark }

// Input says what the feed looked like so far.
func (s *Lines) Input() Input {
	chosen := s.charset
	if chosen == nil {
		chosen = s.guess.first()
	}
	return Input{Gzip: s.in.Gzip(), LineEnds: s.ends.String(), Charset: chosen.String(), Declared: s.declared}
}
