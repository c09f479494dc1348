package follow

import (
	"strings"

	"braid/antenna/feed"
	"braid/antenna/release"
	"braid/internal/once"
)

var (
	// dotted matches a version in the name of a file, with the word of a pre-release behind it. plain matches a number,
	// or a date, after a hyphen or the like, for names without a dotted version.
	dotted = once.Pattern(`\d+(?:\.\d+)+(?:[-._~]?(?:alpha|beta|dev|pre|rc|[abc])[-._]?\d+)?`)
	plain  = once.Pattern(`[-_v](\d+(?:-\d\d-\d\d)?)(?:[-_.]|$)`)
)

// versionIn returns the version in the name of a file, or "".
func versionIn(name string) string {
	if v := dotted().FindString(name); v != "" {
		return v
	}
	if m := plain().FindStringSubmatch(strings.ReplaceAll(name, "x86_64", "x64")); m != nil {
		return m[1]
	}
	return ""
}

// ofTag is a template with a tag alone.
var ofTag, _ = release.ParseTemplate("https://example.org/{tag}", release.Patterns{}) // a valid constant

// versionOf returns the version of a tag, as a release.Template determines it, or "".
func versionOf(tag string) string {
	r, _ := ofTag.Of(feed.Record{Tag: tag})
	return r.Version
}

const digits = "0123456789"

// guess returns a URL with fields in place of its tag and version. ok is false if the URL has neither.
func guess(url, tag, version string) (template string, ok bool) {
	scheme, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	from := 0
	if tag == "" { // in an index, the folder stays
		from = strings.LastIndexByte(path, '/') + 1
	}
	head, path := path[:from], path[from:]
	fields := path
	if tag != version && strings.ContainsAny(tag, digits) {
		fields = replace(fields, escaped(tag), "{tag}")
	}
	if strings.ContainsAny(version, digits) {
		fields = replace(fields, escaped(version), "{version}")
	}
	return scheme + "://" + host + "/" + head + fields, fields != path
}

// escaped returns a token as URLs have it.
func escaped(token string) string { return strings.ReplaceAll(token, "+", "%2B") }

// replace replaces each token in s that is not a part of a longer version.
func replace(s, token, field string) string {
	if token == "" {
		return s
	}
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(s[at:], token)
		if i < 0 {
			b.WriteString(s[at:])
			return b.String()
		}
		i += at
		end := i + len(token)
		b.WriteString(s[at:i])
		if continues(s[:i], true) && isDigit(token[0]) || continues(s[end:], false) && isDigit(token[len(token)-1]) {
			b.WriteString(token)
		} else {
			b.WriteString(field)
		}
		at = end
	}
}

// continues reports whether s ends, or begins, with a part of a version: a digit, or a digit and a dot.
func continues(s string, ends bool) bool {
	at := func(i int) byte {
		if i >= len(s) {
			return 0
		}
		if ends {
			i = len(s) - 1 - i
		}
		return s[i]
	}
	return isDigit(at(0)) || at(0) == '.' && isDigit(at(1))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
