package sums

import "strings"

// The lines that divide a message in the cleartext signature framework (RFC 9580, section 7).
const (
	beginAny       = "-----BEGIN PGP "
	beginSigned    = "-----BEGIN PGP SIGNED MESSAGE-----"
	beginSignature = "-----BEGIN PGP SIGNATURE-----"
	endSignature   = "-----END PGP SIGNATURE-----"
)

// A place is how far an envelope is open.
type place uint8

const (
	atBeginning place = iota
	inPlain           // there is no envelope
	inHeaders
	inText
	inSignature
	atEnd
)

// An envelope takes the text of a list out of the cleartext signature around it, if there is one.
type envelope struct {
	at        place
	lines     []string // of the text, as they are read
	signature strings.Builder
}

func (e *envelope) wrapped() bool { return e.at > inPlain }

// open gives the part of a line that belongs to the list, or says why the message cannot be read. It is strict: where
// readers of such messages are generous, each reads another text.
func (e *envelope) open(line string) (text, why string) {
	trimmed := strings.TrimRight(line, " \t")
	switch e.at {
	case atBeginning, inPlain:
		return e.outside(line, trimmed)
	case inHeaders:
		return "", e.header(line)
	case inText:
		return e.text(trimmed)
	case inSignature:
		e.signature.WriteString(trimmed + "\n")
		if trimmed == endSignature {
			e.at = atEnd
		}
		return "", ""
	}
	if trimmed != "" {
		return "", "text after the signature, which does not speak of it"
	}
	return "", ""
}

func (e *envelope) outside(line, trimmed string) (text, why string) {
	switch {
	case trimmed == beginSigned && e.at == atBeginning:
		e.at = inHeaders
		return "", ""
	case trimmed == beginSigned:
		return "", "text before the signed message, which its signature does not speak of"
	case strings.HasPrefix(line, beginAny):
		return "", "this is a PGP signature, key or message, not the list that it goes with"
	case trimmed != "":
		e.at = inPlain
	}
	return line, ""
}

// header reads a line before the text. RFC 9580, section 7.1: there are "Hash" headers, and "exactly one empty line".
func (e *envelope) header(line string) (why string) {
	switch {
	case line == "":
		e.at = inText
	case !strings.HasPrefix(line, "Hash: "):
		return "a signed message with a header other than Hash"
	}
	return ""
}

// text reads a line of the message. Section 7.2: a line that begins with a dash is prefixed by a dash and a space, others
// may be. Space at its end is not signed.
func (e *envelope) text(trimmed string) (text, why string) {
	if trimmed == beginSignature {
		e.at = inSignature
		e.signature.WriteString(trimmed + "\n")
		return "", ""
	}
	text, escaped := strings.CutPrefix(trimmed, "- ")
	if !escaped && strings.HasPrefix(text, "-") {
		return "", "a signed message with a dash that is not escaped"
	}
	e.lines = append(e.lines, text)
	return text, ""
}

// message is the text as its signature speaks of it (RFC 9580, section 7.1): the lines that were read, ended by CR and LF
// but for the last one.
func (e *envelope) message() Message {
	if !e.wrapped() {
		return Message{}
	}
	return Message{Text: []byte(strings.Join(e.lines, "\r\n")), Signature: []byte(e.signature.String())}
}

// unfinished says that the message has no end.
func (e *envelope) unfinished() (why string) {
	if e.wrapped() && e.at != atEnd {
		return "the signed message is cut off"
	}
	return ""
}
