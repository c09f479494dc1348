package antenna

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"sync"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/lirs"
	"braid/antenna/news"
	"braid/antenna/soif"
	"braid/internal/feedtext"
)

// A Decoder reads one feed: record by record, in memory that does not grow with it.
type Decoder interface {
	// Records returns the records as they are read. The last pair has an error, and no record, if the feed was broken, is none or
	// is rejected.
	Records() iter.Seq2[feed.Record, error]
	// Input says what the feed looked like on the outside, so far.
	Input() feed.Input
}

// NewDecoder returns a Decoder of a feed in a format that is read, which feed.Own is not.
func NewDecoder(f feed.Format, r io.Reader, o feed.Options) Decoder {
	switch f {
	case feed.HinaDI:
		return hinadi.NewDecoder(r, o)
	case feed.LIRS:
		return lirs.NewDecoder(r, o)
	case feed.SOIF:
		return soif.NewDecoder(r, o)
	case feed.Sitemap:
		return news.NewSitemapDecoder(r, o)
	}
	return news.NewDecoder(r, o)
}

const (
	// looked is how much of a feed is looked at, and sniffed how much of that for how it begins.
	looked  = 16 << 10
	sniffed = 4 << 10
)

// CodeUnknownFormat is the code of the rejection of what is no feed.
const CodeUnknownFormat = "unknown-format"

// OpenFeed finds the format of a feed. In is the feed for NewDecoder, also if it is of no known format and the caller
// knows better: decompressed, twice where a server compresses what is compressed.
func OpenFeed(r io.Reader, limits feed.Limits) (in io.Reader, f feed.Format, err error) {
	text := feedtext.NewReader(r, limits)
	head, err := text.Peek(looked)
	if bytes.HasPrefix(head, gzipMagic) && text.Gzip() {
		text = feedtext.NewReader(struct{ io.Reader }{text}, limits)
		head, err = text.Peek(looked)
	}
	if _, is := errors.AsType[*feed.RejectError](err); err != nil && !is {
		return text, 0, err
	}
	if f, ok := sniff(head[:min(len(head), sniffed)]); ok {
		return text, f, nil
	}
	if object().Match(head) {
		return text, feed.SOIF, nil
	}
	why := "it is empty"
	switch {
	case len(head) > 0:
		why = fmt.Sprintf("it begins with %.40q", head)
	case err != nil:
		why = "its compression cannot be read"
	}
	return text, 0, &feed.RejectError{Code: CodeUnknownFormat, Why: "no feed of a known format: " + why}
}

// object is where an object of SOIF begins, or a wrapper around objects. There may be any text before it; what style
// sheets have looks like it up to the brace.
var object = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`@[A-Za-z0-9_-]+\s*\{\s*(?:(?:-|[A-Za-z][A-Za-z0-9+.-]*://[^\s{}]+)\s*(?:\}|[A-Za-z0-9_<>-]+\{[0-9]*\}:\t)|@[A-Za-z0-9_-]+\s*\{)`)
})

var gzipMagic = []byte{0x1f, 0x8b}

// beginnings are what the first line of a feed begins with that is neither blank nor a comment, in lower case. hina-di
// has its with and without a header; SOIF may come as a MIME entity.
var beginnings = []struct {
	text   string
	format feed.Format
}{
	{"hina/", feed.HinaDI}, {"user-agent:", feed.HinaDI}, {"url:", feed.HinaDI},
	{"lirs,", feed.LIRS},
	{"@", feed.SOIF}, {"content-type:", feed.SOIF}, {"content-transfer-encoding:", feed.SOIF}, {"mime-version:", feed.SOIF},
	{"{", feed.News},
}

// sniff tells the format of a feed by how it begins.
func sniff(head []byte) (f feed.Format, ok bool) {
	if bytes.HasPrefix(head, []byte("\xfe\xff")) || bytes.HasPrefix(head, []byte("\xff\xfe")) { // UTF-16, which XML may be in
		head = bytes.ReplaceAll(head[2:], []byte{0}, nil)
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	comments := false
	for len(head) > 0 {
		i := bytes.IndexAny(head, "\r\n")
		line := head
		if i >= 0 {
			line = head[:i]
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return sniffLine(strings.ToLower(string(line)), head)
		}
		comments = comments || len(line) > 0
		if i < 0 {
			break
		}
		head = head[i+1:]
	}
	return feed.LIRS, comments // no other format has comments
}

// sniffLine is sniff from the first line on that says something.
func sniffLine(line string, head []byte) (f feed.Format, ok bool) {
	for _, b := range beginnings {
		if strings.HasPrefix(line, b.text) {
			return b.format, true
		}
	}
	if line[0] == '<' {
		return sniffXML(head)
	}
	first := bytes.TrimSpace(head)
	if len(first) >= 4 {
		if start, err := base64.StdEncoding.DecodeString(string(first[:4])); err == nil && start[0] == '@' {
			return feed.SOIF, true
		}
	}
	return 0, false
}

var (
	comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`) })
	element = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(?:[\w.-]+:)?([A-Za-z]+)[\s/>]`) })
)

// sniffXML tells the format by the first element.
func sniffXML(head []byte) (f feed.Format, ok bool) {
	m := element().FindSubmatch(comment().ReplaceAll(head, nil))
	if m == nil {
		return 0, false
	}
	switch strings.ToLower(string(m[1])) {
	case "rss", "rdf", "feed":
		return feed.News, true
	case "urlset", "sitemapindex":
		return feed.Sitemap, true
	}
	return 0, false
}
