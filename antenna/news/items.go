package news

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/json"
	"github.com/mmcdole/gofeed/rss"

	"braid/antenna/feed"
)

const (
	// maxItem limits the size of an item without its content.
	maxItem = 64 << 10
	// maxTag limits the size of the start tag of an element that encloses items. maxNamespaces limits the namespaces
	// that such an element, or an item, may declare, because the parser copies the namespaces for each element.
	maxTag        = 16 << 10
	maxNamespaces = 64
	// maxBase limits an xml:base. maxSmall limits a name or the URI of a namespace. parse writes these around each
	// item.
	maxBase  = 512
	maxSmall = 100
)

// kept lists the elements of an item that are read. All other elements are the content of the item.
var kept = []string{
	"title", "link", "guid", "id", "pubdate", "date", "creator", "author", "published", "issued", "updated",
	"modified", "enclosure", "alternateenclosure",
}

// An xmlItems finds the items of RSS and Atom.
type xmlItems struct {
	d      *Decoder
	walker *walker
	// item is the local name of items in lower case.
	item string
	// open has the elements around the current item.
	open []around

	body       []byte // text of the current item
	namespaces int
	used       map[string]bool // namespace prefixes in the item
	plain      bool            // the item has no element that kept lists
}

// next reads to the end of the next item and adds its records to the queue.
func (x *xmlItems) next() error {
	if x.item == "" {
		if err := x.root(); err != nil {
			return err
		}
	}
	for {
		token, err := x.walker.next()
		if err == io.EOF && x.d.reading.Entries() == 0 {
			x.d.reading.Problem(codeNoItem, 0, "", "")
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		x.open = x.open[:min(len(x.open), len(x.walker.path)-1)]
		if x.isItem() {
			return x.read(start)
		}
		if err := x.enter(start); err != nil {
			return err
		}
	}
}

func (x *xmlItems) root() error {
	start, err := x.walker.root()
	switch {
	case err == io.EOF:
		return codeForeign.Reject(1)
	case err != nil:
		return err
	}
	if !x.d.in.known {
		x.d.reading.Problem(codeCharset, 1, "", x.d.in.declared)
	}
	switch strings.ToLower(start.Name.Local) {
	case "rss", "rdf":
		x.item = "item"
	case "feed":
		x.item = "entry"
	default:
		return codeForeign.Reject(1)
	}
	return x.enter(start)
}

// isItem reports whether the current start tag is that of an item: a child of the root or, in RSS, of a channel.
func (x *xmlItems) isItem() bool {
	path := x.walker.path
	n := len(path)
	if !strings.EqualFold(path[n-1].Local, x.item) {
		return false
	}
	return n == 2 || n == 3 && x.item == "item" && strings.EqualFold(path[1].Local, "channel")
}

// enter records an element that may enclose items.
func (x *xmlItems) enter(start xml.StartElement) error {
	n := len(x.walker.path)
	channel := n == 2 && x.item == "item" && strings.EqualFold(start.Name.Local, "channel")
	if n > 1 && !channel || x.walker.isEmptyTag() {
		return nil
	}
	if x.namespaces = namespacesOf(start); x.namespaces > maxNamespaces || len(x.walker.raw()) > maxTag {
		return codeLargeTag.Reject(x.walker.line())
	}
	var outer around
	if n := len(x.open); n > 0 {
		outer = x.open[n-1]
	}
	a := outer.enter(start, x.d.base)
	if len(a.name) > maxSmall || len(a.base) > maxBase {
		return codeLargeName.Reject(x.walker.line())
	}
	if err := wellFormed(append(bytes.Clone(x.walker.raw()), endTag(start.Name)...)); err != nil {
		a.sloppy = err.Error()
	}
	x.open = append(x.open, a)
	return nil
}

func namespacesOf(t xml.StartElement) (n int) {
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
			n++
		}
	}
	return n
}

func (x *xmlItems) read(start xml.StartElement) error {
	line := x.walker.line()
	if err := x.d.count(line); err != nil {
		return err
	}
	x.body, x.namespaces = append(x.body[:0], x.walker.raw()...), namespacesOf(start)
	x.begin(start)
	depth := len(x.walker.path)
	end := endTag(start.Name)
	if x.walker.isEmptyTag() {
		end = ""
	}
	for len(x.walker.path) >= depth {
		token, err := x.walker.next()
		if err != nil {
			return err
		}
		if x.keeps(token, depth) {
			x.add(x.walker.raw())
			x.use(token)
		}
		if t, ok := token.(xml.StartElement); ok {
			x.namespaces += namespacesOf(t)
		}
	}
	x.add([]byte(end))
	r := feed.Record{Format: feed.News, Line: line}
	if len(x.body) > maxItem || x.namespaces > maxNamespaces {
		x.d.find(codeTooLarge, "", "")
		x.d.judge(&r)
		return nil
	}
	if x.plain {
		x.around()
		x.d.records(r, "", &gofeed.Item{})
		return nil
	}
	x.parse(r)
	return nil
}

// add appends a piece to the item, unless the item is too large.
func (x *xmlItems) add(piece []byte) {
	if len(x.body) <= maxItem {
		x.body = append(x.body, piece...)
	}
}

func endTag(name xml.Name) string {
	if name.Space != "" {
		return "</" + name.Space + ":" + name.Local + ">"
	}
	return "</" + name.Local + ">"
}

// keeps reports whether a token of an item is read. Only the elements in kept are read, without comments and
// instructions.
func (x *xmlItems) keeps(token xml.Token, depth int) bool {
	path := x.walker.path
	switch t := token.(type) {
	case xml.StartElement:
	case xml.CharData:
	case xml.EndElement:
		if len(path) == depth { // the token is the end tag of a child of the item
			return isKept(t.Name)
		}
	default:
		return false
	}
	return len(path) > depth && isKept(path[depth])
}

func isKept(name xml.Name) bool { return slices.Contains(kept, strings.ToLower(name.Local)) }

// parse parses the item with gofeed, inside the tags around it.
func (x *xmlItems) parse(r feed.Record) {
	var b bytes.Buffer
	for i, a := range x.open {
		a.begin(&b)
		if i == len(x.open)-1 {
			a.declare(&b, x.used)
		}
		b.WriteByte('>')
	}
	b.Write(x.body)
	for _, a := range slices.Backward(x.open) {
		b.WriteString("</" + a.name + ">")
	}
	if err := wellFormed(b.Bytes()); !x.around() && err != nil {
		x.d.find(codeSloppy, "", err.Error())
	}
	read := readRSS
	if x.item == "entry" {
		read = readAtom
	}
	x.d.item(r, read, b.Bytes())
}

// around reports whether a tag around the item is not well-formed. It adds a violation for the first such tag.
func (x *xmlItems) around() bool {
	i := slices.IndexFunc(x.open, func(a around) bool { return a.sloppy != "" })
	if i >= 0 {
		x.d.find(codeSloppy, "", x.open[i].sloppy)
	}
	return i >= 0
}

// wellFormed returns an error if a document is not well-formed by XML 1.0.
func wellFormed(document []byte) error {
	d := xml.NewDecoder(bytes.NewReader(document))
	for {
		_, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if syntax, ok := err.(*xml.SyntaxError); ok {
			return fmt.Errorf("%s", syntax.Msg)
		}
		if err != nil {
			return err
		}
	}
}

// item parses a document of one item with gofeed and adds its records.
func (d *Decoder) item(r feed.Record, read func(io.Reader) (*gofeed.Feed, error), document []byte) {
	f, err := read(bytes.NewReader(document))
	switch {
	case err != nil:
		d.find(codeUnread, "", err.Error())
		d.judge(&r)
	case len(f.Items) != 1:
		d.find(codeUnread, "", fmt.Sprintf("it contains %d items", len(f.Items)))
		d.judge(&r)
	default:
		d.records(r, f.FeedType, f.Items[0])
	}
}

// readRSS parses RSS without searching for images, because that search would parse all content as HTML.
func readRSS(r io.Reader) (*gofeed.Feed, error) {
	f, err := (&rss.Parser{}).Parse(r)
	if err != nil {
		return nil, err
	}
	read, err := (&gofeed.DefaultRSSTranslator{DisableContentImageScan: true}).Translate(f)
	if err != nil {
		return nil, err
	}
	for i, item := range f.Items { // the translator drops isPermaLink
		if item.GUID != nil && strings.EqualFold(strings.TrimSpace(item.GUID.IsPermalink), "false") && i < len(read.Items) {
			read.Items[i].Custom = map[string]string{noPermalink: "false"}
		}
	}
	return read, nil
}

func readAtom(r io.Reader) (*gofeed.Feed, error) {
	f, err := (&atom.Parser{}).Parse(r)
	if err != nil {
		return nil, err
	}
	return (&gofeed.DefaultAtomTranslator{}).Translate(f)
}

func readJSON(r io.Reader) (*gofeed.Feed, error) {
	var document bytes.Buffer
	f, err := (&json.Parser{}).Parse(io.TeeReader(r, &document))
	if err != nil {
		return nil, err
	}
	read, err := (&gofeed.DefaultJSONTranslator{}).Translate(f)
	if err == nil && len(read.Items) == 1 {
		read.Items[0].Custom = digestsOf(document.Bytes())
	}
	return read, err
}
