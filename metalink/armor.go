package metalink

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextSignature returns data in the form of a document's signature, if data is a signature in text form: an armored
// OpenPGP signature, or a minisign signature. It does not verify the signature.
func TextSignature(data []byte) (sig Signature, ok bool) {
	if text, ok := ArmoredSignature(data); ok {
		return Signature{Type: "application/pgp-signature", Text: text}, true // RFC 3156, section 5
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	lines := strings.Split(text, "\n")
	odd := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
	if len(lines) != 4 || !utf8.Valid(data) || !strings.HasPrefix(lines[0], "untrusted comment:") ||
		!strings.HasPrefix(lines[2], "trusted comment: ") || strings.ContainsFunc(text, odd) {
		return Signature{}, false
	}
	return Signature{Type: "application/x-minisign", Text: text}, true // no type is registered
}

// ArmoredSignature returns data in the form of a document's signature, if data is an armored OpenPGP signature (RFC
// 9580, section 6) of plain ASCII without other text. It does not verify the signature.
func ArmoredSignature(data []byte) (text string, ok bool) {
	text = strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	inside, begins := strings.CutPrefix(text, "-----BEGIN PGP SIGNATURE-----\n")
	odd := func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }
	if !begins || !strings.HasSuffix(inside, "\n-----END PGP SIGNATURE-----") || strings.ContainsFunc(inside, odd) {
		return "", false
	}
	return text, true
}
