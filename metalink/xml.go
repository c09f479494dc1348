package metalink

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Parse parses a Metalink document. If the document is faulty, the error is an *Error and the Document is empty,
// because no part of a faulty document is trusted. Any other error comes from r.
func Parse(r io.Reader) (Document, error) {
	d, err := Read(r)
	for _, f := range d.Files {
		if f.Malformed != nil {
			return Document{}, f.Malformed
		}
	}
	return d, err
}

// Read is like Parse, for a caller that may have other digests of a file. If a file has a malformed hash and no strong
// hash, Read sets File.Malformed instead of returning an error.
func Read(r io.Reader) (Document, error) {
	var files []File
	d, err := Scan(r, func(f File) { files = append(files, f) })
	if err == nil {
		d.Files = files
	}
	return d, err
}

// Scan is like Read, but passes each file to take instead of returning it in the Document. If Scan returns an error,
// the caller must discard the files that were passed to take.
func Scan(r io.Reader, take func(File)) (Document, error) {
	in := newInput(r)
	p := &parser{in: in, d: xml.NewDecoder(in), take: take, line: 1, lines: map[string]int{}}
	p.d.CharsetReader = p.charset
	if err := p.document(); err != nil {
		return Document{}, p.blame(err)
	}
	return p.doc, nil
}

// Looks reports whether prefix is the beginning of a Metalink document. A response with such a body is a description
// and not the requested file, unless the requested file is itself a Metalink document. A prefix of some KiB is enough.
func Looks(prefix []byte) bool {
	in := newInput(bytes.NewReader(prefix))
	d := xml.NewDecoder(in)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		in.begin()
		t, err := d.Token()
		if err != nil {
			return false
		}
		switch t := t.(type) {
		case xml.StartElement:
			return version(t.Name) != 0
		case xml.CharData:
			if trim(string(t)) != "" {
				return false
			}
		}
	}
}

// version returns 3 or 4 if root is the name of the root element of that version of Metalink, or 0.
func version(root xml.Name) int {
	switch {
	case root.Local != "metalink":
	case root.Space == namespace4:
		return 4
	case root.Space == namespace3:
		return 3
	}
	return 0
}

// A parser reads one document, token by token. A method that is named after an element is called after its start tag
// and returns after its end tag.
type parser struct {
	in    *input
	d     *xml.Decoder
	doc   Document
	take  func(File)
	depth int
	begun bool // the first token has been read
	line  int  // line of the last token
	files int
	lines map[string]int // by file name: line of the file's description
}

// blame returns err as an *Error with its line, or as an error of the reader if reading has failed.
func (p *parser) blame(err error) error {
	if e, ok := errors.AsType[*Error](p.in.err); ok { // checked first, because the decoder may report an earlier error
		e.Line, _ = p.d.InputPos()
		return e
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Line = cmp.Or(e.Line, p.line)
		return e
	}
	if p.in.err != nil && p.in.err != io.EOF {
		return fmt.Errorf("metalink document: %w", p.in.err)
	}
	e := &Error{Kind: Syntax, Why: plain(err.Error()), Err: err}
	e.Line, _ = p.d.InputPos()
	if s, ok := errors.AsType[*xml.SyntaxError](err); ok {
		e.Why = plain(s.Msg)
	}
	if e.Why == "unexpected EOF" {
		e.Why = "it is cut off"
	}
	return e
}

// charset is called by the decoder if the document declares an encoding other than UTF-8.
func (p *parser) charset(label string, r io.Reader) (io.Reader, error) {
	switch l := strings.ToLower(label); {
	case (l == "us-ascii" || l == "utf8") && p.in.wide == nil:
		return r, nil
	case (l == "utf-16" || l == "utf-16le" || l == "utf-16be") && p.in.wide != nil:
		return r, nil
	case strings.HasPrefix(l, "utf-16"):
		return nil, fault(Charset, "it declares UTF-16 but has no byte order mark")
	}
	return nil, fault(Charset, "it is in %s, neither UTF-8 nor UTF-16", quote(label))
}

// next returns the next token. It refuses tokens that are not allowed anywhere in a document.
func (p *parser) next() (xml.Token, error) {
	p.in.begin()
	t, err := p.d.Token()
	if err != nil {
		return nil, err
	}
	p.line, _ = p.d.InputPos()
	first := !p.begun
	p.begun = true
	switch t := t.(type) {
	case xml.StartElement:
		if p.depth++; p.depth > maxDepth {
			return nil, fault(TooMuch, "its elements are nested more than %d deep", maxDepth)
		}
		return t, checkAttributes(t)
	case xml.EndElement:
		p.depth--
	case xml.Directive:
		return nil, fault(Syntax, "it has a DOCTYPE")
	case xml.ProcInst:
		if t.Target == "xml" && !first {
			return nil, fault(Syntax, "its XML declaration is not at the beginning")
		}
	}
	return t, nil
}

// checkAttributes refuses two attributes with the same name (XML 1.0, section 3.1), which the decoder accepts.
func checkAttributes(e xml.StartElement) error {
	if len(e.Attr) > maxAttributes {
		return fault(TooMuch, "an element has more than %d attributes", maxAttributes)
	}
	for i, a := range e.Attr {
		for _, b := range e.Attr[:i] {
			if a.Name == b.Name {
				return fault(Syntax, "an element has two attributes %s", quote(a.Name.Local))
			}
		}
	}
	return nil
}

func (p *parser) document() error {
	for {
		t, err := p.outside()
		if err == io.EOF {
			return fault(Foreign, "it is empty")
		}
		if err != nil {
			return err
		}
		if root, ok := t.(xml.StartElement); ok {
			if err := p.root(root); err != nil {
				return err
			}
			return p.end()
		}
	}
}

func (p *parser) root(root xml.StartElement) error {
	var err error
	switch version(root.Name) {
	case 4:
		err = p.children(p.inMetalink4)
	case 3:
		p.attributes3(root)
		err = p.children(p.inMetalink3)
	default:
		return fault(Foreign, "its root is %s in the namespace %s", quote(root.Name.Local), quote(root.Name.Space))
	}
	if err == nil && p.files == 0 {
		return fault(Foreign, "it describes no file")
	}
	return err
}

// end refuses elements and text after the root element.
func (p *parser) end() error {
	for {
		t, err := p.outside()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, ok := t.(xml.StartElement); ok {
			return fault(Syntax, "data follows its end")
		}
	}
}

// outside returns the next token before or after the root element, where text is not allowed.
func (p *parser) outside() (xml.Token, error) {
	t, err := p.next()
	if text, ok := t.(xml.CharData); ok && trim(string(text)) != "" {
		return nil, fault(Syntax, "it has text outside its root element")
	}
	return t, err
}

// children calls each for every child of the current element. each must read its element to the end.
func (p *parser) children(each func(xml.StartElement) error) error {
	for {
		t, err := p.next()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := each(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// skip reads to the end of the current element.
func (p *parser) skip() error {
	return p.children(func(xml.StartElement) error { return p.skip() })
}

// text returns the text of the current element and reads to its end.
func (p *parser) text() (string, error) {
	var b strings.Builder
	for {
		t, err := p.next()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			return "", fault(Syntax, "an element %s in place of text", quote(t.Name.Local))
		case xml.EndElement:
			return trim(b.String()), nil
		}
	}
}

func (p *parser) inMetalink4(e xml.StartElement) error {
	if e.Name.Space != namespace4 {
		return p.skip()
	}
	switch e.Name.Local {
	case "generator":
		text, err := p.text()
		p.doc.Generator = cmp.Or(p.doc.Generator, text)
		return err
	case "origin":
		text, err := p.text()
		dynamic := attr(e, "dynamic")
		p.origin(text, dynamic == "true" || dynamic == "1")
		return err
	case "file":
		return p.file(e, (*fileReader).in4)
	}
	return p.skip()
}

// attributes3 reads the attributes of the root element of Metalink 3.
func (p *parser) attributes3(root xml.StartElement) {
	p.doc.Generator = trim(attr(root, "generator"))
	if origin := trim(attr(root, "origin")); origin != "" {
		p.origin(origin, attr(root, "type") == "dynamic")
	}
}

func (p *parser) inMetalink3(e xml.StartElement) error {
	if e.Name.Space != namespace3 || e.Name.Local != "files" {
		return p.skip()
	}
	return p.children(func(e xml.StartElement) error {
		if e.Name.Space != namespace3 || e.Name.Local != "file" {
			return p.skip()
		}
		return p.file(e, (*fileReader).in3)
	})
}

func (p *parser) origin(target string, dynamic bool) {
	u, reason := resolve(target)
	switch {
	case reason != "":
		p.warn("origin ignored: " + reason)
	case p.doc.Origin == nil:
		p.doc.Origin, p.doc.Dynamic = u, dynamic
	}
}

// warn adds a warning, up to maxWarnings.
func (p *parser) warn(text string) {
	switch n := len(p.doc.Warnings); {
	case n < maxWarnings:
		p.doc.Warnings = append(p.doc.Warnings, fmt.Sprintf("line %d: %s", p.line, text))
	case n == maxWarnings:
		p.doc.Warnings = append(p.doc.Warnings, "further warnings are omitted")
	}
}

// resolve is Resolve without a base URL: target must be absolute (rule 45).
func resolve(target string) (u *url.URL, reason string) { return Resolve(target, &url.URL{}) }

// attr returns an attribute of e without a namespace, or "".
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// trim removes leading and trailing white space (XML 1.0, section 2.3).
func trim(s string) string { return strings.Trim(s, " \t\r\n") }
