package soif

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// splitName splits the suffix of a multi-value off an identifier (RFC 2655, section 3.3): Author-2 is the second
// Author. number is 0 without a suffix. Author-0 has no suffix, because 0 is not positive.
func splitName(identifier string) (name string, number int) {
	i := strings.LastIndexByte(identifier, '-')
	if i < 1 {
		return identifier, 0
	}
	digits := identifier[i+1:]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return identifier, 0
	}
	number, err := strconv.Atoi(digits)
	if err != nil { // out of range
		return identifier[:i], math.MaxInt
	}
	if number == 0 {
		return identifier, 0
	}
	return identifier[:i], number
}

// named returns the attributes with a name, ignoring case: first the attribute without a suffix, then Name-1, Name-2
// and so on (RFC 2655, section 4).
func (o object) named(name string) (found []attribute) {
	for _, a := range o.Attributes {
		if len(a.Name) < len(name) || !equalName(a.Name[:len(name)], name) {
			continue
		}
		if base, _ := splitName(a.Name); len(base) == len(name) {
			found = append(found, a)
		}
	}
	if len(found) > 1 {
		slices.SortStableFunc(found, func(a, b attribute) int { return cmp.Compare(suffix(a.Name), suffix(b.Name)) })
	}
	return found
}

func suffix(identifier string) int {
	_, n := splitName(identifier)
	return n
}
