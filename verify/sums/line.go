package sums

import (
	"cmp"
	"fmt"
	"strings"

	"braid/internal/mask"
	"braid/verify"
)

// stdin is OpenSSL's name for standard input.
const stdin = "stdin"

// row parses a line that is not empty. If the line is malformed, why is the reason, and r has only the file name, if
// that could be read.
func (h hint) row(text string) (r row, why string) {
	rest, escaped := strings.CutPrefix(text, `\`)
	if digits, after := consumeDigits(rest); digits != "" {
		r, why = h.untagged(digits, after)
	} else if tag, name, value, ok := splitTagged(rest); ok {
		r, why = tagged(tag, name, value)
	} else {
		r, why = row{}, strange(text)
		if i := strings.IndexAny(rest, " \t"); i >= 0 && !blank(rest[i:]) {
			r.Name = cutMode(rest[i+1:])
		}
	}
	if escaped {
		plain, bad := unescape(r.Name)
		r.Name, why = plain, cmp.Or(why, bad)
	}
	return r, why
}

// consumeDigits splits s after the digits of a digest, which end at a blank or at the end of s. It returns no digits if
// s begins with fewer than 8, the length of a CRC-32.
func consumeDigits(s string) (digits, rest string) {
	const fewest = 8
	n := strings.IndexFunc(s, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", c) })
	if n < 0 {
		n = len(s)
	}
	if n < fewest || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return "", s
	}
	return s[:n], s[n:]
}

// untagged parses a line that begins with digits. A file name may follow them.
func (h hint) untagged(digits, after string) (r row, why string) {
	alg, foreign, why := h.algorithm(len(digits))
	r.foreign = foreign
	if foreign == "" && why == "" {
		r.Digest, _ = verify.ParseHex(alg, digits) // ParseHex cannot fail: algorithm compared the length
	}
	if !blank(after) {
		r.Name = cutMode(after[1:])
	}
	return r, why
}

// cutMode returns s without the character for the mode that precedes a name: a space, or a star for binary mode. Some
// programs write no such character.
func cutMode(s string) string {
	if len(s) == 1 || s[0] != ' ' && s[0] != '*' {
		return s
	}
	return s[1:]
}

// splitTagged splits a line of the BSDs, "SHA256 (name) = value", or of OpenSSL, "SHA2-256(name)= value". The value has
// no parentheses, so the name ends at the last parenthesis.
func splitTagged(s string) (tag, name, value string, ok bool) {
	tag, rest, _ := strings.Cut(s, "(")
	tag, spaced := strings.CutSuffix(tag, " ")
	end := strings.LastIndexByte(rest, ')')
	if end < 0 || !isTag(tag) {
		return "", "", "", false
	}
	value, ok = strings.CutPrefix(strings.TrimLeft(rest[end+1:], " \t"), "=")
	if name = rest[:end]; name == stdin && !spaced {
		name = "-"
	}
	return tag, name, strings.Trim(value, " \t"), ok
}

// isTag reports whether s has the form of an algorithm's name.
func isTag(s string) bool {
	const longest = 32
	for _, c := range []byte(s) {
		if !alphanumeric(c) && c != '-' && c != '_' && c != '/' {
			return false
		}
	}
	return s != "" && len(s) <= longest
}

// tagged parses a line that names its algorithm. A line of an unsupported algorithm is no error (rule 31), but is kept
// as a row with the algorithm's name. "SIZE (disk.iso) = 5" is such a line.
func tagged(tag, name, value string) (r row, why string) {
	if blank(name) {
		return row{}, "the line has no file name"
	}
	r.Name = name
	alg := ours(normal(tag))
	if alg == 0 {
		r.foreign = tag
		return r, ""
	}
	d, err := verify.ParseHex(alg, value)
	if err != nil {
		return r, err.Error()
	}
	r.Digest = d
	return r, ""
}

// unescape decodes name, from a line that begins with a backslash. If name is invalid, why is the reason.
func unescape(name string) (plain, why string) {
	var b strings.Builder
	for rest := name; rest != ""; {
		before, after, found := strings.Cut(rest, `\`)
		b.WriteString(before)
		if !found {
			break
		}
		i := strings.IndexByte(`\nr`, (after + " ")[0])
		if i < 0 {
			return "", `the name has an escape other than \\, \n and \r`
		}
		b.WriteByte("\\\n\r"[i])
		rest = after[1:]
	}
	if b.Len() == 0 {
		return "", "the line has no file name"
	}
	return b.String(), ""
}

// strange returns why text, a line of no known form, cannot be read.
func strange(text string) string {
	if text[0] == '<' {
		return "this is a web page or XML, not a list of digests"
	}
	return fmt.Sprintf("not a line of a checksum file: %s", quote(text))
}

// quote formats a name or line for an error.
func quote(s string) string { return mask.Quote(s, 80) }

func blank(s string) bool { return strings.Trim(s, " \t") == "" }

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
