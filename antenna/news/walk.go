package news

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"

	"braid/antenna/feed"
	"braid/internal/once"
)

const maxDepth = 100

// A walker reads the tokens of an XML document, even a malformed one, and tracks the open elements.
type walker struct {
	in  *input
	xml *xml.Decoder
	// path has the names of the open elements as spelled in the document.
	path []xml.Name
	// start and end are the offsets of the current token.
	start, end int64
}

func newWalker(in *input) *walker {
	w := &walker{in: in, xml: xml.NewDecoder(in)}
	w.xml.Strict = false
	w.xml.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // the input is already UTF-8
	return w
}

// next returns the next token and drops the text before it. At the end of the document the error is io.EOF.
func (w *walker) next() (xml.Token, error) {
	w.start = w.xml.InputOffset()
	w.in.forget(w.start)
	token, err := w.xml.RawToken()
	w.end = w.xml.InputOffset()
	if err != nil {
		return nil, w.failed(err)
	}
	switch t := token.(type) {
	case xml.StartElement:
		if len(w.path) == maxDepth {
			return nil, codeDeep.Reject(w.line())
		}
		w.path = append(w.path, t.Name)
	case xml.EndElement: // an end tag without a start tag has no effect
		w.leave(t.Name)
	case xml.Directive:
		if entities().Match(t) {
			return nil, codeEntities.Reject(w.line())
		}
	}
	return token, nil
}

// entities matches entity declarations in a document type declaration (XML 1.0, section 4.2).
var entities = once.Pattern(`<!\s*ENTITY`)

// leave closes the innermost element with this name, and the unclosed elements in it.
func (w *walker) leave(name xml.Name) {
	for i, open := range slices.Backward(w.path) {
		if open == name {
			w.path = w.path[:i]
			return
		}
	}
}

// failed returns the reason for an error of reading a token.
func (w *walker) failed(err error) error {
	var syntax *xml.SyntaxError
	why := "not well-formed XML"
	switch {
	case w.in.broken() != nil:
		return w.in.broken()
	case err == io.EOF && len(w.path) == 0:
		return io.EOF
	case err == io.EOF || w.in.err == io.EOF && w.in.pos == len(w.in.window):
		return codeTruncated.Reject(w.line())
	case errors.As(err, &syntax):
		why += ": " + syntax.Msg
	}
	return &feed.RejectError{Line: w.line(), Code: malformed, Why: why}
}

// line returns the line of the current token.
func (w *walker) line() int { return w.in.lineAt(w.start) }

// raw returns the text of the current token.
func (w *walker) raw() []byte { return w.in.between(w.start, w.end) }

// isEmptyTag reports whether the current start tag is also the end tag.
func (w *walker) isEmptyTag() bool { return bytes.HasSuffix(w.raw(), []byte("/>")) }

// root reads to the root element.
func (w *walker) root() (xml.StartElement, error) {
	for {
		token, err := w.next()
		if err != nil {
			return xml.StartElement{}, err
		}
		if t, ok := token.(xml.StartElement); ok {
			return t, nil
		}
	}
}
