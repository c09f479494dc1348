// Package markup writes HTML and SVG without a template language. text/template finds methods by name, so with it the
// linker keeps every exported method of the program: 7 MB.
package markup

import (
	"fmt"
	"html"
	"strings"
)

// constant is the type of markup that is written unescaped. Outside of this package, only untyped constants can be
// passed for it, so foreign text cannot become markup.
type constant string

// A Page is a document that is being written. The zero value is empty.
type Page struct{ b strings.Builder }

// Add writes markup with an escaped value in place of each "{}". A "{}" may be in text, or in a quoted attribute that
// is not a script, style or URL. But it may be a foreign URL with a scheme that is known to be harmless.
func (p *Page) Add(markup constant, values ...any) {
	rest := string(markup)
	for _, v := range values {
		before, after, _ := strings.Cut(rest, "{}")
		p.b.WriteString(before)
		p.b.WriteString(escape(fmt.Sprint(v)))
		rest = after
	}
	p.b.WriteString(rest)
}

// If calls Add if holds is true.
func (p *Page) If(holds bool, markup constant, values ...any) {
	if holds {
		p.Add(markup, values...)
	}
}

// Style writes a style sheet of the program itself.
func (p *Page) Style(sheet string) { p.b.WriteString("<style>\n" + sheet + "</style>\n") }

// Bytes returns the document.
func (p *Page) Bytes() []byte { return []byte(p.b.String()) }

// escape returns text for HTML. A NUL, which HTML forbids, becomes the replacement character.
func escape(s string) string { return html.EscapeString(strings.ReplaceAll(s, "\x00", "\uFFFD")) }
