package mask

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hider takes secrets out of texts. Short ones are hidden where they stand alone, as they are part of other
// words, too.
type Hider struct {
	long  *strings.Replacer
	short []string
}

const shortSecret = 4 // octets; one that has fewer is short

// NewHider returns a Hider of secrets.
func NewHider(secrets []string) *Hider {
	h := &Hider{}
	secrets = slices.Clone(secrets)
	slices.SortStableFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be part of another
	var pairs []string
	for _, s := range secrets {
		if len(s) < shortSecret {
			h.short = append(h.short, s)
		} else {
			pairs = append(pairs, s, masked)
		}
	}
	h.long = strings.NewReplacer(pairs...)
	return h
}

// Replace returns s without the secrets.
func (h *Hider) Replace(s string) string {
	s = h.long.Replace(s)
	for _, word := range h.short {
		s = hideWord(s, word)
	}
	return s
}

// hideWord hides a word where it is not part of another one.
func hideWord(s, word string) string {
	if word == "" || !strings.Contains(s, word) {
		return s
	}
	var b strings.Builder
	last := rune(-1) // before what is left of s
	for {
		i := strings.Index(s, word)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		if before, size := utf8.DecodeLastRuneInString(s[:i]); size > 0 {
			last = before
		}
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		first, _ := utf8.DecodeRuneInString(word)
		end, _ := utf8.DecodeLastRuneInString(word)
		b.WriteString(s[:i])
		if isWordPart(last) && isWordPart(first) || isWordPart(end) && isWordPart(after) {
			b.WriteString(word)
		} else {
			b.WriteString(masked)
		}
		last, s = end, s[i+len(word):]
	}
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
