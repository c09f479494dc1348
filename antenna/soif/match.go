package soif

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SplitName takes the suffix of a multi-value off an identifier (RFC 2655, section 3.3): Author-2 is the second
// Author. The number is 0 where there is no suffix; Author-0 has none, since 0 is not positive.
func SplitName(identifier string) (name string, number int) {
	i := strings.LastIndexByte(identifier, '-')
	if i < 1 {
		return identifier, 0
	}
	digits := identifier[i+1:]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return identifier, 0
	}
	number, err := strconv.Atoi(digits)
	if err != nil { // out of range: the greatest there is
		return identifier[:i], maxSuffix
	}
	if number == 0 {
		return identifier, 0
	}
	return identifier[:i], number
}

const maxSuffix = int(^uint(0) >> 1)

// MatchName reports whether a query for name means identifier: "author" matches author, AUTHOR and Author-1
// (RFC 2655, section 4).
func MatchName(name, identifier string) bool {
	base, _ := SplitName(identifier)
	return equalName(base, name)
}

// Values returns all values of an attribute: that without a suffix first, then Name-1, Name-2 and so on by number.
func (o Object) Values(name string) (values [][]byte) {
	for _, a := range o.named(name) {
		values = append(values, a.Value)
	}
	return values
}

// named returns the attributes that MatchName finds, in the order of Values.
func (o Object) named(name string) (found []Attribute) {
	for _, a := range o.Attributes {
		if len(a.Name) >= len(name) && equalName(a.Name[:len(name)], name) && MatchName(name, a.Name) {
			found = append(found, a)
		}
	}
	if len(found) > 1 {
		slices.SortStableFunc(found, func(a, b Attribute) int { return cmp.Compare(suffix(a.Name), suffix(b.Name)) })
	}
	return found
}

func suffix(identifier string) int {
	_, n := SplitName(identifier)
	return n
}

// textual are the attributes of Harvest's FILE template that have always been text.
var textual = []string{
	"Abstract", "Author", "Description", "Full-Text", "Gatherer-Host", "Gatherer-Name", "Keywords", "Partial-Text", "Title", "Type",
}

// Match reports whether the object answers a query for value in the attribute name (RFC 2655, section 4). The
// attribute is found by MatchName. No template type is registered, so values are compared octet by octet, but
// for attributes that are known to be text: there a part of the value will do, in any letter case. The empty
// value matches every object that has the attribute as text.
func (o Object) Match(name, value string) bool {
	text := slices.ContainsFunc(textual, func(t string) bool { return equalName(t, name) })
	return slices.ContainsFunc(o.Attributes, func(a Attribute) bool {
		if !MatchName(name, a.Name) {
			return false
		}
		if text {
			return containsFold(a.Value, value)
		}
		return string(a.Value) == value
	})
}

// containsFold reports whether part is in text, whatever the letter case. What is not UTF-8 is compared as
// octets in which only ASCII letters have a case.
func containsFold(text []byte, part string) bool {
	if utf8.Valid(text) && utf8.ValidString(part) {
		return bytes.Contains(bytes.Map(fold, text), []byte(strings.Map(fold, part)))
	}
	return bytes.Contains(foldASCII(text), foldASCII([]byte(part)))
}

// fold returns the one rune that stands for all that differ from r in letter case only.
func fold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

func foldASCII(b []byte) []byte {
	b = bytes.Clone(b)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}
