package soif

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A flaw is the reason why an object is discarded.
type flaw struct {
	feed.Violation
	// lost reports that the end of the object cannot be determined.
	lost bool
	// stop is set if the feed is rejected because of this object.
	stop error
}

// noObject is returned if the apparent object opens a wrapper.
var noObject = new(flaw)

// A field is an attribute with its value in the arena.
type field struct {
	name       string
	folded     string // name in lower case
	start, end int
	at         place
}

// readObject reads the object that begins at the current position. With a flaw it returns the parts known so far.
func (p *parser) readObject() (o object, why *flaw) {
	o = object{place: p.here(), Wrapper: p.wrapper}
	head := p.s.window(maxHead)
	o.Type = p.intern(head[1 : 1+spanOf(head[1:], isName)])
	p.s.skip(headLen(head))
	brace := p.here()
	blank := p.s.skipSpace()
	c, ok := p.s.peek()
	if isWrapper(o.Type) && (!ok || c == '@' || c == '}') {
		p.wrapper = o.Type
		return o, noObject
	}
	if why = p.url(&o); why != nil && (why.lost || why.stop != nil) {
		return o, why
	}
	if !blank {
		p.warn(&o, violation(brace, codeNoBlank, "", ""))
	}
	if broken := p.attributes(&o); broken != nil {
		return o, broken
	}
	if why == nil {
		why = p.judge(&o)
	}
	return o, why
}

// url reads the URL of o (RFC 2655, sections 3.2 and 3.4). The URL ends at white space, or at the brace of an object
// without attributes.
func (p *parser) url(o *object) *flaw {
	at := p.here()
	p.scratch = p.s.appendWhile(p.scratch[:0], isURL, maxURL)
	if _, ok := p.s.peek(); !ok {
		return p.cut("")
	}
	text := string(p.scratch)
	switch {
	case text == "-":
		return nil
	case text == "":
		return &flaw{Violation: violation(at, codeNoURL, "", "")}
	case len(text) > maxURL:
		for len(p.scratch) > maxURL {
			p.scratch = p.s.appendWhile(p.scratch[:0], isURL, maxURL)
		}
		return &flaw{Violation: violation(at, codeURLTooLong, "", "")}
	case feed.IsURI(text):
		o.URL = text
		return nil
	}
	bad := &flaw{Violation: violation(at, codeBadURL, "", text)}
	if bad.lost = strings.Contains(text, "{"); !bad.lost { // with a brace, this is the first attribute of an object without a URL
		o.URL = text
	}
	return bad
}

// attributes reads the ATTRIBUTE-LIST and the closing brace.
func (p *parser) attributes(o *object) *flaw {
	p.fields, p.arena, p.brackets = p.fields[:0], p.arena[:0], nil
	for {
		p.s.skipSpace()
		c, ok := p.s.peek()
		if !ok {
			return p.cut("")
		}
		if c == '}' {
			p.s.skip(1)
			o.Attributes = p.takeFields()
			return nil
		}
		if len(p.fields) == p.limits.attributes {
			return rejectAt(p.here(), codeTooLarge, "", fmt.Sprintf("an object of more than %d attributes", len(p.fields)))
		}
		if why := p.readAttribute(o); why != nil {
			return why
		}
	}
}

// takeFields returns a copy of the attributes that were read.
func (p *parser) takeFields() []attribute {
	arena := bytes.Clone(p.arena)
	list := make([]attribute, len(p.fields))
	for i, f := range p.fields {
		list[i] = attribute{f.name, arena[f.start:f.end:f.end]}
	}
	return list
}

// readAttribute reads IDENTIFIER {VALUE-SIZE} DELIMITER VALUE (RFC 2655, section 3.4) into the arena.
func (p *parser) readAttribute(o *object) *flaw {
	at := p.here()
	p.scratch = p.s.appendWhile(p.scratch[:0], isEmbedName, maxName)
	c, ok := p.s.peek()
	if !ok {
		return p.cut("")
	}
	if n := len(p.scratch); n == 0 || n > maxName || c != '{' {
		return p.misread()
	}
	name := p.intern(p.scratch)
	if strings.ContainsAny(name, "<>") {
		p.brackets = &flaw{Violation: violation(at, codeBrackets, name, "")}
		p.warn(o, p.brackets.Violation)
	}
	size, why := p.size(o, name)
	if why != nil {
		return why
	}
	start := len(p.arena)
	if start+size > p.limits.object {
		return rejectAt(p.here(), codeTooLarge, name, fmt.Sprintf("an object of more than %d octets", p.limits.object))
	}
	if p.arena, ok = p.s.appendN(p.arena, size); !ok {
		return p.cut(name)
	}
	p.fields = append(p.fields, field{name, p.fold(name), start, len(p.arena), at})
	return nil
}

// size reads {VALUE-SIZE} and the following DELIMITER.
func (p *parser) size(o *object, name string) (int, *flaw) {
	at := p.here()
	p.s.skip(1)
	size, digits := 0, 0
	c, ok := p.s.peek()
	for ; ok && isDigit(c); c, ok = p.s.peek() {
		size = min(10*size+int(c-'0'), p.limits.Value+1)
		digits++
		p.s.skip(1)
	}
	switch {
	case !ok:
		return 0, p.cut("")
	case c == '-' && digits == 0:
		return 0, rejectAt(at, codeNegativeSize, name, codeNegativeSize.Say("", ""))
	case c != '}':
		return 0, lose(at, codeBadSize, name)
	case size > p.limits.Value:
		return 0, rejectAt(at, codeTooLarge, name, fmt.Sprintf("a value of more than %d octets", p.limits.Value))
	case digits == 0:
		p.warn(o, violation(at, codeEmptySize, name, ""))
	}
	p.s.skip(1)
	return size, p.delimiter(name)
}

// delimiter reads the colon and the tab (RFC 2655, section 3.5). Other characters are not accepted, because the count
// might include them.
func (p *parser) delimiter(name string) *flaw {
	for _, want := range ":\t" {
		c, ok := p.s.peek()
		if !ok {
			return p.cut("")
		}
		if rune(c) != want {
			return lose(p.here(), codeBadDelimiter, name)
		}
		p.s.skip(1)
	}
	return nil
}

// misread returns the flaw for text that is not an attribute. After a value, the size of that value is probably wrong.
func (p *parser) misread() *flaw {
	if n := len(p.fields); n > 0 {
		return lose(p.here(), codeSizeMismatch, p.fields[n-1].name)
	}
	return lose(p.here(), codeBadAttribute, "")
}

// lose returns a flaw after which the end of the object cannot be determined.
func lose(at place, code *feedtext.Code, attribute string) *flaw {
	return &flaw{Violation: violation(at, code, attribute, ""), lost: true}
}

// cut returns the flaw for an object in which the stream ends or fails. A value with a size greater than the rest of
// the input ends the feed here too.
func (p *parser) cut(attribute string) *flaw {
	if p.s.err != io.EOF {
		return &flaw{Violation: violation(p.here(), codeTruncated, attribute, ""), stop: p.s.err}
	}
	return rejectAt(p.here(), codeTruncated, attribute, codeTruncated.Say("", ""))
}

// rejectAt returns a flaw that rejects the feed.
func rejectAt(at place, code *feedtext.Code, attribute, why string) *flaw {
	stop := &feed.RejectError{Line: at.line, Code: code.Name, Why: octet(at, why), Partial: true}
	return &flaw{Violation: violation(at, code, attribute, ""), stop: stop}
}
