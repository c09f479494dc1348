// Package mask prepares URLs and external text for messages, logs and state files, where secrets and control characters
// must not appear.
//
// The package recognizes secrets only in URLs. Other secrets must be kept out of messages by the code that has them.
package mask

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// masked replaces a secret.
const masked = "***"

// maxShown is the maximum length of a URL in a message, in bytes.
const maxShown = 300

// URL formats u for messages, logs and state files. It masks the password and the values of the query, leaves out the
// fragment, and escapes control characters. All query values are masked because signed URLs keep their keys there. A
// user name without a password may be a token, so it is masked as well.
func URL(u *url.URL) string {
	if u == nil {
		return ""
	}
	c := *u
	c.Fragment, c.RawFragment, c.RawQuery, c.ForceQuery = "", "", "", false
	c.User = nil
	if c.Opaque != "" { // mailto:user, or http:host without slashes: any part may be secret
		c.Opaque = masked
	}
	s := c.String()
	if u.User != nil {
		s = strings.Replace(s, "//", "//"+maskUser(u.User)+"@", 1)
	}
	if u.RawQuery != "" {
		s += "?" + maskQuery(u.RawQuery)
	}
	return Escape(shorten(s, maxShown))
}

func maskUser(user *url.Userinfo) string {
	if _, ok := user.Password(); ok {
		return url.User(user.Username()).String() + ":" + masked
	}
	return masked
}

// maskQuery masks the values of a query and keeps the names. A part without a name is a value.
func maskQuery(query string) string {
	var b strings.Builder
	for i, part := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if i > 0 {
			b.WriteByte('&')
		}
		if name, _, ok := strings.Cut(part, "="); ok {
			b.WriteString(name + "=")
		}
		b.WriteString(masked)
	}
	return b.String()
}

// shorten cuts s to at most n bytes. A cut text ends with "...".
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// Quote formats an external word for a message: quoted, in ASCII, and cut to at most most bytes.
func Quote(word string, most int) string {
	if len(word) > most {
		word = word[:most] + "..."
	}
	return strconv.QuoteToASCII(word)
}

// printable reports whether s is printable ASCII, as nearly all texts are.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Escape escapes text for a terminal or a log. Control characters, invisible characters, characters that change the
// direction of text, and invalid UTF-8 are written as in Go source.
func Escape(s string) string {
	if printable(s) {
		return s
	}
	plain := func(i int, r rune) bool {
		if r == utf8.RuneError {
			_, size := utf8.DecodeRuneInString(s[i:])
			return size > 1
		}
		return r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r)
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case plain(i, r):
			b.WriteRune(r)
		case r == utf8.RuneError:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
