package metalink

import "strings"

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
