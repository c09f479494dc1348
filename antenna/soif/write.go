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

// ErrNoWord reports that SOIF cannot represent a record, because the record is a failure or was obtained from a URL
// other than its own.
var ErrNoWord = errors.New("SOIF cannot express it")

// Encode writes the records as a stream. It omits records with ErrNoWord. It fails at a record with an invalid URL.
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

// Append appends the object of r to b, in a form that all known readers understand: one space on each side of the
// brace, one pair per line, the closing brace at the beginning of a line, no wrapper. Attributes with a name that RFC
// 2655 does not allow, such as Embed<1>-Type, are omitted. Values are written unchanged. If the type or URL is not
// valid, it returns b unchanged and an error.
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
