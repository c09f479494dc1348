package news

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// marked is the first of 256 private characters at the end of Unicode, one for each value of an invalid byte.
const marked = 0x10FE00

// A marker copies UTF-8. It replaces each invalid byte, and each control character that XML and JSON do not allow, by a
// marked character. So parsers that refuse such text can read all of it, and unmark shows the bytes later.
type marker struct {
	transform.NopResetter
	ascii bool // for an unknown charset only ASCII is valid
}

func (m *marker) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if len(dst)-nDst < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		c := src[nSrc]
		if c >= ' ' && c < utf8.RuneSelf || c == '\n' || c == '\t' || c == '\r' {
			dst[nDst] = c
			nDst++
			nSrc++
			continue
		}
		if !atEOF && !m.ascii && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[nSrc:])
		if c < ' ' || m.ascii || r == utf8.RuneError && size == 1 {
			r, size = marked+rune(c), 1
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += size
	}
	return nDst, nSrc, nil
}

// unmark writes marked characters as \xNN, and reports whether s had none.
func unmark(s string) (text string, clean bool) {
	isMark := func(r rune) bool { return r&^0xff == marked }
	if strings.IndexFunc(s, isMark) < 0 {
		return s, true
	}
	var b strings.Builder
	for _, r := range s {
		if isMark(r) {
			fmt.Fprintf(&b, `\x%02X`, r&0xff)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), false
}
