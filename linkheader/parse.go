package linkheader

import (
	"fmt"
	"strings"
)

const (
	// maxLinks is the number of links, valid or not, that Parse reads. Parse only counts the links beyond this number.
	maxLinks = 1000

	// maxParams is the maximum number of parameters of a link.
	maxParams = 64
)

// A Problem is a reason why links were omitted.
type Problem struct {
	Line   int // index of the field line
	Offset int // in bytes from the beginning of the line
	Links  int // number of omitted links: 1, or the number of links beyond maxLinks
	Why    string
}

// String returns the problem with its position, counted from zero. The result contains no text of the field.
func (p Problem) String() string {
	return fmt.Sprintf("Link field %d, offset %d: %s", p.Line, p.Offset, p.Why)
}

// Parse parses all Link field lines of one response. Several lines have the same meaning as one line with commas (RFC
// 9110, section 5.3). The links are in order. Malformed links are omitted and reported in problems.
func Parse(fieldLines []string) (links []Link, problems []Problem) {
	var c collection
	for i, line := range fieldLines {
		c.parseLine(i, line)
	}
	if c.excess.Links > 0 {
		c.excess.Why = fmt.Sprintf("more than %d links: %d ignored", maxLinks, c.excess.Links)
		c.problems = append(c.problems, c.excess)
	}
	return c.links, c.problems
}

// A collection is the result of Parse so far.
type collection struct {
	links    []Link
	problems []Problem
	excess   Problem // the links beyond maxLinks, with the position of the first
}

// parseLine reads one field line: #link-value (RFC 8288, section 3).
func (c *collection) parseLine(line int, value string) {
	rest := value
	for {
		rest = strings.TrimLeft(rest, ows+",") // empty list elements are ignored (RFC 9110, section 5.6.1.2)
		if rest == "" {
			return
		}
		start := len(value) - len(rest)
		link, after, why := consumeLink(rest)
		end := len(value) - len(after)
		switch control := strings.IndexFunc(value[start:end], isControl); {
		case why != "":
			c.problem(Problem{line, end, 1, why})
			after = skipBroken(after)
		case control >= 0: // RFC 9110, section 5.5: "invalid and dangerous"
			c.problem(Problem{line, start + control, 1, "control character"})
		case c.room(line, start):
			c.links = append(c.links, link)
		}
		rest = after
	}
}

func (c *collection) problem(p Problem) {
	if c.room(p.Line, p.Offset) {
		c.problems = append(c.problems, p)
	}
}

// room reports whether one more link or problem can be added. Otherwise it counts the link as excess.
func (c *collection) room(line, offset int) bool {
	if len(c.links)+len(c.problems) < maxLinks {
		return true
	}
	if c.excess.Links == 0 {
		c.excess = Problem{Line: line, Offset: offset}
	}
	c.excess.Links++
	return false
}

// skipBroken returns the rest of s from the comma that ends a broken link: the next comma that is outside of quotes and
// followed by "<". An unclosed quote is ignored.
func skipBroken(s string) (rest string) {
	open := false // an unclosed quote was found; the end of later quotes is not searched for
	for s != "" {
		switch {
		case s[0] == '"' && !open:
			_, after, ok := consumeQuoted(s)
			if ok {
				s = after
				continue
			}
			open = true
		case s[0] == ',':
			after := strings.TrimLeft(s, ows+",")
			if strings.HasPrefix(after, "<") {
				return s
			}
			s = after
			continue
		}
		s = s[1:]
	}
	return ""
}

// consumeLink splits s after its leading link-value, before the comma (RFC 8288, section 3). If the link is broken, why
// is not empty and rest begins at the error.
func consumeLink(s string) (l Link, rest, why string) {
	target, rest, ok := consumeTarget(s)
	if !ok {
		return Link{}, rest, "want <reference>"
	}
	params, rest, why := consumeParams(rest)
	if why != "" {
		return Link{}, rest, why
	}
	if rest != "" && rest[0] != ',' {
		return Link{}, rest, "want ; or ,"
	}
	return Link{target, params}, rest, ""
}

// consumeTarget splits s after its leading "<" URI-Reference ">" (RFC 8288, section 3). Any characters are accepted as
// URI-Reference, except a comma followed by "<": then the ">" is missing, and the "<" begins the next link.
func consumeTarget(s string) (target, rest string, ok bool) {
	if !strings.HasPrefix(s, "<") {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '>':
			return s[1:i], s[i+1:], true
		case '<':
			if strings.HasSuffix(strings.TrimRight(s[:i], ows), ",") {
				return "", s, false
			}
		}
	}
	return "", s, false
}

// consumeParams splits s after its leading *( OWS ";" OWS [ link-param ] OWS ). If a parameter is broken, why is not
// empty and rest begins at the error. Parameters are dropped if they are empty, their name is not a token, or their
// extended value cannot be decoded.
func consumeParams(s string) (params []Param, rest, why string) {
	for {
		s = strings.TrimLeft(s, ows)
		after, found := strings.CutPrefix(s, ";")
		if !found {
			return params, s, ""
		}
		p, rest, ok := consumeParam(strings.TrimLeft(after, ows))
		if !ok {
			return nil, rest, "quote is not closed"
		}
		if p, ok = decode(p); ok {
			if len(params) == maxParams {
				return nil, s, fmt.Sprintf("more than %d parameters", maxParams)
			}
			params = append(params, p)
		}
		s = rest
	}
}

// consumeParam splits s after its leading link-param, which may be empty:
//
//	link-param = token BWS [ "=" BWS ( token / quoted-string ) ]
//
// Names and unquoted values extend to the next separator (RFC 8288, appendix B.3). If a quote is not closed, ok is
// false and rest begins with the quote.
func consumeParam(s string) (p Param, rest string, ok bool) {
	end := indexAny(s, ows+"=;,")
	p.Name, rest = s[:end], strings.TrimLeft(s[end:], ows)
	value, found := strings.CutPrefix(rest, "=")
	if !found {
		return p, rest, true
	}
	value = strings.TrimLeft(value, ows)
	if strings.HasPrefix(value, `"`) {
		p.Value, rest, ok = consumeQuoted(value)
		return p, rest, ok
	}
	end = indexAny(value, ";,")
	p.Value = strings.TrimRight(value[:end], ows)
	return p, value[end:], true
}

// consumeQuoted splits s after its leading quoted-string, which it unescapes (RFC 9110, section 5.6.4). If s does not
// begin with a complete quoted-string, ok is false and rest is s.
func consumeQuoted(s string) (text, rest string, ok bool) {
	inside, ok := strings.CutPrefix(s, `"`)
	if !ok {
		return "", s, false
	}
	var unescaped strings.Builder
	for i := 0; i < len(inside); i++ {
		switch c := inside[i]; {
		case c == '"':
			return unescaped.String(), inside[i+1:], true
		case c == '\\' && i+1 < len(inside):
			i++
			unescaped.WriteByte(inside[i])
		default:
			unescaped.WriteByte(c)
		}
	}
	return "", s, false
}

// indexAny returns the index of the first character of s that is in chars, or len(s).
func indexAny(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}
