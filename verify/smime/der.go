package smime

import (
	"braid/verify"
	"encoding/asn1"
)

// A reader takes DER apart. Its first fault sticks, and it and all readers made of it are empty from then on; so a function reads
// what should be there and looks at the fault at the end.
type reader struct {
	rest  []byte
	fault **verify.SignatureError
}

// An element is one element of DER; it is empty if there was none.
type element struct {
	tag     byte
	full    []byte
	content []byte
}

// newReader reads der, which toDER made.
func newReader(der []byte) *reader { return &reader{rest: der, fault: new(*verify.SignatureError)} }

func (r *reader) fail(k verify.SignatureCode, format string, args ...any) {
	if *r.fault == nil {
		*r.fault = fail(k, format, args...)
	}
}

// err is the first fault.
func (r *reader) err() *verify.SignatureError { return *r.fault }

func (r *reader) empty() bool { return len(r.rest) == 0 || *r.fault != nil }

// next is whether there is an element with a tag.
func (r *reader) next(tag byte) bool { return !r.empty() && r.rest[0] == tag }

// any takes the next element. There must be one; what names it.
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

// take takes the next element, which must have the tag.
func (r *reader) take(tag byte, what string) element {
	if !r.next(tag) {
		r.fail(verify.SignatureMalformed, "no %s", what)
		return element{}
	}
	return r.any(what)
}

// optional takes the next element if it has the tag.
func (r *reader) optional(tag byte, what string) (element, bool) {
	if !r.next(tag) {
		return element{}, false
	}
	return r.any(what), true
}

// open reads what is inside of e.
func (r *reader) open(e element) *reader { return &reader{rest: e.content, fault: r.fault} }

// into takes the next element, which must have the tag, and reads what is inside.
func (r *reader) into(tag byte, what string) *reader { return r.open(r.take(tag, what)) }

// end says that there must be nothing more.
func (r *reader) end(what string) {
	if !r.empty() {
		r.fail(verify.SignatureMalformed, "%s has too much in it", what)
	}
}

// An oid is the content of an OBJECT IDENTIFIER. It can be compared.
type oid string

func (r *reader) oid(what string) oid { return oid(r.take(tagOID, what).content) }

// String has the numbers and dots.
func (o oid) String() string {
	var id asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(appendElement(nil, tagOID, []byte(o)), &id); err != nil {
		return "a garbled object identifier"
	}
	return id.String()
}

// small reads an INTEGER from 0 to 65535; others are a fault.
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
