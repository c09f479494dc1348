package news

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"

	"braid/antenna/feed"
)

// maxDepth bounds how deep elements are nested.
const maxDepth = 100

// A walker goes through the tokens of an XML document, however badly it is written, and knows inside which elements it is.
type walker struct {
	in  *input
	xml *xml.Decoder
	// path are the elements that are open, as they are written in the document.
	path []xml.Name
	// start and end are the offsets of the token at hand.
	start, end int64
}

func newWalker(in *input) *walker {
	w := &walker{in: in, xml: xml.NewDecoder(in)}
	w.xml.Strict = false
	w.xml.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // the input is UTF-8 by now
	return w
}

// next goes to the next token, and forgets what is before it. At the end of the document the error is io.EOF.
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
	case xml.EndElement: // one that was not opened closes nothing
		w.leave(t.Name)
	case xml.Directive:
		if entities.Match(t) {
			return nil, codeEntities.Reject(w.line())
		}
	}
	return token, nil
}

// entities finds declarations of entities in a document type (XML 1.0, section 4.2).
var entities = regexp.MustCompile(`<!\s*ENTITY`)

// leave closes the innermost element of that name, and those in it that were not closed.
func (w *walker) leave(name xml.Name) {
	for i, open := range slices.Backward(w.path) {
		if open == name {
			w.path = w.path[:i]
			return
		}
	}
}

// failed says why there are no more tokens.
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

// line is where the token at hand begins.
func (w *walker) line() int { return w.in.lineAt(w.start) }

// raw is the token at hand as it is written.
func (w *walker) raw() []byte { return w.in.between(w.start, w.end) }

// isEmptyTag reports whether the start tag at hand is the end tag as well.
func (w *walker) isEmptyTag() bool { return bytes.HasSuffix(w.raw(), []byte("/>")) }

// root goes to the first element.
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
