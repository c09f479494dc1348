package byterange

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// unit is the only range unit that this package supports (RFC 9110, section 14.1.2).
const unit = "bytes"

// ErrUnsatisfiable reports that a Range field is valid but no byte that it requests exists. The response is then a 416
// (RFC 9110, section 15.5.17).
var ErrUnsatisfiable = errors.New("range not satisfiable")

// A ContentRange is the value of a Content-Range field (RFC 9110, section 14.4).
type ContentRange struct {
	// Range is the part in the response. It is never unbounded, and it is empty only in the field of a 416.
	Range Range
	// Size is the size of the whole representation, or -1 if the field has "*".
	Size int64
}

// ParseContentRange parses the Content-Range field of a 206. It supports only the unit bytes, accepts no characters
// beyond the grammar, and checks the numbers:
//
//	"A Content-Range field value is invalid if it contains a range-resp that has a last-pos value less than
//	its first-pos value, or a complete-length value less than or equal to its last-pos value." (RFC 9110,
//	section 14.4)
func ParseContentRange(v string) (ContentRange, error) {
	rest, ok := consumeUnit(v, ' ')
	if !ok {
		return ContentRange{}, contentRangeError(v, rest, "want unit bytes and a space")
	}
	first, last, rest, ok := consumePositions(rest)
	if !ok {
		return ContentRange{}, contentRangeError(v, rest, "want first and last position")
	}
	size, rest, ok := consumeSize(rest)
	if !ok || rest != "" {
		return ContentRange{}, contentRangeError(v, rest, "want / and the size, and nothing more")
	}
	switch {
	case last < first:
		return ContentRange{}, contentRangeError(v, v, "last position before first")
	case last >= Unbounded-1 || size == Unbounded: // last+1 must be a valid size
		return ContentRange{}, contentRangeError(v, v, "number too large")
	case size >= 0 && size <= last:
		return ContentRange{}, contentRangeError(v, v, "last position beyond size")
	}
	return ContentRange{Range{first, last + 1}, size}, nil
}

// ParseUnsatisfied parses the Content-Range field of a 416, "bytes */1234", and returns the size of the
// representation (RFC 9110, section 14.4).
func ParseUnsatisfied(v string) (size int64, err error) {
	rest, ok := consumeUnit(v, ' ')
	if !ok {
		return 0, contentRangeError(v, rest, "want unit bytes and a space")
	}
	rest, ok = strings.CutPrefix(rest, "*/")
	if !ok {
		return 0, contentRangeError(v, rest, "want */")
	}
	size, rest, ok = consumeNumber(rest)
	switch {
	case !ok || rest != "":
		return 0, contentRangeError(v, rest, "want the size, and nothing more")
	case size == Unbounded:
		return 0, contentRangeError(v, v, "number too large")
	}
	return size, nil
}

// String returns the field value: "bytes 0-499/1234", "bytes 0-499/*" if the size is unknown, and
// "bytes */1234", the form of a 416, if Range is empty.
func (c ContentRange) String() string {
	part, size := "*", "*"
	if !c.Range.Empty() {
		part = c.Range.String()
	}
	if c.Size >= 0 {
		size = strconv.FormatInt(c.Size, 10)
	}
	return unit + " " + part + "/" + size
}

// contentRangeError returns an error with the offset of rest in v.
func contentRangeError(v, rest, why string) error {
	return fmt.Errorf("Content-Range %.80q: offset %d: %s", v, len(v)-len(rest), why)
}

// ParseRange parses the Range field of a request for a representation of size bytes. It returns the satisfiable ranges
// in the requested order. No range is empty, and no range ends after size. ParseRange returns ErrUnsatisfiable if no
// range is satisfiable. After any other error, the server must ignore the field and send the whole representation (RFC
// 9110, section 14.2). This includes every Range of an empty representation, because no Content-Range could describe a
// part of it.
func ParseRange(v string, size int64) ([]Range, error) {
	rest, ok := consumeUnit(v, '=')
	if !ok {
		return nil, fmt.Errorf("Range %.80q: want unit bytes and =", v)
	}
	var ranges []Range
	specs := 0
	for element := range strings.SplitSeq(rest, ",") {
		element = strings.Trim(element, " \t")
		if element == "" { // RFC 9110, section 5.6.1.2: a recipient MUST ignore empty list elements
			continue
		}
		r, ok := parseSpec(element, size)
		if !ok {
			return nil, fmt.Errorf("Range %.80q: bad range %.80q", v, element)
		}
		specs++
		if !r.Empty() {
			ranges = append(ranges, r)
		}
	}
	switch {
	case specs == 0:
		return nil, fmt.Errorf("Range %.80q: no range", v)
	case size == 0:
		return nil, fmt.Errorf("Range %.80q: empty representation", v)
	case len(ranges) == 0:
		return nil, ErrUnsatisfiable
	}
	return ranges, nil
}

// parseSpec parses one range-spec: "0-499", "500-" or "-500" for the last bytes (RFC 9110, section 14.1.1). The result
// is empty if the range-spec cannot be satisfied. Numbers too large for an int64 are treated as beyond the end: "a
// recipient MUST anticipate potentially large decimal numerals and prevent parsing errors due to integer conversion
// overflows" (RFC 9110, section 8.6).
func parseSpec(s string, size int64) (r Range, ok bool) {
	if suffix, found := strings.CutPrefix(s, "-"); found {
		n, rest, ok := consumeNumber(suffix)
		return Range{max(0, size-n), size}, ok && rest == ""
	}
	if first, rest, ok := consumeNumber(s); ok && rest == "-" {
		return Range{first, size}, true
	}
	first, last, rest, ok := consumePositions(s)
	if !ok || rest != "" || last < first {
		return Range{}, false
	}
	return Range{first, min(last, size-1) + 1}, true
}

// consumeUnit splits s after "bytes" and the separator. "All range unit names are case-insensitive" (RFC 9110, section
// 14.1).
func consumeUnit(s string, separator byte) (rest string, ok bool) {
	n := len(unit)
	if len(s) <= n || !strings.EqualFold(s[:n], unit) || s[n] != separator {
		return s, false
	}
	return s[n+1:], true
}

// consumePositions splits s after its leading first-pos "-" last-pos (RFC 9110, section 14.1.1).
func consumePositions(s string) (first, last int64, rest string, ok bool) {
	first, rest, ok = consumeNumber(s)
	if !ok || !strings.HasPrefix(rest, "-") {
		return 0, 0, rest, false
	}
	last, rest, ok = consumeNumber(rest[1:])
	return first, last, rest, ok
}

// consumeSize splits s after its leading "/" and complete-length or "*", which means size -1 (RFC 9110, section 14.4).
func consumeSize(s string) (size int64, rest string, ok bool) {
	rest, ok = strings.CutPrefix(s, "/")
	if !ok {
		return 0, s, false
	}
	if rest, ok := strings.CutPrefix(rest, "*"); ok {
		return -1, rest, true
	}
	return consumeNumber(rest)
}

// consumeNumber splits s after its leading digits, of which there must be at least one. A number that is too large
// becomes Unbounded.
func consumeNumber(s string) (n int64, rest string, ok bool) {
	i := 0
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		digit := int64(s[i] - '0')
		if n > (Unbounded-digit)/10 {
			n = Unbounded
			continue
		}
		n = n*10 + digit
	}
	return n, s[i:], i > 0
}
