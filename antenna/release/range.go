package release

import (
	"fmt"
	"slices"
	"strings"
)

// A Range is a set of versions. The zero Range has all.
type Range struct {
	text   string
	bounds []bound
}

// A bound is a part of a Range: an operator and the version after it.
type bound struct {
	operator string
	version
}

var operators = []string{">=", "<=", "!=", ">", "<", "="} // longer operators first

// ParseRange parses bounds like ">=2.0 <3", separated by spaces or commas. All of them must hold. The operators are >=,
// >, <=, <, = and !=. A pre-release of the version after < is not in the range: "<3" excludes 3.0.0-rc1.
func ParseRange(text string) (Range, error) {
	r := Range{text: text}
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' || c == ',' })
	for i := 0; i < len(words); i++ {
		n := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(words[i], o) })
		if n < 0 {
			return Range{}, fmt.Errorf("%q in a range of versions lacks an operator: %s", words[i], strings.Join(operators, " "))
		}
		word := words[i][len(operators[n]):]
		if word == "" && i+1 < len(words) {
			i++
			word = words[i]
		}
		if !isToken(strings.TrimLeft(word, "vV")) {
			return Range{}, fmt.Errorf("no valid version after %s in the range of versions %q", operators[n], text)
		}
		r.bounds = append(r.bounds, bound{operators[n], read(word)})
	}
	if len(r.bounds) == 0 {
		return Range{}, fmt.Errorf("the range of versions is empty: write one like %q", ">=2.0 <3")
	}
	return r, nil
}

// String returns the text that was parsed.
func (r Range) String() string { return r.text }

func (r Range) has(v version, o order) bool {
	return !slices.ContainsFunc(r.bounds, func(b bound) bool { return !b.holds(v, o) })
}

func (b bound) holds(v version, o order) bool {
	if o == byPrecedence && !b.semantic {
		return b.operator == "!="
	}
	c := o.compare(v, b.version)
	switch b.operator {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "=":
		return c == 0
	case "!=":
		return c != 0
	}
	return c < 0 && !(v.isPre() && !b.isPre() && o.compare(v.release(), b.version) == 0)
}
