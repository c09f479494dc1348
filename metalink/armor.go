package metalink

import "strings"

// ArmoredSignature is data as the text of a signature in a document, if it is an OpenPGP signature in armor (RFC 9580,
// section 6) and nothing else but plain ASCII. Whether it is of the file is for others to find out.
func ArmoredSignature(data []byte) (text string, ok bool) {
	text = strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	inside, begins := strings.CutPrefix(text, "-----BEGIN PGP SIGNATURE-----\n")
	odd := func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }
	if !begins || !strings.HasSuffix(inside, "\n-----END PGP SIGNATURE-----") || strings.ContainsFunc(inside, odd) {
		return "", false
	}
	return text, true
}
