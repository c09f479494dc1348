// Package linkheader reads and writes Link header fields (RFC 8288), and knows the attributes that RFC 6249
// gives to links of the relations duplicate and describedby.
//
// It is tolerant as RFC 8288, appendix B, is: what it cannot read it leaves out and reports, and the links
// beside that are kept. It resolves no reference and judges no link; whether a mirror may be used is decided
// by package metalink.
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

// LowestPri is the priority of a link that has no valid one (RFC 6249, section 3.1).
const LowestPri = 999999

// A Link is one link-value of a Link field (RFC 8288, section 3).
type Link struct {
	// Target is the reference between < and >, as it was written: not resolved, not checked, maybe empty,
	// maybe with characters that no URI has.
	Target string
	// Params are the parameters in order, with duplicates.
	Params []Param
}

// A Param is one parameter of a link.
type Param struct {
	// Name is in lower case.
	Name string
	// Value is without quotes and escapes. If Name ends in *, the value was decoded from RFC 8187's form
	// into UTF-8. A flag, which has no value, is as a parameter with an empty one.
	Value string
}

// Param returns the value of the first parameter with a name, given in lower case, and whether there is one.
func (l Link) Param(name string) (value string, ok bool) {
	for _, p := range l.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// Rel reports whether l has a relation type. Types are compared without regard to case, and the first rel
// parameter may have several (RFC 8288, section 3.3):
//
//	"The rel parameter MUST be present but MUST NOT appear more than once in a given link-value; occurrences
//	after the first MUST be ignored by parsers."
func (l Link) Rel(relation string) bool {
	types, _ := l.Param("rel")
	for have := range strings.FieldsFuncSeq(types, isOWS) {
		// With equal lengths only ASCII letters can differ: each letter beyond ASCII that folds into it is longer.
		if len(have) == len(relation) && strings.EqualFold(have, relation) {
			return true
		}
	}
	return false
}

// Anchor returns the reference that l is about if that is not the resource itself (RFC 8288, section 3.2).
func (l Link) Anchor() (reference string, ok bool) { return l.Param("anchor") }

// Pri returns the priority of a mirror: 1 is the best, and LowestPri counts for all that is missing, out of
// range or not a number (RFC 6249, section 3.1).
func (l Link) Pri() int {
	n, ok := l.number("pri")
	if !ok || n < 1 || n > LowestPri {
		return LowestPri
	}
	return n
}

// Geo returns the country of a mirror as two capital letters, or "" if there is no such value (RFC 6249,
// section 3.2).
func (l Link) Geo() string {
	v, _ := l.Param("geo")
	if len(v) != 2 || !isLetter(v[0]) || !isLetter(v[1]) {
		return ""
	}
	return strings.ToUpper(v)
}

// Pref reports whether l is a preferred mirror, which shares ETag or digests with the Metalink server (RFC
// 6249, section 3.3). It is a flag, whatever its value.
func (l Link) Pref() bool {
	_, ok := l.Param("pref")
	return ok
}

// Depth returns how much around the file is mirrored too: 0, also where the value is not a number, is the
// file alone (RFC 6249, section 3.4).
func (l Link) Depth() int {
	n, _ := l.number("depth")
	return n
}

// Type returns the media type that the target is said to have, in lower case and without its parameters, or
// "" (RFC 8288, section 3.4.1).
func (l Link) Type() string {
	v, _ := l.Param("type")
	v, _, _ = strings.Cut(v, ";")
	return strings.ToLower(strings.Trim(v, ows))
}

// Name returns the name of the file within a document about several (RFC 6249, section 4), or "". A name* is
// preferred to a name, as title* is to title (RFC 8288, section 3.4.1).
func (l Link) Name() string {
	if v, ok := l.Param("name*"); ok {
		return v
	}
	v, _ := l.Param("name")
	return v
}

// number returns the value of a parameter that is digits only. Without one, or with more than an int holds
// on any platform, it returns 0 and false.
func (l Link) number(name string) (n int, ok bool) {
	v, _ := l.Param(name)
	u, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return 0, false
	}
	return int(u), true
}
