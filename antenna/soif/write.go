package soif

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"braid/antenna/feed"
)

// ErrNoWord says that SOIF cannot say what a record says: that a site could not be reached, or that it was looked at
// elsewhere than at its URL.
var ErrNoWord = errors.New("SOIF has no word for it")

// Encode writes a stream that says what the records say, without those for which there is ErrNoWord. It stops at a
// record whose URL cannot be written.
func Encode(w io.Writer, records iter.Seq[feed.Record]) error {
	out := bufio.NewWriter(w)
	var b []byte
	for r := range records {
		var err error
		if b, err = Append(b[:0], r); err == ErrNoWord {
			continue
		}
		if err == nil {
			_, err = out.Write(b)
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// Append writes what r says to the end of b, in the form that all known readers understand: one blank on each side of the
// brace, one pair a line, the closing brace at the beginning of a line, no wrapper. Attributes whose name is no
// identifier of RFC 2655, such as Embed<1>-Type, are left out. Values are written as they are. A type or URL that
// would be read as something else is an error, and b is returned as it was.
func Append(b []byte, r feed.Record) ([]byte, error) {
	o, ok := fromRecord(r)
	if !ok {
		return b, ErrNoWord
	}
	return o.append(b)
}

func (o object) append(b []byte) ([]byte, error) {
	if !isIdentifier(o.Type, maxType) {
		return b, fmt.Errorf("SOIF object: type %q cannot be written", o.Type)
	}
	url := o.URL
	switch {
	case url == "":
		url = "-"
	case len(url) > maxURL || !feed.IsURI(url):
		return b, fmt.Errorf("SOIF object: URL %q cannot be written", o.URL)
	}
	b = append(append(append(append(b, '@'), o.Type...), " { "...), url...)
	b = append(b, '\n')
	for _, a := range o.Attributes {
		if isIdentifier(a.Name, maxName) {
			b = a.append(b)
		}
	}
	return append(b, "}\n"...), nil
}

func (a attribute) append(b []byte) []byte {
	b = append(append(b, a.Name...), '{')
	b = append(strconv.AppendInt(b, int64(len(a.Value)), 10), "}:\t"...)
	return append(append(b, a.Value...), '\n')
}

// isIdentifier reports whether s is an IDENTIFIER (RFC 2655, section 3.5) that readers accept.
func isIdentifier(s string, longest int) bool {
	return s != "" && len(s) <= longest && spanOf([]byte(s), isName) == len(s)
}
