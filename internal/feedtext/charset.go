package feedtext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
)

// Charset is an encoding of text in which octets below 0x80, outside of multi-octet sequences, are ASCII.
type Charset struct {
	name string
	// enc is nil for UTF8 and UnknownCharset.
	enc encoding.Encoding
}

var (
	EUCJP     = &Charset{"euc-jp", japanese.EUCJP}
	UTF8      = &Charset{name: "utf-8"}
	CP932     = &Charset{"cp932", japanese.ShiftJIS} // the encoding of x/text includes the extensions of Windows
	ISO2022JP = &Charset{"iso-2022-jp", japanese.ISO2022JP}
	// UnknownCharset stands for an unknown encoding, of which only ASCII can be decoded.
	UnknownCharset = &Charset{name: "unknown-8bit"}
)

// labels are names of charsets that the list of the WHATWG lacks or defines differently. Text that is declared as ASCII
// but has other octets can be in any charset.
var labels = map[string]*Charset{
	"euc": EUCJP, "eucjp": EUCJP, "ujis": EUCJP, "eucjp-ms": EUCJP, "cp51932": EUCJP,
	"cp932": CP932, "x-cp932": CP932, "jis": ISO2022JP,
	"ascii": UnknownCharset, "us-ascii": UnknownCharset, "ansi_x3.4-1968": UnknownCharset,
}

// LookupCharset returns the charset with the given label, in any letter case.
func LookupCharset(label string) (c *Charset, ok bool) {
	label = strings.ToLower(strings.TrimSpace(label))
	if c, ok = labels[label]; ok {
		return c, true
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, false
	}
	for _, c := range []*Charset{EUCJP, CP932, ISO2022JP} {
		if c.enc == enc {
			return c, true
		}
	}
	name, err := htmlindex.Name(enc)
	switch {
	case err != nil || name == "replacement" || strings.HasPrefix(name, "utf-16"):
		return nil, false // in UTF-16, octets below 0x80 are not ASCII
	case name == "utf-8":
		return UTF8, true
	}
	return &Charset{name, enc}, true
}

func (c *Charset) String() string { return c.name }

// replacement is the output of decoders for invalid input. Only UTF-8 can encode it as valid text.
var replacement = []byte(string(utf8.RuneError))

// fits reports whether line is valid text in c. scratch is a buffer, which is returned for the next call.
func (c *Charset) fits(line, scratch []byte) (ok bool, _ []byte) {
	switch c {
	case UnknownCharset:
		return IsASCII(line), scratch
	case UTF8:
		return utf8.Valid(line), scratch
	}
	scratch, ok = c.transform(scratch[:0], line)
	return ok, scratch
}

// Append decodes line and appends the text to dst. It appends invalid octets as \xNN, and then reports false.
func (c *Charset) Append(dst, line []byte) (_ []byte, clean bool) {
	if c == UTF8 && utf8.Valid(line) {
		return append(dst, line...), true
	}
	if c.enc == nil {
		return c.appendPlain(dst, line)
	}
	n := len(dst)
	if dst, clean = c.transform(dst, line); clean {
		return dst, true
	}
	dst = dst[:n]
	if c == ISO2022JP { // stateful: the meaning of an octet depends on the preceding ones
		return appendEscaped(dst, line), false
	}
	for len(line) > 0 {
		var size int
		dst, size = c.appendOne(dst, line)
		line = line[size:]
	}
	return dst, false
}

// appendPlain implements Append for UTF8 and UnknownCharset.
func (c *Charset) appendPlain(dst, line []byte) (_ []byte, clean bool) {
	clean = true
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		if r == utf8.RuneError && size == 1 || c == UnknownCharset && size > 1 {
			clean = false
			dst = appendEscaped(dst, line[:size])
		} else {
			dst = append(dst, line[:size]...)
		}
		line = line[size:]
	}
	return dst, clean
}

// longest is the maximum length of a character in a charset that is not stateful (GB 18030).
const longest = 4

// appendOne decodes the first character of line, or escapes its first octet.
func (c *Charset) appendOne(dst, line []byte) (_ []byte, size int) {
	n := len(dst)
	for size = 1; size <= min(longest, len(line)); size++ {
		var ok bool
		dst, ok = c.transform(dst[:n], line[:size])
		if ok && utf8.RuneCount(dst[n:]) == 1 {
			return dst, size
		}
	}
	return appendEscaped(dst[:n], line[:1]), 1
}

// transform decodes line with the decoder of c, and reports whether line is valid.
func (c *Charset) transform(dst, line []byte) (_ []byte, ok bool) {
	start := len(dst)
	dst = grow(dst, 3*len(line)+utf8.UTFMax) // each octet becomes at most a replacement character, which has three octets
	n, read, err := c.enc.NewDecoder().Transformer.Transform(dst[start:cap(dst)], line, true)
	dst = dst[:start+n]
	return dst, err == nil && read == len(line) && !bytes.Contains(dst[start:], replacement)
}

// grow returns dst with space for n more octets.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, 2*cap(dst)+n), dst...)
}

const hex = "0123456789ABCDEF"

// appendEscaped appends s, with octets that are not printable ASCII as \xNN.
func appendEscaped(dst, s []byte) []byte {
	for _, b := range s {
		if b < ' ' || b > '~' {
			dst = append(dst, '\\', 'x', hex[b>>4], hex[b&15])
		} else {
			dst = append(dst, b)
		}
	}
	return dst
}

// Encode appends text, encoded in c, to dst. If c cannot encode the text, or would decode the result differently,
// Encode appends nothing and reports false.
func (c *Charset) Encode(dst []byte, text string) (_ []byte, ok bool) {
	if c.enc == nil {
		if c == UnknownCharset && !IsASCII(text) || !utf8.ValidString(text) {
			return dst, false
		}
		return append(dst, text...), true
	}
	if IsASCII(text) && c != ISO2022JP {
		return append(dst, text...), true
	}
	encoded, err := c.enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return dst, false
	}
	// The encoders of the WHATWG encode a yen sign as a backslash, which LIRS would treat as an escape.
	if back, clean := c.transform(nil, encoded); !clean || string(back) != text {
		return dst, false
	}
	return append(dst, encoded...), true
}

// IsASCII reports whether s has no octet above 0x7F.
func IsASCII[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
