package smime

import (
	"fmt"
	"strings"
	"unicode"

	"braid/verify"
)

func fail(c verify.SignatureCode, format string, args ...any) *verify.SignatureError {
	return &verify.SignatureError{Code: c, Reason: fmt.Sprintf(format, args...)}
}

// printable returns the first 200 bytes of untrusted text for a message. Unprintable characters, including direction
// marks, become U+FFFD.
func printable(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
