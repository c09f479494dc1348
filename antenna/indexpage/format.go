package indexpage

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"

	"braid/antenna/feed"
	"braid/internal/once"
)

// Format is the index of a folder: HTML of nginx, Apache, lighttpd, Caddy and others, and JSON of nginx and Caddy. Only
// reading is supported.
var Format = feed.Format{
	ID: feed.IndexPage, Name: "index",
	Members: [][]string{{"name", "type", "mtime"}, {"name", "is_dir", "mod_time"}},
	Sniff:   sniff,
	Decode:  func(r io.Reader, o feed.Options) feed.Decoder { return NewDecoder(r, o) },
}

// sniff is Format.Sniff: the index of an empty folder in JSON, or a page that calls itself an index.
func sniff(head, first []byte) bool {
	if len(first) > 0 && first[0] == '[' {
		return string(bytes.Join(bytes.Fields(first), nil)) == "[]"
	}
	if len(first) == 0 || first[0] != '<' {
		return false
	}
	s := signs{plain: true}
	return s.search(html.NewTokenizer(bytes.NewReader(head)))
}

var (
	// titles are the beginnings of the titles and headings of index pages, in lower case.
	titles = once.Pattern(`^(?:index of\b|directory listing\b|directory:|listing of\b|index - powered by h5ai)`)
	// parents matches the texts of links to the folder above. above matches the targets of such links.
	parents = once.Pattern(`^(?:\.\.|\.\./|go up|\[?(?:to )?parent directory\]?)$`)
	above   = once.Pattern(`^(?:(?:\./)?\.\./?|/|/[^?#:]*/)$`)
	// summaries matches identifiers of Caddy for parts of an index. In the root folder they are the only sign.
	summaries = once.Pattern(`(?i)<table aria-describedby="summary"|<div id="summary">`)
)

// signs has the marks of an index that were found so far in a page.
type signs struct {
	within string // the element whose text is read: title, h1, h2, a or none
	href   string
	text   []byte

	// plain reports that the page has no elements but those of Go's file server. files is the number of links whose
	// text is their target.
	plain bool
	files int
}

// search reports whether a page is an index.
func (s *signs) search(z *html.Tokenizer) bool {
	for {
		switch z.Next() {
		case html.ErrorToken:
			return s.plain && s.files > 0
		case html.StartTagToken, html.SelfClosingTagToken:
			if summaries().Match(z.Raw()) {
				return true
			}
			s.start(z)
		case html.TextToken:
			if s.within != "" && len(s.text) < maxText {
				s.text = append(s.text, z.Text()...)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == s.within && s.end() {
				return true
			}
		}
	}
}

func (s *signs) start(z *html.Tokenizer) {
	name, more := z.TagName()
	switch string(name) {
	case "title", "h1", "h2":
		s.within, s.text, s.plain = string(name), s.text[:0], false
	case "a":
		s.within, s.text, s.href = "a", s.text[:0], attribute(z, more, "href")
	case "pre", "meta":
	default:
		s.plain = false
	}
}

// end examines the text of an element, and reports whether the text shows that the page is an index.
func (s *signs) end() bool {
	text := strings.ToLower(strings.Join(strings.Fields(string(s.text)), " "))
	link := s.within == "a"
	s.within = ""
	if link {
		if text != "" && strings.EqualFold(text, strings.TrimPrefix(s.href, "./")) {
			s.files++
		}
		return parents().MatchString(text) && above().MatchString(s.href)
	}
	return titles().MatchString(text)
}

// attribute returns the value of an attribute of the current tag, or an empty string.
func attribute(z *html.Tokenizer, more bool, name string) string {
	for more {
		var key, value []byte
		if key, value, more = z.TagAttr(); string(key) == name {
			return string(value)
		}
	}
	return ""
}
