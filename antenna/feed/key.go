package feed

import (
	"strings"

	"braid/address"
)

// MaxURL is the maximum length of a URL in a record, in bytes.
const MaxURL = 8 << 10

// IsURI reports whether s is an absolute URI in the characters of RFC 2396, with a scheme and a part after it. A
// fragment and the brackets of an IPv6 address are accepted.
func IsURI(s string) bool {
	scheme, rest, ok := cutScheme(s)
	if !ok || scheme == "" || rest == "" {
		return false
	}
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '%':
			if i+2 >= len(rest) || !isHex(rest[i+1]) || !isHex(rest[i+2]) {
				return false
			}
		case !inURI[c]:
			return false
		}
	}
	return true
}

// inURI has the bytes that a URI may contain unescaped.
var inURI = func() (set [256]bool) {
	for i := range set {
		set[i] = isAlphanumeric(byte(i)) || strings.IndexByte("-_.!~*'();/?:@&=+$,#[]", byte(i)) >= 0
	}
	return set
}()

// Key returns a normalized form that is equal for all spellings of a URL: scheme and host in lower case, no default
// port, a path, one way to escape characters (Respell), no fragment, no index.html at the end. Path and query keep
// their case, as in hina-di and SOIF. ok is false for a URI without a host, which cannot be watched.
func Key(url string) (key string, ok bool) {
	scheme, rest, ok := cutScheme(url)
	if !ok || !strings.HasPrefix(rest, "//") {
		return "", false
	}
	rest, _, _ = strings.Cut(rest[2:], "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	scheme = strings.ToLower(scheme)
	host := hostKey(scheme, rest[:end])
	if host == "" {
		return "", false
	}
	return scheme + "://" + host + pathKey(rest[end:]), true
}

// FoldedKey is like Key but by the rules of LIRS, which ignores case in the whole URL.
func FoldedKey(url string) (key string, ok bool) {
	if key, ok = Key(url); !ok {
		return "", false
	}
	return Key(strings.ToLower(key)) // removes an INDEX.HTML
}

// IsWeb reports whether url is a valid http or https URL.
func IsWeb(url string) bool {
	key, ok := Key(url)
	return ok && IsURI(url) && (strings.HasPrefix(key, "http://") || strings.HasPrefix(key, "https://"))
}

// hostKey normalizes user information, host and port. It returns "" without a host.
func hostKey(scheme, authority string) string {
	user := authority[:strings.LastIndexByte(authority, '@')+1]
	name, port := strings.ToLower(authority[len(user):]), ""
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, ']') {
		name, port = name[:colon], name[colon+1:]
	}
	bracketed := strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]")
	if name == "" || strings.ContainsAny(name, ":[]") && !bracketed || strings.Trim(port, "0123456789") != "" {
		return ""
	}
	if s, _ := address.SchemeNamed(scheme); port == "" || port == s.Port {
		return user + name
	}
	return user + name + ":" + port
}

// pathKey normalizes the part after the host. index.html is kept before a query.
func pathKey(s string) string {
	path, _, hasQuery := strings.Cut(s, "?")
	if path == "" {
		s = "/" + s
	}
	s = Respell(s, false)
	if !hasQuery && strings.HasSuffix(s, "/index.html") {
		s = strings.TrimSuffix(s, "index.html")
	}
	return s
}

// Respell normalizes part of a path, and of a query after it. inQuery reports that the query has already begun.
// Hexadecimal digits become upper case, and unreserved characters are not escaped (RFC 3986, sections 2.3 and 6.2.2).
// In a path, the other characters that a segment may contain (section 3.3) are not escaped either, because file servers
// treat both forms as equal. The exception is the plus sign, which some servers take for a space: it is always escaped.
// Non-ASCII characters are escaped, as browsers do. Brackets are escaped, too, unlike in browsers.
func Respell(s string, inQuery bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == '%' || r == '+' || r >= 0x80 || r == '[' || r == ']' }) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			d := unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			if isUnreserved(d) || !inQuery && strings.IndexByte("!$&'()*,;=:@", d) >= 0 {
				b = append(b, d)
			} else {
				b = escape(b, d)
			}
		case c == '+' && !inQuery, c >= 0x80, c == '[', c == ']':
			b = escape(b, c)
		default:
			inQuery = inQuery || c == '?'
			b = append(b, c)
		}
	}
	return string(b)
}

func escape(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[c>>4], digits[c&0xf])
}

func isUnreserved(c byte) bool { return isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 }

// cutScheme splits s after its scheme (RFC 2396, section 3.1).
func cutScheme(s string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(s, ":")
	if !ok || scheme == "" || !isAlpha(scheme[0]) {
		return "", "", false
	}
	for i := range len(scheme) {
		if !isAlphanumeric(scheme[i]) && strings.IndexByte("+-.", scheme[i]) < 0 {
			return "", "", false
		}
	}
	return scheme, rest, true
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlphanumeric(c byte) bool { return isAlpha(c) || '0' <= c && c <= '9' }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0xf + 9
}
