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

// An around is what an element around items means for them: its name, the namespaces in it, and its xml:base. What else
// a start tag has is left out, so that an item costs what its own length does and not what that of the tags around it
// is.
type around struct {
	name    string            // with its prefix
	prefix  string            // of the name
	initial string            // the namespace that the element declares for names without a prefix
	spaces  map[string]string // the namespaces in scope, by their prefixes
	base    string            // in scope
	sloppy  string            // what is wrong with the tag, if it is not well-formed
}

// enter is a in the scope of which an element begins. The document is at a URL, if that is known.
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

// shortSpace is the URI of a namespace. A longer one than any that has a meaning here becomes a short one of its own.
func shortSpace(uri string) string {
	if len(uri) <= maxSmall {
		return uri
	}
	h := fnv.New128a()
	h.Write([]byte(uri)) // which never fails
	return fmt.Sprintf("urn:x-namespace:%x", h.Sum(nil))
}

// resolved is an xml:base in another (XML Base, section 4).
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

// begin writes the start tag without its end.
func (a *around) begin(b *bytes.Buffer) {
	b.WriteString("<" + a.name)
	if a.initial != "" {
		attribute(b, "xmlns", a.initial)
	}
	if uri, ok := a.spaces[a.prefix]; ok {
		attribute(b, "xmlns:"+a.prefix, uri)
	}
}

// declare writes what the item needs of the scope.
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
	_ = xml.EscapeText(b, []byte(value)) // a buffer takes all
	b.WriteByte('"')
}

// begin begins an item with its start tag.
func (x *xmlItems) begin(start xml.StartElement) {
	if x.used == nil {
		x.used = map[string]bool{}
	}
	clear(x.used)
	x.use(start)
	x.plain = len(start.Attr) == 0
}

// use notes the prefixes of a token that is read.
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
