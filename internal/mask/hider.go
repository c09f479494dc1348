package mask

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hider removes secrets from texts. A short secret is only removed where it is a whole word, because the same letters
// may be part of other words.
type Hider struct {
	long  *strings.Replacer
	short []string
}

const shortSecret = 4 // bytes; a secret with fewer is short

// NewHider returns a Hider of secrets.
func NewHider(secrets []string) *Hider {
	h := &Hider{}
	secrets = slices.Clone(secrets)
	slices.SortStableFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // a secret may contain another
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

// hideWord replaces word in s where it is not part of a longer word.
func hideWord(s, word string) string {
	if word == "" || !strings.Contains(s, word) {
		return s
	}
	var b strings.Builder
	last := rune(-1) // the character before the rest s
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
