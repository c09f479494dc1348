package lirs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// Encode writes a feed in a form that all known agents can read: EUC-JP, LF, all standard fields, 0 for fields without
// a value, and a comma after each field. The specification allows no other charset, so characters that EUC-JP lacks
// become a geta mark, the replacement character of Japanese printers. The caller must compress the output.
//
// A record that was read from LIRS keeps its extension fields and is not changed. Of other records only the standard
// fields are written.
func Encode(w io.Writer, records iter.Seq[feed.Record]) error {
	out := bufio.NewWriter(w)
	var line []byte
	for r := range records {
		var err error
		if line, err = Append(line[:0], r); err != nil {
			return err
		}
		if _, err = out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Append appends the line of a record to b. It returns b unchanged and an error if the URL is not valid, if the line
// would be too long for readers, or if a record read from LIRS has a character that EUC-JP cannot encode.
func Append(b []byte, r feed.Record) ([]byte, error) {
	if !feed.IsURI(r.URL) || len(r.URL) > feed.MaxURL {
		return b, fmt.Errorf("lirs: %q is not a URL", r.URL)
	}
	start := len(b)
	modified, detected := r.LastModified, r.Detected
	if r.Failed {
		modified, detected = 0, 0
	}
	b = append(b, prefix...)
	for _, n := range []int64{max(0, int64(modified)), max(0, int64(detected)), r.Zone, max(0, r.Size)} {
		b = append(strconv.AppendInt(b, n, 10), ',')
	}
	for _, s := range []string{r.URL, r.Title, r.Author, r.AgentURL} {
		if s == "" || r.Format != feed.LIRS && len(s) > maxText {
			s = "0"
		}
		var whole bool
		if b, whole = appendText(b, s); !whole && r.Format == feed.LIRS {
			return b[:start], fmt.Errorf("lirs: the record of %s has %w", r.URL, errLacking)
		}
	}
	if r.Format == feed.LIRS {
		for _, f := range r.Fields {
			var whole bool
			if b, whole = appendText(b, f.Value); !whole {
				return b[:start], fmt.Errorf("lirs: the record of %s has %w", r.URL, errLacking)
			}
		}
	}
	if n := len(b) - start; n > maxLine {
		return b[:start], fmt.Errorf("lirs: the record of %s has %d octets, more than readers accept", r.URL, n)
	}
	return append(b, '\n'), nil
}

const (
	// maxLine is the length of a line that readers accept, in bytes.
	maxLine = 64 << 10
	// maxText is the maximum length of a field that comes from another format.
	maxText = feed.MaxURL
)

var errLacking = errors.New("a character that EUC-JP cannot encode")

var escapes = strings.NewReplacer(`\`, `\\`, ",", `\,`, "\n", " ", "\r", " ")

// twins maps characters of the EUC-JP standard to Microsoft's variants. The encoder has only the variants. Current
// decoders produce the variants, too, while other text has the characters of the standard.
var twins = map[rune]string{'〜': "～", '‖': "∥", '−': "－", '¢': "￠", '£': "￡", '¬': "￢"}

// appendText appends a field and a comma. whole reports that no character was replaced.
func appendText(b []byte, s string) (_ []byte, whole bool) {
	s = escapes.Replace(s)
	b, whole = feedtext.EUCJP.Encode(b, s)
	if !whole {
		whole = true
		for _, r := range s {
			var is bool
			b, is = appendRune(b, r)
			whole = whole && is
		}
	}
	return append(b, ','), whole
}

func appendRune(b []byte, r rune) (_ []byte, is bool) {
	for _, s := range []string{string(r), twins[r], "〓"} {
		encoded, ok := feedtext.EUCJP.Encode(b, s)
		if ok && s != "" {
			return encoded, s != "〓" || r == '〓'
		}
	}
	return b, false
}
