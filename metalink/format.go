package metalink

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"braid/verify"
)

// Format returns d as a document of RFC 5854 in UTF-8. Equal documents have equal output, and Parse returns a document
// equal to d. The output has no control characters except line ends. Refused, Warnings and the ignored links of files
// are not written.
//
// The error is an *Error if no reader could use the output: no file, an unsafe or duplicate name, contradicting
// digests, or a document that exceeds a limit. RFC 5854 also requires a URL for each file, which Format does not check.
func Format(d Document) ([]byte, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	w := &writer{}
	w.b.WriteString(xml.Header)
	w.open("metalink", "xmlns", namespace4)
	if generator := trim(d.Generator); generator != "" {
		w.element("generator", generator)
	}
	if d.Origin != nil {
		w.element("origin", d.Origin.String(), "dynamic", optional(d.Dynamic, "true"))
	}
	for _, f := range d.Files {
		w.file(f)
	}
	w.close("metalink")
	switch {
	case w.err != nil:
		return nil, w.err
	case w.b.Len() > MaxSize:
		return nil, fault(TooMuch, "it is larger than %d MiB", MaxSize>>20)
	}
	return w.b.Bytes(), nil
}

// check returns an error if d is not valid.
func (d Document) check() error {
	switch {
	case len(d.Files) == 0:
		return fault(Foreign, "it describes no file")
	case len(d.Files) > maxFiles:
		return fault(TooMuch, "it describes more than %d files", maxFiles)
	case d.Origin != nil && !validPlace(d.Origin, 0):
		return fault(Invalid, "its origin is not a usable URL")
	}
	names := map[string]bool{}
	for _, f := range d.Files {
		err := f.check()
		if err == nil && names[f.Name] {
			err = fault(Conflict, "two files have this name")
		}
		if err != nil {
			err.File = f.Name
			return err
		}
		names[f.Name] = true
	}
	return nil
}

func (f File) check() *Error {
	if err := CheckPath(f.Name); err != nil {
		return fault(Invalid, "%v", err)
	}
	if len(f.Mirrors)+len(f.Documents) > maxURLs {
		return fault(TooMuch, "it has more than %d URLs", maxURLs)
	}
	for _, m := range f.Mirrors {
		if !validPlace(m.URL, m.Pri) || m.Geo != country(m.Geo) {
			return fault(Invalid, "a mirror has no usable URL, or an invalid priority or country")
		}
	}
	for _, m := range f.Documents {
		if !validPlace(m.URL, m.Pri) || m.Type == "" || m.Type != mediaType(m.Type) || m.Name != "" && CheckPath(m.Name) != nil {
			return fault(Invalid, "a document has no usable URL, type or name, or an invalid priority")
		}
	}
	for _, s := range f.Signatures {
		if s.Type == "" || s.Type != mediaType(s.Type) || trim(s.Text) == "" {
			return fault(Invalid, "a signature has no type or no text")
		}
	}
	return f.checkDigests()
}

func (f File) checkDigests() *Error {
	if len(f.Pieces) > maxPieceLists {
		return fault(TooMuch, "it has more than %d lists of pieces", maxPieceLists)
	}
	r := fileReader{file: File{Claims: f.Claims}}
	for _, p := range f.Pieces {
		if p.Size() != f.Size {
			return fault(Conflict, "it has %d bytes, but its pieces cover %d", f.Size, p.Size())
		}
		if e, ok := errors.AsType[*Error](r.takePieces(p)); ok {
			return e
		}
	}
	for i, c := range f.Claims {
		same := func(o verify.Claim) bool { return o.Digest.Algorithm() == c.Digest.Algorithm() }
		if c.Digest.IsZero() || slices.ContainsFunc(f.Claims[:i], same) {
			return fault(Conflict, "it has two digests of one algorithm, or a digest without an algorithm")
		}
	}
	return nil
}

func validPlace(u *url.URL, priority int) bool {
	if u == nil || priority < 0 || priority > NoPriority {
		return false
	}
	_, reason := resolve(u.String())
	return reason == ""
}

// A writer writes elements. It keeps its first error.
type writer struct {
	b     bytes.Buffer
	depth int
	err   error
}

func (w *writer) file(f File) {
	w.open("file", "name", f.Name)
	if f.Size >= 0 {
		w.element("size", strconv.FormatInt(f.Size, 10))
	}
	claims := slices.Clone(f.Claims)
	verify.SortClaims(claims)
	for _, c := range claims {
		w.element("hash", c.Digest.Hex(), "type", c.Digest.Algorithm().String())
	}
	for _, s := range f.Signatures {
		w.element("signature", "\n"+trim(s.Text)+"\n", "mediatype", s.Type)
	}
	for _, p := range slices.SortedStableFunc(slices.Values(f.Pieces), strongestPieces) {
		w.pieces(p)
	}
	for _, m := range f.Documents {
		media := m.Type
		if media == Torrent {
			media = torrentWord
		}
		w.element("metaurl", m.URL.String(), "priority", priority(m.Pri), "mediatype", media, "name", m.Name)
	}
	mirrors := slices.Clone(f.Mirrors)
	Sort(mirrors)
	for _, m := range mirrors {
		w.element("url", m.URL.String(), "location", strings.ToLower(m.Geo), "priority", priority(m.Pri))
	}
	w.close("file")
}

func (w *writer) pieces(p verify.Pieces) {
	w.open("pieces", "length", strconv.FormatInt(p.Length(), 10), "type", p.Algorithm().String())
	for i := range p.Count() {
		w.element("hash", p.Digest(i).Hex())
	}
	w.close("pieces")
}

// priority returns n as text, or "" if n is the default priority.
func priority(n int) string { return optional(n > 0 && n < NoPriority, strconv.Itoa(n)) }

func optional(there bool, text string) string {
	if !there {
		return ""
	}
	return text
}

// element writes an element on one line. attributes alternates names and values. Empty values are omitted.
func (w *writer) element(name, text string, attributes ...string) {
	w.tag(name, ">", attributes...)
	w.escape(text, false)
	w.b.WriteString("</" + name + ">\n")
}

func (w *writer) open(name string, attributes ...string) {
	w.tag(name, ">\n", attributes...)
	w.depth++
}

func (w *writer) close(name string) {
	w.depth--
	w.b.WriteString(strings.Repeat("  ", w.depth) + "</" + name + ">\n")
}

func (w *writer) tag(name, end string, attributes ...string) {
	w.b.WriteString(strings.Repeat("  ", w.depth) + "<" + name)
	for pair := range slices.Chunk(attributes, 2) {
		if pair[1] == "" {
			continue
		}
		w.b.WriteString(" " + pair[0] + `="`)
		w.escape(pair[1], true)
		w.b.WriteByte('"')
	}
	w.b.WriteString(end)
}

// escape writes text so that a parser gets s. Invisible and deceptive characters are written as references.
func (w *writer) escape(s string, inTag bool) {
	for i, r := range s {
		_, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1 || !inXML(r):
			w.fail(fmt.Errorf("%s cannot be written in XML", quote(s)))
		case r == '&':
			w.b.WriteString("&amp;")
		case r == '<':
			w.b.WriteString("&lt;")
		case r == '>':
			w.b.WriteString("&gt;")
		case r == '"' && inTag:
			w.b.WriteString("&quot;")
		case r == '\n' && !inTag:
			w.b.WriteByte('\n')
		// invisible or deceptive
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar:
			fmt.Fprintf(&w.b, "&#x%X;", r)
		default:
			w.b.WriteRune(r)
		}
	}
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = &Error{Kind: Charset, Why: err.Error(), Err: err}
	}
}
