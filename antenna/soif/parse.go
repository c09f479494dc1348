package soif

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

const (
	maxType = 64      // a longer template type is none
	maxName = 1 << 10 // a longer identifier is none
	maxURL  = feed.MaxURL
	// maxHead is how far the parser looks for the brace that makes an object of @TYPE.
	maxHead = 1 + maxType + 16
)

// A parser finds the objects of a stream, one at a time.
type parser struct {
	feedtext.Reading
	s       *scanner
	limits  limits
	wrapper string // the one that is open
	// entries are the objects so far, and kept those of them that were not discarded.
	entries, kept int
	// foreign: what the stream begins with is junk.
	foreign bool
	// open: the stream ended within a wrapper.
	open bool

	scratch []byte
	names   map[string]string // identifiers seen, so that the common ones are allocated once
	// fields and arena hold the attributes of the object that is being read, one value after the other.
	fields []field
	arena  []byte
	// brackets is the flaw of the last name among them that RFC 2655 does not allow.
	brackets *flaw
	seen     map[string]int // where each name of an object was first, in lower case
}

// next returns the next object that is one, or io.EOF, or what ended the feed before its end. What it passes over is
// reported.
func (p *parser) next() (object, error) {
	for {
		err := p.seek()
		if err == nil {
			err = p.Stopped()
		}
		if err != nil {
			return object{}, err
		}
		o, why := p.readObject()
		if why == noObject {
			v := violation(o.place, codeWrapper, "", "")
			v.Type = o.Type
			p.Tell(v)
			continue
		}
		if p.entries++; p.entries > p.limits.Entries {
			return object{}, &feed.RejectError{Line: o.line, Code: "too-many-entries", Why: octet(o.place, fmt.Sprintf("more than %d objects", p.limits.Entries))}
		}
		if why == nil {
			p.kept++
			return o, nil
		}
		why.Discarded = true
		p.reportOf(&o, why.Violation)
		if why.stop != nil {
			return object{}, why.stop
		}
		if why.lost {
			p.resync()
		}
	}
}

// seek goes to the next object. In a stream that is in order only white space and the braces of wrappers lie before
// it; anything else is junk, which is passed over and reported once (repair S1).
func (p *parser) seek() error {
	for {
		p.s.skipSpace()
		c, ok := p.s.peek()
		switch {
		case !ok:
			return p.end()
		case c == '}' && p.wrapper != "":
			p.wrapper = ""
			p.s.skip(1)
		case p.atHead():
			return nil
		default:
			p.Tell(violation(p.here(), codeJunk, "", ""))
			p.foreign = p.foreign || p.entries == 0
			p.skipJunk()
		}
	}
}

// end says how the stream ended. One that begins with junk and has no object that is one is something else, such as the page
// of a server that has no feed.
func (p *parser) end() error {
	if p.s.err != io.EOF {
		return p.s.err
	}
	if p.open = p.wrapper != ""; p.open {
		p.Tell(violation(p.here(), codeWrapperOpen, "", ""))
	}
	switch {
	case p.kept > 0:
	case p.foreign:
		return codeForeign.Reject(0)
	case p.entries == 0:
		p.Tell(violation(p.here(), codeNoObject, "", ""))
	}
	return io.EOF
}

// skipJunk goes to the next @TYPE {, or to a brace that begins a line and can be the end of a wrapper.
func (p *parser) skipJunk() {
	p.s.skip(1)
	for p.skipTo("@}") {
		c, _ := p.s.peek()
		if c == '}' && p.s.lineStart && p.wrapper != "" || p.atHead() {
			return
		}
		p.s.skip(1)
	}
}

// resync goes to the next @TYPE { at the start of a line. Where an object is broken, nothing less can be trusted.
func (p *parser) resync() {
	for p.skipTo("@") {
		if p.s.lineStart && p.atHead() {
			return
		}
		p.s.skip(1)
	}
}

// skipTo goes to the next of some octets.
func (p *parser) skipTo(octets string) bool {
	for {
		w := p.s.window(1)
		if len(w) == 0 {
			return false
		}
		if i := bytes.IndexAny(w, octets); i >= 0 {
			p.s.skip(i)
			return true
		}
		p.s.skip(len(w))
	}
}

// atHead reports whether @TYPE { comes next.
func (p *parser) atHead() bool { return headLen(p.s.window(maxHead)) > 0 }

// headLen returns the length of the @TYPE { that w begins with, or 0.
func headLen(w []byte) int {
	if len(w) == 0 || w[0] != '@' {
		return 0
	}
	n := spanOf(w[1:], isName)
	if n == 0 || n > maxType {
		return 0
	}
	brace := 1 + n + spanOf(w[1+n:], isSpace)
	if brace >= len(w) || w[brace] != '{' {
		return 0
	}
	return brace + 1
}

// intern returns name as a string, the same one each time for the names that streams repeat.
func (p *parser) intern(name []byte) string {
	if s, ok := p.names[string(name)]; ok {
		return s
	}
	s := string(name)
	if len(p.names) < 1024 && len(s) <= maxType {
		p.names[s] = s
	}
	return s
}

// fold returns an identifier in lower case.
func (p *parser) fold(name string) string {
	p.scratch = append(p.scratch[:0], name...)
	for i, c := range p.scratch {
		if 'A' <= c && c <= 'Z' {
			p.scratch[i] = c | 0x20
		}
	}
	return p.intern(p.scratch)
}

func (p *parser) here() place { return place{p.s.line, p.s.offset} }

// octet says where something is.
func octet(at place, why string) string { return fmt.Sprintf("octet %d: %s", at.offset, why) }

// reportOf reports what is about o.
func (p *parser) reportOf(o *object, v feed.Violation) {
	v.Record, v.Start, v.Type, v.URL = o.line, o.offset, o.Type, o.URL
	p.Tell(v)
}

// maxWarnings bounds how many warnings an object is marked with. All are reported.
const maxWarnings = 64

// warn reports something odd about o, and marks o with it.
func (p *parser) warn(o *object, v feed.Violation) {
	if tag := v.Tag(); len(o.Warnings) < maxWarnings && !slices.Contains(o.Warnings, tag) {
		o.Warnings = append(o.Warnings, tag)
	}
	p.reportOf(o, v)
}
