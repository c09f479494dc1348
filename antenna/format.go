package antenna

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/formats"
	"braid/internal/feedtext"
	"braid/internal/once"
)

// A Decoder reads one feed.
type Decoder = feed.Decoder

// NewDecoder returns a Decoder of a feed.
func NewDecoder(f *feed.Format, r io.Reader, o feed.Options) Decoder { return f.Decode(r, o) }

const (
	// looked is the number of bytes of a feed that are examined. sniffed is how many of these may determine the format.
	looked  = 16 << 10
	sniffed = 4 << 10
)

// CodeUnknownFormat is the code of the rejection of data that is not a feed.
const CodeUnknownFormat = "unknown-format"

// OpenFeed detects the format of a feed. in is the decompressed feed for NewDecoder, decompressed twice if the server
// compressed a compressed file. If the format is unknown, in is nevertheless valid, for a caller that knows the format.
func OpenFeed(r io.Reader, limits feed.Limits) (in io.Reader, f *feed.Format, err error) {
	text := feedtext.NewReader(r, limits)
	head, err := text.Peek(looked)
	if bytes.HasPrefix(head, gzipMagic) && text.Gzip() {
		text = feedtext.NewReader(struct{ io.Reader }{text}, limits)
		head, err = text.Peek(looked)
	}
	if _, is := errors.AsType[*feed.RejectError](err); err != nil && !is {
		return text, nil, err
	}
	if f, ok := sniff(head); ok {
		return text, f, nil
	}
	why := "it is empty"
	switch {
	case len(head) > 0:
		why = fmt.Sprintf("it begins with %.40q", head)
	case err != nil:
		why = "its compression cannot be read"
	}
	return text, nil, &feed.RejectError{Code: CodeUnknownFormat, Why: "not a feed of a known format: " + why}
}

var gzipMagic = []byte{0x1f, 0x8b}

// sniff detects the format of a feed by its beginning.
func sniff(head []byte) (*feed.Format, bool) {
	line, first, comments := firstLine(head[:min(len(head), sniffed)])
	if line == "" && comments {
		return formats.Find(func(f *feed.Format) bool { return f.Comments })
	}
	element := ""
	switch {
	case strings.HasPrefix(line, "<"):
		element = firstElement(first)
	case strings.HasPrefix(line, "{"), strings.HasPrefix(line, "["):
		members := feedtext.Members(head)
		if f, ok := formats.Find(func(f *feed.Format) bool { return feedtext.HasSet(members, f.Members) }); ok {
			return f, true
		}
	}
	f, ok := formats.Find(func(f *feed.Format) bool {
		begins := func(text string) bool { return strings.HasPrefix(line, text) }
		return slices.ContainsFunc(f.Begins, begins) || slices.Contains(f.Elements, element)
	})
	if ok {
		return f, true
	}
	return formats.Find(func(f *feed.Format) bool { return f.Sniff != nil && f.Sniff(head, bytes.TrimSpace(first)) })
}

// firstLine returns the first line that is neither blank nor a comment, in lower case, and the text from there on. It
// reports whether a comment precedes the line.
func firstLine(head []byte) (line string, first []byte, comments bool) {
	if bytes.HasPrefix(head, []byte("\xfe\xff")) || bytes.HasPrefix(head, []byte("\xff\xfe")) { // XML may be in UTF-16
		head = bytes.ReplaceAll(head[2:], []byte{0}, nil)
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for len(head) > 0 {
		i := bytes.IndexAny(head, "\r\n")
		line := head
		if i >= 0 {
			line = head[:i]
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return strings.ToLower(string(line)), head, comments
		}
		comments = comments || len(line) > 0
		if i < 0 {
			break
		}
		head = head[i+1:]
	}
	return "", nil, comments
}

var (
	comment = once.Pattern(`(?s)<!--.*?(?:-->|$)`)
	element = once.Pattern(`<(?:[\w.-]+:)?([A-Za-z]+)[\s/>]`)
)

// firstElement returns the name of the first element of XML, in lower case and without a prefix.
func firstElement(text []byte) string {
	m := element().FindSubmatch(comment().ReplaceAll(text, nil))
	if m == nil {
		return ""
	}
	return strings.ToLower(string(m[1]))
}
