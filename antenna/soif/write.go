package soif

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"

	"braid/antenna/feed"
)

// A FormError says why an object cannot be written.
type FormError struct {
	Field string // Type or URL
	Text  string
}

func (e *FormError) Error() string {
	return fmt.Sprintf("SOIF object: %s %q cannot be written", e.Field, e.Text)
}

// Encode writes a stream that says what the records say, as far as SOIF can: see FromRecord and Append. It stops at a record whose
// URL cannot be written.
func Encode(w io.Writer, records iter.Seq[feed.Record]) error {
	out := bufio.NewWriter(w)
	var b []byte
	for r := range records {
		o, ok := FromRecord(r)
		if !ok {
			continue
		}
		var err error
		if b, err = o.Append(b[:0]); err != nil {
			return err
		}
		if _, err = out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Append writes o to the end of b, in the form that all known readers understand: one blank on each side of the
// brace, one pair a line, the closing brace at the beginning of a line, no wrapper. Attributes whose name is no
// identifier of RFC 2655, such as Embed<1>-Type, are left out. Values are written as they are. A type or URL that
// would be read as something else is an error, and b is returned as it was.
func (o Object) Append(b []byte) ([]byte, error) {
	if !isIdentifier(o.Type, maxType) {
		return b, &FormError{"type", o.Type}
	}
	url := o.URL
	switch {
	case url == "":
		url = "-"
	case len(url) > maxURL || !feed.IsURI(url):
		return b, &FormError{"URL", o.URL}
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

func (a Attribute) append(b []byte) []byte {
	b = append(append(b, a.Name...), '{')
	b = append(strconv.AppendInt(b, int64(len(a.Value)), 10), "}:\t"...)
	return append(append(b, a.Value...), '\n')
}

// isIdentifier reports whether s is an IDENTIFIER (RFC 2655, section 3.5) that readers accept.
func isIdentifier(s string, longest int) bool {
	return s != "" && len(s) <= longest && spanOf([]byte(s), isName) == len(s)
}
