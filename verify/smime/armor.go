package smime

import (
	"braid/verify"
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"strings"
)

// dearmor returns the bytes of the CMS message. data is the message itself (DER or BER), PEM (RFC 7468, section 9), or
// a mail with a base64 body (RFC 8551, section 3.2).
func dearmor(data []byte) ([]byte, *verify.SignatureError) {
	if len(data) > verify.MaxSignature {
		return nil, fail(verify.SignatureTooLarge, "it has %d bytes, more than %d", len(data), verify.MaxSignature)
	}
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return nil, fail(verify.SignatureMissing, "empty")
	case data[0] == tagSequence:
		return data, nil
	case bytes.HasPrefix(text, []byte("-----BEGIN ")):
		return fromPEM(text)
	}
	return fromMail(text)
}

func fromPEM(text []byte) ([]byte, *verify.SignatureError) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, fail(verify.SignatureMalformed, "its PEM has no end, or has garbage in it")
	case block.Type != "PKCS7" && block.Type != "CMS":
		return nil, fail(verify.SignatureNotOfFile, "its PEM is not a signature, but: %s", printable(block.Type))
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, fail(verify.SignatureMalformed, "%d unexpected bytes after its end", len(rest))
	}
	return block.Bytes, nil
}

// fromMail parses a mail whose only part is the message. It ignores header fields that it does not need.
func fromMail(text []byte) ([]byte, *verify.SignatureError) {
	head, body, found := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n")
	kind, _, _ := strings.Cut(field(head, "content-type"), ";")
	if !found || kind == "" {
		return nil, fail(verify.SignatureMalformed, "it is neither DER, PEM nor a mail")
	}
	switch kind = strings.ToLower(strings.TrimSpace(kind)); strings.Replace(kind, "/x-", "/", 1) {
	case "application/pkcs7-signature", "application/pkcs7-mime":
	case "multipart/signed":
		return nil, fail(verify.SignatureNotOfFile,
			"it is a mail that includes the signed file: only the mail's signature part, smime.p7s, can be used")
	default:
		return nil, fail(verify.SignatureNotOfFile, "it is a mail of another type: %s", printable(kind))
	}
	if !strings.EqualFold(field(head, "content-transfer-encoding"), "base64") {
		return nil, fail(verify.SignatureUnsupported, "it is a mail that is not in base64")
	}
	der, err := base64.StdEncoding.DecodeString(body) // DecodeString skips line ends
	if err != nil {
		return nil, fail(verify.SignatureMalformed, "the body of the mail is not base64")
	}
	return der, nil
}

// unfold joins the lines of a field (RFC 5322, section 2.2.3).
var unfold = strings.NewReplacer("\n ", " ", "\n\t", " ")

// field returns the first value of the field called name in head, the header of a mail.
func field(head, name string) string {
	for line := range strings.Lines(unfold.Replace(head)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
