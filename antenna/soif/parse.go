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
	maxType = 64      // maximum length of a template type
	maxName = 1 << 10 // maximum length of an identifier
	maxURL  = feed.MaxURL
	// maxHead is how far the parser looks for the brace after @TYPE.
	maxHead = 1 + maxType + 16
)

// A parser reads the objects of a stream, one at a time.
type parser struct {
	feedtext.Reading
	s       *scanner
	limits  limits
	wrapper string // type of the open wrapper, or ""
	// entries counts the objects. kept counts the objects that were not discarded.
	entries, kept int
	// foreign reports that the stream begins with junk.
	foreign bool
	// open reports that the stream ended within a wrapper.
	open bool

	scratch []byte
	names   map[string]string // identifiers, so that a common identifier is allocated once
	// fields and arena hold the attributes of the current object, with the values concatenated.
	fields []field
	arena  []byte
	// brackets is the flaw of the last name that RFC 2655 does not allow in the current object.
	brackets *flaw
	seen     map[string]int // index of the first attribute with a name in lower case
}

// next returns the next valid object, or io.EOF, or the error that ended the feed. Everything skipped is reported.
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
			return object{}, &feed.RejectError{Line: o.line, Code: "too-many-entries",
				Why: octet(o.place, fmt.Sprintf("more than %d objects", p.limits.Entries))}
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

// seek moves to the next object. In a valid stream only white space and the braces of wrappers precede it. Anything
// else is junk, which is skipped and reported once (repair S1).
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

// end handles the end of the stream. A stream that begins with junk and has no valid object is rejected, because it is
// not SOIF but, for example, a server's error page.
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

// skipJunk moves to the next @TYPE {, or to a brace at the beginning of a line that may end a wrapper.
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

// resync moves to the next @TYPE { at the beginning of a line. After a broken object, other positions are not reliable.
func (p *parser) resync() {
	for p.skipTo("@") {
		if p.s.lineStart && p.atHead() {
			return
		}
		p.s.skip(1)
	}
}

// skipTo moves to the next byte that octets contains. It reports false if no such byte follows.
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

// atHead reports whether @TYPE { follows.
func (p *parser) atHead() bool { return headLen(p.s.window(maxHead)) > 0 }

// headLen returns the length of the @TYPE { at the beginning of w, or 0.
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

// intern returns name as a string. It returns the same string for repeated names.
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

// octet adds a position to a text.
func octet(at place, why string) string { return fmt.Sprintf("octet %d: %s", at.offset, why) }

func (p *parser) reportOf(o *object, v feed.Violation) {
	v.Record, v.Start, v.Type, v.URL = o.line, o.offset, o.Type, o.URL
	p.Tell(v)
}

// maxWarnings limits the warnings stored in an object. All warnings are reported.
const maxWarnings = 64

// warn reports a violation of o and adds it to the warnings of o.
func (p *parser) warn(o *object, v feed.Violation) {
	if tag := v.Tag(); len(o.Warnings) < maxWarnings && !slices.Contains(o.Warnings, tag) {
		o.Warnings = append(o.Warnings, tag)
	}
	p.reportOf(o, v)
}
