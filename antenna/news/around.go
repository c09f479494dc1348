package news

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"slices"
)

// An around has the kept parts of an element that encloses items: its name, its namespaces and its xml:base. The rest
// of its start tag is dropped, so that the cost of parsing an item does not depend on the length of the tags around it.
type around struct {
	name    string            // the name with its prefix
	prefix  string            // prefix of the name
	initial string            // the default namespace that the element declares
	spaces  map[string]string // namespaces in scope, by prefix
	base    string            // xml:base in scope
	sloppy  string            // why the tag is not well-formed; empty if it is
}

// enter returns the around of an element inside a. document is the URL of the document, or nil.
func (a around) enter(start xml.StartElement, document *url.URL) around {
	next := around{name: start.Name.Local, prefix: start.Name.Space, spaces: maps.Clone(a.spaces), base: a.base}
	if next.prefix != "" {
		next.name = next.prefix + ":" + next.name
	}
	if next.spaces == nil {
		next.spaces = map[string]string{}
	}
	for _, attr := range start.Attr {
		switch name := attr.Name; {
		case name.Space == "xmlns":
			next.spaces[name.Local] = shortSpace(attr.Value)
		case name.Space == "" && name.Local == "xmlns":
			next.initial = shortSpace(attr.Value)
		case name.Space == "xml" && name.Local == "base":
			outer := a.base
			if outer == "" && document != nil {
				outer = document.String()
			}
			next.base = resolved(outer, attr.Value)
		}
	}
	return next
}

// shortSpace returns the URI of a namespace. A URI that is longer than any known URI is replaced by a short hash.
func shortSpace(uri string) string {
	if len(uri) <= maxSmall {
		return uri
	}
	h := fnv.New128a()
	h.Write([]byte(uri)) // never fails
	return fmt.Sprintf("urn:x-namespace:%x", h.Sum(nil))
}

// resolved resolves an xml:base against an outer xml:base (XML Base, section 4).
func resolved(outer, base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return outer
	}
	if parent, err := url.Parse(outer); err == nil && outer != "" {
		u = parent.ResolveReference(u)
	}
	return u.String()
}

// begin writes the start tag without the final >.
func (a *around) begin(b *bytes.Buffer) {
	b.WriteString("<" + a.name)
	if a.initial != "" {
		attribute(b, "xmlns", a.initial)
	}
	if uri, ok := a.spaces[a.prefix]; ok {
		attribute(b, "xmlns:"+a.prefix, uri)
	}
}

// declare writes the namespaces that the item uses, and the xml:base.
func (a *around) declare(b *bytes.Buffer, used map[string]bool) {
	for _, prefix := range slices.Sorted(maps.Keys(used)) {
		if uri, ok := a.spaces[prefix]; ok && prefix != a.prefix {
			attribute(b, "xmlns:"+prefix, uri)
		}
	}
	if a.base != "" {
		attribute(b, "xml:base", a.base)
	}
}

func attribute(b *bytes.Buffer, name, value string) {
	b.WriteString(" " + name + `="`)
	_ = xml.EscapeText(b, []byte(value)) // a buffer returns no error
	b.WriteByte('"')
}

// begin resets the state for an item with this start tag.
func (x *xmlItems) begin(start xml.StartElement) {
	if x.used == nil {
		x.used = map[string]bool{}
	}
	clear(x.used)
	x.use(start)
	x.plain = len(start.Attr) == 0
}

// use records the prefixes in a token.
func (x *xmlItems) use(token xml.Token) {
	x.plain = false
	t, ok := token.(xml.StartElement)
	if !ok {
		return
	}
	x.used[t.Name.Space] = true
	for _, a := range t.Attr {
		x.used[a.Name.Space] = true
	}
}
