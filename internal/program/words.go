package program

import (
	"errors"
	"strings"
)

var (
	errQuote = errors.New("a quote is not closed, or a backslash is the last character")
	errShell = errors.New("there is no shell, so | & ; < > ( ) $ and ` have no meaning: " +
		"write sh -c '...', or quote them")
)

// Words splits a command into words at spaces, with quotes and backslashes as in shells. Other syntax of shells is an
// error.
func Words(s string) (words []string, err error) {
	for {
		s = strings.TrimLeft(s, " \t\n")
		if s == "" {
			return words, nil
		}
		var word string
		if word, s, err = consumeWord(s); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
}

// consumeWord splits s after its first word. The caller has removed leading spaces.
func consumeWord(s string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n", c) >= 0:
			return b.String(), s[i:], nil
		case c == '\'' || c == '"':
			n, ok := consumeQuoted(&b, s[i+1:], c)
			if !ok {
				return "", "", errQuote
			}
			i += n
		case c == '\\':
			if i++; i == len(s) {
				return "", "", errQuote
			}
			b.WriteByte(s[i])
		case strings.IndexByte("|&;<>()$`", c) >= 0:
			return "", "", errShell
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", nil
}

// consumeQuoted appends the text before the closing quote to b and returns the number of bytes it used, including the
// quote. Within double quotes a backslash escapes a backslash, a double quote, a dollar sign and a backquote.
func consumeQuoted(b *strings.Builder, s string, quote byte) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return i + 1, true
		case c == '\\' && quote == '"' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return 0, false
}
