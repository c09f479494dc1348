// Package markup writes HTML and SVG without a language of templates. text/template finds methods by name, so that the linker
// keeps every exported method of the program: 7 MB.
package markup

import (
	"fmt"
	"html"
	"strings"
)

// constant is the type of markup that is written as it is. Outside of this package only constants have it, so foreign text
// cannot become markup.
type constant string

// A Page is the beginning of a document. The zero value is an empty one.
type Page struct{ b strings.Builder }

// Add writes markup, with each value in place of a "{}", escaped. The place is in a text, or in a quoted attribute whose
// value is no script, style or URL; a URL of others is a value only if its scheme is known to be harmless.
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

// If adds markup if a condition holds.
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
