package linkheader

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ows has the characters of optional whitespace (RFC 9110, section 5.6.3).
const ows = " \t"

// extended is the prefix of an extended value in UTF-8 without a language (RFC 8187, section 3.2.1).
const extended = "UTF-8''"

// String returns l as a link-value. Parse of the result returns l, except that characters of the target that are not
// allowed in a URI are percent-encoded. Parameters with a name that ends in * are encoded by RFC 8187. The result is
// always a valid field value: parameters whose name is not a token are omitted, and control characters in values become
// spaces.
func (l Link) String() string {
	var b strings.Builder
	b.WriteByte('<')
	percentEncode(&b, l.Target, isURIByte)
	b.WriteByte('>')
	for _, p := range l.Params {
		if isToken(p.Name) {
			b.WriteString("; ")
			p.format(&b)
		}
	}
	return b.String()
}

// format writes p. A parameter without a value is a flag. A value is written in extended form, as a token, or as a
// quoted-string.
func (p Param) format(b *strings.Builder) {
	b.WriteString(p.Name)
	switch {
	case p.isExtended():
		b.WriteString("=" + extended)
		percentEncode(b, p.Value, isAttrByte)
	case p.Value == "":
	case isToken(p.Value):
		b.WriteString("=" + p.Value)
	default:
		b.WriteByte('=')
		quote(b, p.Value)
	}
}

// quote writes text as a quoted-string (RFC 9110, section 5.6.4).
func quote(b *strings.Builder, text string) {
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case isControl(rune(c)):
			b.WriteByte(' ')
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

// percentEncode writes s and percent-encodes the bytes that are not plain (RFC 3986, section 2.1).
func percentEncode(b *strings.Builder, s string, plain func(byte) bool) {
	for i := range len(s) {
		if plain(s[i]) {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(b, "%%%02X", s[i])
		}
	}
}

// isExtended reports whether the value of p is encoded by RFC 8187.
func (p Param) isExtended() bool { return len(p.Name) > 1 && strings.HasSuffix(p.Name, "*") }

// decode returns p with its name in lower case and its extended value decoded. ok is false for an invalid name or
// value.
func decode(p Param) (Param, bool) {
	if !isToken(p.Name) {
		return Param{}, false
	}
	p.Name = strings.ToLower(p.Name)
	if !p.isExtended() {
		return p, true
	}
	v, ok := decodeExtended(p.Value)
	return Param{p.Name, v}, ok
}

// decodeExtended decodes charset "'" [ language ] "'" value-chars (RFC 8187, section 3.2.1). It supports only UTF-8,
// the one charset that senders may use. It drops the language.
func decodeExtended(s string) (text string, ok bool) {
	charset, s, _ := strings.Cut(s, "'")
	_, s, ok = strings.Cut(s, "'")
	if !ok || !strings.EqualFold(charset, "UTF-8") {
		return "", false
	}
	var b strings.Builder
	for s != "" {
		c, rest, ok := consumeValueChar(s)
		if !ok {
			return "", false
		}
		b.WriteByte(c)
		s = rest
	}
	return b.String(), utf8.ValidString(b.String())
}

// consumeValueChar splits s after its leading pct-encoded or attr-char (RFC 8187, section 3.2.1).
func consumeValueChar(s string) (c byte, rest string, ok bool) {
	if isAttrByte(s[0]) {
		return s[0], s[1:], true
	}
	if s[0] != '%' || len(s) < 3 {
		return 0, s, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, s[3:], ok1 && ok2
}

func hexDigit(c byte) (value byte, ok bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isAttrByte reports whether c is an attr-char (RFC 8187, section 3.2.1): a character of a token other than *, ' and %.
func isAttrByte(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("!#$&+-.^_`|~", c) >= 0
}

// isURIByte reports whether a URI-Reference may contain c (RFC 3986, appendix A).
func isURIByte(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("-._~:/?#[]@!$&'()*+,;=%", c) >= 0
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isOWS(r rune) bool { return r == ' ' || r == '\t' }

// isControl reports whether r is a control character that a field value must not contain (RFC 9110, section 5.5).
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
