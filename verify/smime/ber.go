package smime

import (
	"braid/verify"
	"bytes"
	"slices"
)

// Tags of one byte: class, constructed or not, and number (X.690, section 8.1.2).
const (
	tagInteger     = 0x02
	tagOctetString = 0x04
	tagNull        = 0x05
	tagOID         = 0x06
	tagSequence    = 0x30
	tagSet         = 0x31
	tagContext0    = 0xa0 // [0], constructed; [1], [2] and so on follow
	tagImplicit0   = 0x80 // [0], primitive

	constructed = 0x20
	highNumber  = 0x1f
	indefinite  = 0x80 // the length byte of an element with indefinite length
)

// maxDepth is more than twice the depth of a message with a time stamp. The time stamp is a message itself.
const maxDepth = 40

// toDER converts BER, which streaming signers write, to DER: lengths become definite and minimal, and strings become
// primitive (X.690, section 10). DER is unchanged: the signed attributes "MUST be DER encoded, even if the rest of the
// structure is BER encoded" (RFC 5652, section 5.3). The time that toDER takes is linear in len(b) times maxDepth.
func toDER(b []byte) ([]byte, *verify.SignatureError) {
	der, rest, err := appendDER(make([]byte, 0, len(b)), b, 0)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fail(verify.SignatureMalformed, "%d unexpected bytes after its end", len(rest))
	}
	return der, nil
}

// appendDER appends the first element of b to out, in DER.
func appendDER(out, b []byte, depth int) (der, rest []byte, err *verify.SignatureError) {
	if depth == maxDepth {
		return nil, nil, fail(verify.SignatureTooLarge, "its elements are nested more than %d deep", maxDepth)
	}
	tag, length, body, err := consumeHeader(b)
	if err != nil {
		return nil, nil, err
	}
	start := len(out)
	switch {
	case length != indefiniteLength && tag&constructed == 0:
		return appendElement(out, tag, body[:length]), body[length:], nil
	case length != indefiniteLength:
		out, err = appendAll(out, body[:length], depth)
		rest = body[length:]
	case tag&constructed == 0:
		return nil, nil, fail(verify.SignatureMalformed, "a primitive element has no length")
	default:
		out, rest, err = appendUntilEnd(out, body, depth)
	}
	if err == nil && tag == tagOctetString|constructed {
		tag = tagOctetString
		out, err = joinStrings(out, start)
	}
	if err != nil {
		return nil, nil, err
	}
	return slices.Insert(out, start, header(tag, len(out)-start)...), rest, nil
}

// appendAll appends the elements in body to out, in DER.
func appendAll(out, body []byte, depth int) (der []byte, err *verify.SignatureError) {
	for len(body) > 0 && err == nil {
		out, body, err = appendDER(out, body, depth+1)
	}
	return out, err
}

// appendUntilEnd appends the elements before the two zero bytes that end an indefinite length (X.690, section 8.1.5).
func appendUntilEnd(out, b []byte, depth int) (der, rest []byte, err *verify.SignatureError) {
	for err == nil {
		if after, ended := bytes.CutPrefix(b, []byte{0, 0}); ended {
			return out, after, nil
		}
		out, b, err = appendDER(out, b, depth+1)
	}
	return nil, nil, err
}

// joinStrings joins the segments of a string in out[start:], in place (X.690, section 8.7.3).
func joinStrings(out []byte, start int) ([]byte, *verify.SignatureError) {
	joined := out[:start]
	for pieces := out[start:]; len(pieces) > 0; {
		tag, length, body, err := consumeHeader(pieces)
		if err != nil || tag != tagOctetString {
			return nil, fail(verify.SignatureMalformed, "a string has a segment that is not a string")
		}
		joined = append(joined, body[:length]...) // moves to the left
		pieces = body[length:]
	}
	return joined, nil
}

// maxLength exceeds the length of any valid element, and fits in the result of header and in an int of 32 bits.
const maxLength = 4 * verify.MaxSignature

// indefiniteLength is consumeHeader's result for an indefinite length.
const indefiniteLength = -1

// consumeHeader splits b after the tag and length of an element. body has at least length bytes. Lengths need not be
// minimal.
func consumeHeader(b []byte) (tag byte, length int, body []byte, err *verify.SignatureError) {
	if len(b) < 2 {
		return 0, 0, nil, fail(verify.SignatureMalformed, "truncated, or not a CMS message")
	}
	tag, first, body := b[0], int(b[1]), b[2:]
	switch {
	case tag&highNumber == highNumber:
		return 0, 0, nil, fail(verify.SignatureMalformed, "it has a tag that CMS does not use")
	case tag == 0:
		return 0, 0, nil, fail(verify.SignatureMalformed, "an end of contents is in the wrong place")
	case first == indefinite:
		return tag, indefiniteLength, body, nil
	case first < indefinite:
		length = first
	default:
		n := first - indefinite
		if n > len(body) {
			return 0, 0, nil, fail(verify.SignatureMalformed, "cut off")
		}
		for _, c := range body[:n] {
			length = length<<8 | int(c)
			if length > maxLength {
				return 0, 0, nil, fail(verify.SignatureMalformed, "an element is longer than the message")
			}
		}
		body = body[n:]
	}
	if length > len(body) {
		return 0, 0, nil, fail(verify.SignatureMalformed, "cut off: %d bytes are missing", length-len(body))
	}
	return tag, length, body, nil
}

// header returns a tag and length in DER.
func header(tag byte, length int) []byte {
	switch {
	case length < 0x80:
		return []byte{tag, byte(length)}
	case length < 1<<8:
		return []byte{tag, 0x81, byte(length)}
	case length < 1<<16:
		return []byte{tag, 0x82, byte(length >> 8), byte(length)}
	}
	return []byte{tag, 0x83, byte(length >> 16), byte(length >> 8), byte(length)}
}

func appendElement(out []byte, tag byte, content []byte) []byte {
	return append(append(out, header(tag, len(content))...), content...)
}
