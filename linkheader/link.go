// Package linkheader reads and writes Link header fields (RFC 8288). It supports the parameters that RFC 6249 defines
// for links with the relations duplicate and describedby.
//
// Like RFC 8288, appendix B, the package is tolerant: malformed links are omitted and reported, and the other links are
// kept. Package metalink resolves the references and decides whether a mirror may be used.
//
//	links, problems := linkheader.Parse(resp.Header["Link"])
//	for _, l := range links {
//		if l.Rel(linkheader.Duplicate) {
//			fmt.Println(l.Target, l.Pri(), l.Geo())
//		}
//	}
package linkheader

import (
	"strconv"
	"strings"
)

// The relation types that RFC 6249 uses.
const (
	Duplicate   = "duplicate"   // a mirror (section 3)
	DescribedBy = "describedby" // a document about the file: metalink, torrent, signature (sections 4 and 5)
)

// LowestPri is the priority of a link without a valid pri parameter (RFC 6249, section 3.1).
const LowestPri = 999999

// A Link is one link-value of a Link field (RFC 8288, section 3).
type Link struct {
	// Target is the reference between < and > as written. It is not resolved or checked, and may be empty or contain
	// characters that are not allowed in a URI.
	Target string
	// Params are the parameters in order, including duplicates.
	Params []Param
}

// A Param is one parameter of a link.
type Param struct {
	// Name is in lower case.
	Name string
	// Value is without quotes and escapes. If Name ends in *, the value was decoded from the form of RFC 8187 into
	// UTF-8. It is empty for a flag, which has no value.
	Value string
}

// Param returns the value of the first parameter called name, which must be in lower case. ok is false without such a
// parameter.
func (l Link) Param(name string) (value string, ok bool) {
	for _, p := range l.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// Rel reports whether l has the relation type relation. Types are compared without regard to case. The first rel
// parameter may contain several types (RFC 8288, section 3.3):
//
//	"The rel parameter MUST be present but MUST NOT appear more than once in a given link-value; occurrences
//	after the first MUST be ignored by parsers."
func (l Link) Rel(relation string) bool {
	types, _ := l.Param("rel")
	for have := range strings.FieldsFuncSeq(types, isOWS) {
		// With equal lengths EqualFold can fold only ASCII letters: others that fold to ASCII have longer encodings.
		if len(have) == len(relation) && strings.EqualFold(have, relation) {
			return true
		}
	}
	return false
}

// Anchor returns the anchor parameter: a reference to the resource that l is about, if that is not the requested
// resource (RFC 8288, section 3.2).
func (l Link) Anchor() (reference string, ok bool) { return l.Param("anchor") }

// Pri returns the priority of a mirror, of which 1 is the best. It returns LowestPri if the pri parameter is missing or
// invalid (RFC 6249, section 3.1).
func (l Link) Pri() int {
	n, ok := l.number("pri")
	if !ok || n < 1 || n > LowestPri {
		return LowestPri
	}
	return n
}

// Geo returns the country of a mirror as two capital letters, or "" if the value is missing or invalid (RFC 6249,
// section 3.2).
func (l Link) Geo() string {
	v, _ := l.Param("geo")
	if len(v) != 2 || !isLetter(v[0]) || !isLetter(v[1]) {
		return ""
	}
	return strings.ToUpper(v)
}

// Pref reports whether l is a preferred mirror, which has the same ETag or digests as the Metalink server (RFC 6249,
// section 3.3). pref is a flag; its value is ignored.
func (l Link) Pref() bool {
	_, ok := l.Param("pref")
	return ok
}

// Depth returns the parameter depth: the number of levels of the path, counted from its end, that are mirrored together
// with the file (RFC 6249, section 3.4). It returns 0, which means only the file, if the value is missing or invalid.
func (l Link) Depth() int {
	n, _ := l.number("depth")
	return n
}

// Type returns the declared media type of the target in lower case without parameters, or "" (RFC 8288, section 3.4.1).
func (l Link) Type() string {
	v, _ := l.Param("type")
	v, _, _ = strings.Cut(v, ";")
	return strings.ToLower(strings.Trim(v, ows))
}

// Name returns the name of the file within a document that describes several files (RFC 6249, section 4), or "". name*
// takes precedence over name, as title* does over title (RFC 8288, section 3.4.1).
func (l Link) Name() string {
	if v, ok := l.Param("name*"); ok {
		return v
	}
	v, _ := l.Param("name")
	return v
}

// number returns the value of the parameter name as a number. It returns false if the parameter is missing, is not a
// decimal number or does not fit in 31 bits.
func (l Link) number(name string) (n int, ok bool) {
	v, _ := l.Param(name)
	u, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return 0, false
	}
	return int(u), true
}
