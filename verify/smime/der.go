package smime

import (
	"braid/verify"
	"encoding/asn1"
)

// A reader parses DER. Its first fault is kept. From then on, the reader and all readers made from it are empty, so
// that a function can read the expected elements and check for a fault at the end.
type reader struct {
	rest  []byte
	fault **verify.SignatureError
}

// An element is an element of DER. It is empty after a fault.
type element struct {
	tag     byte
	full    []byte
	content []byte
}

// newReader returns a reader of der, a result of toDER.
func newReader(der []byte) *reader { return &reader{rest: der, fault: new(*verify.SignatureError)} }

func (r *reader) fail(k verify.SignatureCode, format string, args ...any) {
	if *r.fault == nil {
		*r.fault = fail(k, format, args...)
	}
}

func (r *reader) err() *verify.SignatureError { return *r.fault }

func (r *reader) empty() bool { return len(r.rest) == 0 || *r.fault != nil }

// next reports whether the next element has the tag.
func (r *reader) next(tag byte) bool { return !r.empty() && r.rest[0] == tag }

// any reads the next element. A missing element is a fault, reported under the name what.
func (r *reader) any(what string) element {
	if *r.fault != nil {
		return element{}
	}
	tag, length, body, err := consumeHeader(r.rest)
	if err != nil || length == indefiniteLength {
		r.fail(verify.SignatureMalformed, "no %s", what)
		return element{}
	}
	n := len(r.rest) - len(body) + length
	e := element{tag: tag, full: r.rest[:n], content: body[:length]}
	r.rest = r.rest[n:]
	return e
}

// take reads the next element, which must have the tag.
func (r *reader) take(tag byte, what string) element {
	if !r.next(tag) {
		r.fail(verify.SignatureMalformed, "no %s", what)
		return element{}
	}
	return r.any(what)
}

// optional reads the next element if it has the tag.
func (r *reader) optional(tag byte, what string) (element, bool) {
	if !r.next(tag) {
		return element{}, false
	}
	return r.any(what), true
}

// open returns a reader of the content of e.
func (r *reader) open(e element) *reader { return &reader{rest: e.content, fault: r.fault} }

// into reads the next element, which must have the tag, and returns a reader of its content.
func (r *reader) into(tag byte, what string) *reader { return r.open(r.take(tag, what)) }

// end records a fault if r has elements left.
func (r *reader) end(what string) {
	if !r.empty() {
		r.fail(verify.SignatureMalformed, "%s has extra elements", what)
	}
}

// An oid is the content of an OBJECT IDENTIFIER. Values can be compared with ==.
type oid string

func (r *reader) oid(what string) oid { return oid(r.take(tagOID, what).content) }

// String returns the numbers separated by dots.
func (o oid) String() string {
	var id asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(appendElement(nil, tagOID, []byte(o)), &id); err != nil {
		return "a garbled object identifier"
	}
	return id.String()
}

// small reads an INTEGER from 0 to 65535. Any other number is a fault.
func (r *reader) small(what string) int {
	e := r.take(tagInteger, what)
	n := 0
	for _, c := range e.content {
		n = n<<8 | int(c)
		if n > 1<<16-1 {
			break
		}
	}
	if len(e.content) == 0 || e.content[0] >= 0x80 || n > 1<<16-1 {
		r.fail(verify.SignatureMalformed, "%s is out of range", what)
		return 0
	}
	return n
}
