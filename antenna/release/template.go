package release

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"braid/antenna/feed"
)

const (
	tagField     = "tag"
	versionField = "version"
	dateField    = "date"
)

// fields are the names of all template fields. numberFields are the numeric parts of a version.
var (
	numberFields = []string{"major", "minor", "patch"}
	fields       = append([]string{tagField, versionField, dateField}, numberFields...)
)

// A Template is the URL of a release's file, with the fields {tag}, {version}, {major}, {minor}, {patch} and {date}. A
// Template is immutable.
type Template struct {
	text  string
	parts []part
	// match is like parts, but without user information, because URLs in feeds have none. segment has the parts after
	// the last slash of the path. It is nil if these are only text or only fields, or if the URL has a query.
	match, segment []part

	token, version *regexp.Regexp // nil: default
}

// A part of a template is literal text in the form of feed.Key, or a field.
type part struct{ literal, field string }

// Patterns are regular expressions with one group each. Token finds the tag in the URL, the id or the title of a record.
// By default, the tag is the last segment of the link of a news item. Version finds the version in the tag. By default,
// it is the tag without a leading v, release- or NAME-.
type Patterns struct{ Token, Version string }

// ParseTemplate parses a URL with fields in path or query.
func ParseTemplate(text string, p Patterns) (*Template, error) {
	t := &Template{text: text}
	var err error
	if t.parts, err = split(text); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.token, err = compile("token", p.Token); err != nil {
		return nil, err
	}
	if t.version, err = compile("version", p.Version); err != nil {
		return nil, err
	}
	t.normalize()
	return t, nil
}

// compile compiles a pattern with one group. It returns nil for an empty pattern.
func compile(what, pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	x, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return nil, fmt.Errorf("pattern of the %s: %w", what, err)
	case x.NumSubexp() != 1:
		return nil, fmt.Errorf("pattern of the %s: %q needs one group in parentheses and has %d", what, pattern, x.NumSubexp())
	}
	return x, nil
}

// split splits a template into its parts. Literals and fields alternate, and literals may be empty.
func split(text string) (parts []part, err error) {
	for {
		literal, rest, found := strings.Cut(text, "{")
		if strings.Contains(literal, "}") {
			return nil, errors.New("a closing brace without an opening one")
		}
		parts = append(parts, part{literal: literal})
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		switch {
		case !closed:
			return nil, errors.New("an opening brace without a closing one")
		case !slices.Contains(fields, name):
			return nil, fmt.Errorf("unknown field {%s}: the fields are {%s}", name, strings.Join(fields, "}, {"))
		}
		parts, text = append(parts, part{field: name}), after
	}
	if len(parts) == 1 {
		return nil, fmt.Errorf("no field in the URL: it needs one of {%s}", strings.Join(fields, "}, {"))
	}
	return parts, nil
}

// check returns an error if the URL of the template is not valid, or has a field in a wrong place.
func (t *Template) check() error {
	const place = "a field must be in the path or the query of the URL, after http:// or https://, a complete host and a slash"
	_, rest, ok := strings.Cut(t.parts[0].literal, "://")
	if end := strings.IndexAny(rest, "/?#"); !ok || end < 0 || rest[end] != '/' {
		return errors.New(place)
	}
	const stand = "z" // no hexadecimal digit, so that no escape includes it
	whole, inFragment := "", false
	for _, p := range t.parts {
		if p.field != "" {
			if inFragment {
				return errors.New("a field is in the fragment of the URL, which is not sent to a server")
			}
			whole += stand
		}
		whole += p.literal
		inFragment = inFragment || strings.Contains(p.literal, "#")
	}
	u, err := url.Parse(whole)
	if err != nil || u.Hostname() == "" || !feed.IsWeb(whole) {
		return fmt.Errorf("not a valid http or https URL: %s", t.text)
	}
	key, _ := feed.Key(whole)
	path, _, _ := strings.Cut(key, "?")
	if path += "/"; strings.Contains(path, "/../") || strings.Contains(path, "/./") {
		return errors.New("the folders . and .. are not accepted in the path of the URL")
	}
	return nil
}

// normalize converts the literals into the form of feed.Key, and sets the parts that are matched.
func (t *Template) normalize() {
	last := &t.parts[len(t.parts)-1]
	last.literal, _, _ = strings.Cut(last.literal, "#")
	inQuery := false
	for i := range t.parts {
		p := &t.parts[i]
		hasQuery := strings.Contains(p.literal, "?")
		if i == 0 {
			p.literal = keyOf(p.literal)
		} else {
			p.literal = feed.Respell(p.literal, inQuery)
		}
		inQuery = inQuery || hasQuery
	}
	if !inQuery && strings.HasSuffix(last.literal, "/index.html") { // a key omits index.html
		last.literal = strings.TrimSuffix(last.literal, "index.html")
	}
	t.match = slices.Clone(t.parts)
	scheme, rest, _ := strings.Cut(t.match[0].literal, "://")
	slash := strings.IndexByte(rest, '/')
	t.match[0].literal = scheme + "://" + rest[strings.LastIndexByte(rest[:slash], '@')+1:]
	if inQuery {
		return
	}
	for i := len(t.parts) - 1; i >= 0; i -= 2 {
		if slash := strings.LastIndexByte(t.parts[i].literal, '/'); slash >= 0 {
			t.segment = slices.Clone(t.parts[i:])
			t.segment[0].literal = t.segment[0].literal[slash+1:]
			break
		}
	}
	if len(t.segment) == 1 || !slices.ContainsFunc(t.segment, func(p part) bool { return p.literal != "" }) {
		t.segment = nil
	}
}

// keyOf returns the feed.Key of the beginning of a URL. A trailing index.html is kept.
func keyOf(literal string) string {
	const tail = "0" // keeps an index.html at the end
	key, _ := feed.Key(literal + tail)
	return strings.TrimSuffix(key, tail)
}

// String returns the template as it was parsed.
func (t *Template) String() string { return t.text }

// Patterns returns the patterns with which the template was parsed.
func (t *Template) Patterns() (p Patterns) {
	if t.token != nil {
		p.Token = t.token.String()
	}
	if t.version != nil {
		p.Version = t.version.String()
	}
	return p
}

// Literal returns the part before the first field. It has a scheme, a complete host and a slash.
func (t *Template) Literal() string {
	literal, _, _ := strings.Cut(t.text, "{")
	return literal
}
