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

// Encode writes a feed in the form that all known agents read: EUC-JP, LF, all standard fields, 0 for those without a value,
// a comma behind each. The specification has no other charset, so what EUC-JP lacks becomes a geta mark, as printers set
// it. Compression is up to the caller.
//
// A record that was read from LIRS keeps its extension fields, and is not altered. Of any other the standard fields are written.
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

// Append appends the line of a record to b. A URL that cannot be written, a line that readers would not take, or a
// record that was read from LIRS with a character that EUC-JP lacks is an error, and b is returned as it was.
func Append(b []byte, r feed.Record) ([]byte, error) {
	if !feed.IsURI(r.URL) || len(r.URL) > feed.MaxURL {
		return b, fmt.Errorf("lirs: %q is no URL", r.URL)
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
		return b[:start], fmt.Errorf("lirs: the record of %s has %d octets, more than readers take", r.URL, n)
	}
	return append(b, '\n'), nil
}

const (
	// maxLine is the limit of readers.
	maxLine = 64 << 10
	// maxText is how long a field may be that comes from elsewhere. No longer one is a URL, a title or a name.
	maxText = feed.MaxURL
)

var errLacking = errors.New("a character that EUC-JP lacks")

var escapes = strings.NewReplacer(`\`, `\\`, ",", `\,`, "\n", " ", "\r", " ")

// twins are characters that EUC-JP has under one of two names, the other one: decoders of today take Microsoft's, and text
// from elsewhere has those of the standard.
var twins = map[rune]string{'〜': "～", '‖': "∥", '−': "－", '¢': "￠", '£': "￡", '¬': "￢"}

// appendText appends a field and the comma behind it. It reports whether all characters are what they were.
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
