package sums

import "strings"

// The lines that delimit a message in the cleartext signature framework (RFC 9580, section 7).
const (
	beginAny       = "-----BEGIN PGP "
	beginSigned    = "-----BEGIN PGP SIGNED MESSAGE-----"
	beginSignature = "-----BEGIN PGP SIGNATURE-----"
	endSignature   = "-----END PGP SIGNATURE-----"
)

// A place is the part of an envelope that the next line belongs to.
type place uint8

const (
	atBeginning place = iota
	inPlain           // the list has no envelope
	inHeaders
	inText
	inSignature
	atEnd
)

// An envelope removes a cleartext signature around a list, and collects the signed text.
type envelope struct {
	at        place
	lines     []string // of the text, with dash escapes removed
	signature strings.Builder
}

func (e *envelope) wrapped() bool { return e.at > inPlain }

// open returns the part of a line that belongs to the list, or why the message cannot be read. It is strict, because
// lenient parsers of signed messages disagree about which text is signed.
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
		return "", "unsigned text after the signature"
	}
	return "", ""
}

func (e *envelope) outside(line, trimmed string) (text, why string) {
	switch {
	case trimmed == beginSigned && e.at == atBeginning:
		e.at = inHeaders
		return "", ""
	case trimmed == beginSigned:
		return "", "unsigned text before the signed message"
	case strings.HasPrefix(line, beginAny):
		return "", "this is a PGP signature, key or message instead of a list"
	case trimmed != "":
		e.at = inPlain
	}
	return line, ""
}

// header reads a line before the text. RFC 9580, section 7.1: the headers are "Hash" headers, followed by "exactly one
// empty line".
func (e *envelope) header(line string) (why string) {
	switch {
	case line == "":
		e.at = inText
	case !strings.HasPrefix(line, "Hash: "):
		return "the signed message has a header other than Hash"
	}
	return ""
}

// text reads a line of the message. RFC 9580, section 7.2: a line that begins with a dash is prefixed by a dash and a
// space. Other lines may have that prefix. The signature does not cover white space at the end of a line.
func (e *envelope) text(trimmed string) (text, why string) {
	if trimmed == beginSignature {
		e.at = inSignature
		e.signature.WriteString(trimmed + "\n")
		return "", ""
	}
	text, escaped := strings.CutPrefix(trimmed, "- ")
	if !escaped && strings.HasPrefix(text, "-") {
		return "", "the signed message has a dash that is not escaped"
	}
	e.lines = append(e.lines, text)
	return text, ""
}

// message returns the signed text and its signature (RFC 9580, section 7.1). The lines of the text are separated by CR
// and LF; the last line has no line ending.
func (e *envelope) message() Message {
	if !e.wrapped() {
		return Message{}
	}
	return Message{Text: []byte(strings.Join(e.lines, "\r\n")), Signature: []byte(e.signature.String())}
}

// unfinished returns why the message is incomplete, or "" if it is complete.
func (e *envelope) unfinished() (why string) {
	if e.wrapped() && e.at != atEnd {
		return "the signed message is truncated"
	}
	return ""
}
