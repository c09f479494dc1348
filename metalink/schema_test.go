package metalink

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// A rule describes an element of RFC 5854 (sections 3 and 4, and the RELAX NG schema): the elements in it with their
// least and largest number, its attributes, and its text. The rules were written without reading the code under test.
type rule struct {
	inside     map[string]count
	attributes map[string]func(string) bool
	required   []string // names of attributes
	text       func(string) bool
}

type count struct{ least, most int }

var (
	maybe = count{0, 1}
	any0  = count{0, 1 << 30}
	any1  = count{1, 1 << 30}
)

func matches(expression string) func(string) bool {
	return regexp.MustCompile(`^(?s:` + expression + `)$`).MatchString
}

func isDate(s string) bool {
	_, err := time.Parse("2006-01-02T15:04:05Z07:00", s)
	return err == nil
}

func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

var (
	anything    = matches(`.*`)
	priorities  = matches(`[1-9][0-9]{0,5}`)
	hexadecimal = matches(`[0-9a-f]+`)
	hashNames   = matches(`md2|md5|sha-1|sha-224|sha-256|sha-384|sha-512`) // of the IANA registry
)

var grammar = map[string]rule{
	"metalink": {inside: map[string]count{"file": any1, "generator": maybe, "origin": maybe, "published": maybe,
		"updated": maybe}},
	"file": {
		inside: map[string]count{
			"copyright": maybe, "description": maybe, "hash": any0, "identity": maybe, "language": any0, "logo": maybe,
			"metaurl": any0,
			"os":      any0, "pieces": any0, "publisher": maybe, "signature": any0, "size": maybe, "url": any0, "version": maybe,
		},
		attributes: map[string]func(string) bool{"name": func(s string) bool { return safe(s) }}, required: []string{"name"},
	},
	"pieces": {
		inside:     map[string]count{"hash": any1},
		attributes: map[string]func(string) bool{"length": matches(`[1-9][0-9]*`), "type": hashNames},
		required:   []string{"length", "type"},
	},
	"copyright": {text: anything}, "description": {text: anything}, "generator": {text: anything}, "identity": {text: anything},
	"language": {text: anything}, "logo": {text: anything}, "os": {text: anything}, "version": {text: anything},
	"published": {text: isDate}, "updated": {text: isDate},
	"hash":   {attributes: map[string]func(string) bool{"type": hashNames}, text: hexadecimal},
	"origin": {attributes: map[string]func(string) bool{"dynamic": matches(`true|false|1|0`)}, text: isURI},
	"metaurl": {
		attributes: map[string]func(string) bool{"priority": priorities, "mediatype": anything, "name": anything},
		required:   []string{"mediatype"}, text: isURI,
	},
	"publisher": {attributes: map[string]func(string) bool{"name": anything, "url": anything},
		required: []string{"name"}, text: matches(``)},
	"signature": {attributes: map[string]func(string) bool{"mediatype": anything}, required: []string{"mediatype"},
		text: matches(`.*\S.*`)},
	"size": {text: matches(`[0-9]+`)},
	"url":  {attributes: map[string]func(string) bool{"location": matches(`[a-zA-Z]{2}`), "priority": priorities}, text: isURI},
}

// An element is an XML element with everything in it.
type element struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Text       string     `xml:",chardata"`
	Inside     []element  `xml:",any"`
}

// checkSchema returns the ways in which document does not conform to RFC 5854.
func checkSchema(document []byte) (problems []string) {
	var root element
	if err := xml.Unmarshal(document, &root); err != nil {
		return []string{err.Error()}
	}
	if root.XMLName.Local != "metalink" {
		problems = append(problems, "root "+root.XMLName.Local)
	}
	problems = append(problems, checkElement(root, "")...)
	names := map[string]bool{}
	for _, f := range root.Inside {
		if f.XMLName.Local != "file" {
			continue
		}
		for _, a := range f.Attributes {
			if a.Name.Local == "name" && names[a.Value] {
				problems = append(problems, "two files "+a.Value)
			}
			names[a.Value] = true
		}
		problems = append(problems, checkElements(f)...)
	}
	return append(problems, checkBytes(document)...)
}

// checkElements checks what the schema cannot express: a hash has a type except within pieces (section 4.2.4.1).
func checkElements(f element) (problems []string) {
	for _, e := range f.Inside {
		if e.XMLName.Local == "hash" && len(e.Attributes) != 1 {
			problems = append(problems, "a hash of the file without a type")
		}
		for _, h := range e.Inside {
			if e.XMLName.Local == "pieces" && len(h.Attributes) > 0 {
				problems = append(problems, "a hash of a piece with a type")
			}
		}
	}
	return problems
}

func checkElement(e element, path string) (problems []string) {
	path += "/" + e.XMLName.Local
	problem := func(format string, args ...any) { problems = append(problems, path+": "+fmt.Sprintf(format, args...)) }
	if e.XMLName.Space != "urn:ietf:params:xml:ns:metalink" {
		return nil // extensions (section 5)
	}
	r, ok := grammar[e.XMLName.Local]
	if !ok {
		problem("no such element")
		return problems
	}
	if r.text == nil && strings.TrimSpace(e.Text) != "" || r.text != nil && (len(e.Inside) > 0 || !r.text(e.Text)) {
		problem("text %q", e.Text)
	}
	seen := map[string]int{}
	for _, c := range e.Inside {
		if c.XMLName.Space == e.XMLName.Space {
			seen[c.XMLName.Local]++
		}
		problems = append(problems, checkElement(c, path)...)
	}
	for name, n := range seen {
		if n > r.inside[name].most {
			problem("%d times %s", n, name)
		}
	}
	for name, c := range r.inside {
		if seen[name] < c.least {
			problem("no %s", name)
		}
	}
	return append(problems, checkAttribute(e, r, path)...)
}

func checkAttribute(e element, r rule, path string) (problems []string) {
	var names []string
	for _, a := range e.Attributes {
		if a.Name.Space != "" || a.Name.Local == "xmlns" {
			continue
		}
		names = append(names, a.Name.Local)
		if valid, ok := r.attributes[a.Name.Local]; !ok || !valid(a.Value) {
			problems = append(problems, fmt.Sprintf("%s: attribute %s=%q", path, a.Name.Local, a.Value))
		}
	}
	for _, name := range r.required {
		if !slices.Contains(names, name) {
			problems = append(problems, path+": no attribute "+name)
		}
	}
	return problems
}

// checkBytes checks that document is UTF-8 text with an XML declaration, a newline at its end and no control
// characters.
func checkBytes(document []byte) (problems []string) {
	if !utf8.Valid(document) || !bytes.HasPrefix(document, []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<")) ||
		!bytes.HasSuffix(document, []byte(">\n")) {
		problems = append(problems, "not a text file in UTF-8 with a declaration")
	}
	for _, r := range string(document) {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			problems = append(problems, fmt.Sprintf("the character %U", r))
		}
	}
	return problems
}

// TestSchemaChecker checks that checkSchema finds errors.
func TestSchemaChecker(t *testing.T) {
	good := string(format(t, parse(t, doc("<size>1</size><hash type='md5'>"+md5Zero+
		"</hash><url priority='3' location='de'>http://h/</url>"))))
	if p := checkSchema([]byte(good)); len(p) > 0 {
		t.Fatalf("a good document: %q", p)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"<size>1</size>", "<size>-1</size>", `/metalink/file/size: text "-1"`},
		{"<size>1</size>", "<size>1</size><size>1</size>", "/metalink/file: 2 times size"},
		{"<size>1</size>", "<sizes>1</sizes>", "/metalink/file/sizes: no such element"},
		{"<size>1</size>", "1", "/metalink/file: text"},
		{"<size>1</size>", "<size><x/>1</size>", "size: text"},
		{"<size>1</size>", "<pieces length='1'><hash>00</hash></pieces>", "no attribute type"},
		{"<size>1</size>", "<pieces length='0' type='md5'/>", `attribute length="0"`},
		{"<size>1</size>", "<pieces length='1' type='md5'/>", "no hash"},
		{"<size>1</size>", "<publisher url='x'/>", "no attribute name"},
		{"<size>1</size>", "<signature mediatype='x'> </signature>", "signature: text"},
		{`priority="3"`, `priority="0"`, `attribute priority="0"`},
		{`priority="3"`, `priority="1000000"`, `attribute priority="1000000"`},
		{`priority="3"`, `preference="3"`, `attribute preference="3"`},
		{`location="de"`, `location=""`, `attribute location=""`},
		{`type="md5"`, `type="sha256"`, `attribute type="sha256"`},
		{` type="md5"`, ``, "a hash of the file without a type"},
		{`name="f"`, `name="/f"`, `attribute name="/f"`},
		{"<file", "<published>now</published><file", `published: text "now"`},
		{"</file>", "</file><file name='f'/>", "two files f"},
		{">http://h/<", ">\thttp://h/<", "the character U+0009"},
		{">\n  <file", ">\r\n  <file", "the character U+000D"},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		if p := strings.Join(checkSchema([]byte(bad)), "; "); bad == good || !strings.Contains(p, tt.want) {
			t.Errorf("%s instead of %s: %s, want %s", tt.new, tt.old, p, tt.want)
		}
	}
	if p := checkSchema([]byte(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"/>`)); len(p) == 0 {
		t.Error("no file is needed")
	}
}
