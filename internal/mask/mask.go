// Package mask makes what may be secret, or come from outside, fit for messages, logs and state files.
//
// It knows URLs and text. It refuses to know what is secret otherwise: code that has a secret keeps it out of what is said.
package mask

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// masked stands for what is not for other eyes.
const masked = "***"

// maxShown is how many bytes of a URL a message shows.
const maxShown = 300

// URL writes u for messages, logs and state files: the password and the values of the query are masked,
// the fragment is left out, and nothing in it can move a terminal's cursor. The values
// are where signed URLs keep their keys, so all of them are masked. A user name without a password may be a
// token, so it is masked as well.
func URL(u *url.URL) string {
	if u == nil {
		return ""
	}
	c := *u
	c.Fragment, c.RawFragment, c.RawQuery, c.ForceQuery = "", "", "", false
	c.User = nil
	if c.Opaque != "" { // mailto:somebody, or http:host without slashes: nothing says what is secret
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

// maskQuery keeps the names of a query. A part without a name is a value.
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

// shorten cuts s to at most n bytes and says that it did.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// Quote makes a word that comes from outside fit for a line of a message: in quotes, in ASCII, and at its first bytes,
// no more than most.
func Quote(word string, most int) string {
	if len(word) > most {
		word = word[:most] + "..."
	}
	return strconv.QuoteToASCII(word)
}

// Escape makes a text that may come from outside fit for a terminal or a log: control characters,
// those that change the direction of text or cannot be seen, and invalid UTF-8 are written as in Go source.
func Escape(s string) string {
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
