package release

import (
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/internal/once"
)

// values are the values of template fields, by the names of the fields.
type values map[string]string

// on returns v with the date of a record, unless v already has a date or the record has no date.
func (v values) on(date feed.Time) values {
	if date != 0 && v[dateField] == "" {
		v[dateField] = date.UTC().Format(time.DateOnly)
	}
	return v
}

// has reports whether the template has one of the fields.
func (t *Template) has(names ...string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return slices.Contains(names, p.field) })
}

// derived returns the value of a field that follows from other values: the version from the tag, and the numbers from
// the version. ok is false if no value follows.
func (t *Template) derived(v values, field string) (value string, ok bool) {
	switch at := slices.Index(numberFields, field); {
	case field == versionField && v[tagField] != "":
		return t.versionOf(v[tagField]), true
	case at >= 0:
		version, ok := v[versionField]
		if !ok {
			version, ok = t.derived(v, versionField)
		}
		if m := numbersOfVersion().FindStringSubmatch(version); ok && m != nil {
			return m[at+1], true
		}
		return "", ok
	}
	return "", false
}

var numbersOfVersion = once.Pattern(`^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?`)

// complete adds to v the values that follow from others. It reports whether v then has a tag, a version, and all fields
// of the template.
func (t *Template) complete(v values) bool {
	switch value, follows := t.derived(v, versionField); {
	case !t.has(tagField, versionField) && !t.has(numberFields...):
		v[versionField] = v[dateField]
	case v[versionField] != "":
	case follows:
		v[versionField] = value
	default:
		v[versionField] = v.joined()
	}
	if v[tagField] == "" {
		v[tagField] = v[versionField]
	}
	if !isToken(v[tagField]) || !isToken(v[versionField]) {
		return false
	}
	for _, field := range numberFields {
		if v[field] == "" {
			v[field], _ = t.derived(v, field)
		}
	}
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.field != "" && v[p.field] == "" })
}

// joined returns the version made of the numbers, or "" if a number before another is missing.
func (v values) joined() string {
	var list []string
	for i, field := range numberFields {
		switch {
		case v[field] == "":
		case len(list) < i:
			return ""
		default:
			list = append(list, v[field])
		}
	}
	return strings.Join(list, ".")
}

// fill returns the template with the values.
func (t *Template) fill(v values) string {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.literal + escape(v[p.field]))
	}
	return b.String()
}

// escape escapes a token. A plus sign is a space for some servers, and the other characters need no escape.
func escape(token string) string { return strings.ReplaceAll(token, "+", "%2B") }

func unescape(s string) string { return strings.ReplaceAll(s, "%2B", "+") }

// maxSteps limits a scan. Only templates with several fields side by side take more than some hundred steps.
const maxSteps = 20000

// A scanner matches text with parts of a template.
type scanner struct {
	t     *Template
	steps int
	v     values
}

// scan matches text, in the form of feed.Key, with parts, and returns the values of the fields.
func (t *Template) scan(parts []part, text string) (values, bool) {
	if !strings.HasPrefix(text, parts[0].literal) {
		return nil, false
	}
	s := scanner{t: t, v: values{}}
	return s.v, s.scan(parts, text)
}

// scan reports whether text has the form of the parts. Longer values are tried first.
func (s *scanner) scan(parts []part, text string) bool {
	if s.steps++; s.steps > maxSteps {
		return false
	}
	if len(parts) == 0 {
		return text == "" && s.isConsistent()
	}
	p := parts[0]
	if p.field == "" {
		rest, ok := strings.CutPrefix(text, p.literal)
		return ok && s.scan(parts[1:], rest)
	}
	known, ok := s.v[p.field]
	if !ok {
		known, ok = s.t.derived(s.v, p.field)
	}
	if ok {
		rest, ok := strings.CutPrefix(text, escape(known))
		return ok && known != "" && s.scan(parts[1:], rest)
	}
	for _, end := range slices.Backward(ends(p.field, text)) {
		s.v[p.field] = unescape(text[:end])
		if s.scan(parts[1:], text[end:]) {
			return true
		}
	}
	delete(s.v, p.field)
	return false
}

// isConsistent reports whether each value is equal to the value that follows from the others, if any follows.
func (s *scanner) isConsistent() bool {
	for field, value := range s.v {
		if follows, ok := s.t.derived(s.v, field); ok && follows != value {
			return false
		}
	}
	return true
}

var dateForm = once.Pattern(`^[0-9]{4}-[01][0-9]-[0-3][0-9]`)

// ends returns the lengths that the value of a field at the beginning of text may have.
func ends(field, text string) (list []int) {
	if field == dateField {
		if dateForm().MatchString(text) {
			return []int{len(time.DateOnly)}
		}
		return nil
	}
	for end := 0; end < len(text) && len(list) <= maxToken; {
		switch {
		case slices.Contains(numberFields, field) && !isDigit(text[end]):
			return list
		case strings.HasPrefix(text[end:], "%2B"):
			end += 3
		case text[end] != '+' && inToken(text[end]):
			end++
		default:
			return list
		}
		if isToken(unescape(text[:end])) {
			list = append(list, end)
		}
	}
	return list
}
