package release

import (
	"cmp"
	"slices"
	"strings"

	"braid/internal/once"
)

// Compare returns a positive number if version a is newer than b, a negative one if it is older, and 0 if they have
// equal precedence. Semantic versions have the order of Semantic Versioning 2.0.0, section 11. Other versions have the
// order of sort -V, except that alpha, beta, rc, dev and the like precede the release, and words without a digit
// precede all. A version that is not semantic is older than each that is.
//
// The package is tolerant about semantic versions: they have one or more numbers, also with leading zeros, and missing
// numbers are zero; there may be a v before them; the words of pre-releases follow with or without a separator, as in
// 1.22rc1.
func Compare(a, b string) int {
	x, y := read(a), read(b)
	switch {
	case x.semantic != y.semantic && x.semantic:
		return 1
	case x.semantic != y.semantic:
		return -1
	case x.semantic:
		return byPrecedence.compare(x, y)
	}
	return byName.compare(x, y)
}

// An order is a way to compare versions.
type order bool

const (
	byName       order = false // as sort -V
	byPrecedence order = true  // semantic versions
)

// leavesOut reports whether o cannot order v.
func (o order) leavesOut(v version) bool { return o == byPrecedence && !v.semantic }

// compare compares versions that o can order.
func (o order) compare(a, b version) int {
	if o == byPrecedence {
		return cmp.Or(compareNumbers(a.numbers, b.numbers), comparePre(a.pre, b.pre))
	}
	return cmp.Or(a.rank()-b.rank(), compareNames(a.name, b.name))
}

type version struct {
	// semantic reports that the version is semantic. It then has these numbers, and these identifiers of a pre-release.
	semantic     bool
	numbers, pre []string
	// name is the version with a tilde before the word of a pre-release, so that the pre-release comes before the
	// release.
	name fileName
}

// semanticForm matches two forms. The groups 1 and 2 are the numbers and the pre-release of the strict form. The groups
// 3 to 7 are those of a form without a hyphen or with fewer than three numbers. A single letter is a pre-release only
// with a number: 1.1.1a is a release of OpenSSL.
var semanticForm = once.Pattern(`^[vV]?(?:(\d+(?:\.\d+){2,})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?` +
	`|(\d+(?:\.\d+)*)(?i:[._-]?(?:(alpha|beta|dev|pre|preview|rc)[._-]?(\d*)|([abc])[._-]?(\d+)))?)` +
	`(?:\+[0-9A-Za-z.-]+)?$`)

// The group of plainNumber is the version without a leading v.
var plainNumber = once.Pattern(`^[vV]([0-9].*)$`)

func read(text string) version {
	v := version{name: nameOf(markPre(plainNumber().ReplaceAllString(text, "$1")))}
	m := semanticForm().FindStringSubmatch(text)
	if m == nil {
		return v
	}
	v.semantic, v.numbers = true, strings.Split(m[1]+m[3], ".")
	if m[2] != "" {
		v.pre = strings.Split(m[2], ".")
	}
	for _, s := range []string{preWord(m[4] + m[6]), m[5] + m[7]} {
		if s != "" {
			v.pre = append(v.pre, s)
		}
	}
	return v
}

// A kind is how a version begins, after a leading v.
type kind int

const (
	noDigit  kind = iota // the version has no digit
	atLetter             // it has a digit, but does not begin with one
	atDigit
)

func (v version) kind() kind {
	switch at := strings.IndexAny(v.name.text, "0123456789"); {
	case at < 0:
		return noDigit
	case at > 0:
		return atLetter
	}
	return atDigit
}

// isOther reports whether the kind of v differs from than, and both are kinds of versions with a digit.
func (v version) isOther(than kind) bool {
	is := v.kind()
	return is != noDigit && than != noDigit && is != than
}

// rank returns 0 for a version without a digit, and otherwise 1. An index may have a file "latest" beside files with a
// version. By sort -V, "latest" would be newer than any number.
func (v version) rank() int { return int(min(v.kind(), 1)) }

func (v version) isPre() bool {
	return v.semantic && len(v.pre) > 0 || !v.semantic && strings.Contains(v.name.text, "~")
}

// release returns v without the part that makes v a pre-release.
func (v version) release() version {
	v.pre = nil
	text, _, _ := strings.Cut(v.name.text, "~")
	v.name = nameOf(text)
	return v
}

// compareNumbers compares lists of decimal numbers of any length. Missing numbers are zero.
func compareNumbers(a, b []string) int {
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if c := compareNumber(x, y); c != 0 {
			return c
		}
	}
	return 0
}

// compareNumber compares decimal numbers of any length. An empty number is zero.
func compareNumber(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// comparePre compares the identifiers of pre-releases. A release has no identifiers.
func comparePre(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		// "When major, minor, and patch are equal, a pre-release version has lower precedence than a normal version"
		return cmp.Compare(len(b), len(a))
	}
	return slices.CompareFunc(a, b, func(x, y string) int {
		switch numx, numy := isNumber(x), isNumber(y); {
		case numx && numy:
			return compareNumber(x, y)
		case numx:
			return -1 // "Numeric identifiers always have lower precedence than non-numeric identifiers."
		case numy:
			return 1
		}
		return strings.Compare(x, y)
	})
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// preWord returns word in lower case, and in full if word is an abbreviation: a means alpha.
func preWord(word string) string {
	word = strings.ToLower(word)
	if full := map[string]string{"a": "alpha", "b": "beta", "c": "rc"}[word]; full != "" {
		return full
	}
	return word
}

var letters = once.Pattern(`[A-Za-z]+`)

// markPre returns text with a tilde instead of the separators before the word of a pre-release, if text has such a
// word.
func markPre(text string) string {
	for _, at := range letters().FindAllStringIndex(text, -1) {
		word := preWord(text[at[0]:at[1]])
		before := strings.TrimRight(text[:at[0]], "._~-")
		switch word {
		case "alpha", "beta", "dev", "pre", "preview", "rc":
		default:
			continue
		}
		after := strings.TrimLeft(text[at[1]:], "._-")
		if at[1]-at[0] == 1 && (!endsInDigit(before) || after == "" || !isDigit(after[0])) {
			continue
		}
		return before + "~" + word + text[at[1]:]
	}
	return text
}

func endsInDigit(s string) bool { return s != "" && isDigit(s[len(s)-1]) }
