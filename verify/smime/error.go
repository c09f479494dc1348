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

// printable makes s, which others wrote, fit for a line and a terminal, at its first 200 bytes. What is no printable character,
// direction marks among them, becomes U+FFFD.
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
