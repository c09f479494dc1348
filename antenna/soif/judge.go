package soif

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"braid/antenna/feed"
)

// The attributes of Harvest's FILE template that tell of a change. All but the last are decimal numbers.
const (
	LastModificationTime = "Last-Modification-Time" // seconds since 1970
	UpdateTime           = "Update-Time"            // when the summary was made, seconds since 1970
	TimeToLive           = "Time-to-Live"           // how long the summary is valid, seconds from Update-Time
	RefreshRate          = "Refresh-Rate"           // when to ask again, seconds from Update-Time
	FileSize             = "File-Size"              // octets of what the URL names
	MD5                  = "MD5"                    // of what the URL names, in hexadecimal
)

// numeric are the attributes that must be numbers to be of use.
var numeric = []string{LastModificationTime, UpdateTime, TimeToLive, RefreshRate, FileSize}

// decisive are the attributes that trigger a download: where two of them contradict each other, none counts.
var decisive = []string{LastModificationTime, FileSize, MD5}

// isOneOf finds an identifier in a list, in any letter case.
func isOneOf(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return equalName(s, name) })
}

// Number returns an attribute that is a decimal number. A File-Size or Last-Modification-Time that is there twice
// with different values is none; of other attributes the first counts.
func (o Object) Number(name string) (n int64, ok bool) {
	text, ok := o.one(name)
	if !ok {
		return 0, false
	}
	return parseNumber(text)
}

// Digest returns the MD5 of what the URL names, if the object has one and it is 16 octets in hexadecimal.
func (o Object) Digest() (sum [16]byte, ok bool) {
	text, ok := o.one(MD5)
	if !ok || len(text) != hex.EncodedLen(len(sum)) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], text)
	return sum, err == nil
}

// Expires returns when the summary stops being valid: Update-Time and Time-to-Live together. Without both
// there is no such time.
func (o Object) Expires() (seconds int64, ok bool) {
	made, ok1 := o.Number(UpdateTime)
	valid, ok2 := o.Number(TimeToLive)
	if !ok1 || !ok2 || made > math.MaxInt64-valid {
		return 0, false
	}
	return made + valid, true
}

// one returns the value of an attribute that has one: the first, unless it is decisive and contradicted.
func (o Object) one(name string) (value []byte, ok bool) {
	mustAgree := isOneOf(decisive, name)
	for _, a := range o.Attributes {
		switch {
		case !equalName(a.Name, name):
		case !ok:
			value, ok = a.Value, true
		case mustAgree && !bytes.EqualFold(value, a.Value):
			return nil, false
		}
	}
	return value, ok
}

// parseNumber reads one or more decimal digits.
func parseNumber(text []byte) (n int64, ok bool) {
	for _, c := range text {
		if !isDigit(c) || n > (math.MaxInt64-int64(c-'0'))/10 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(text) > 0
}

// judge looks at an object that was read to its end: what of it is of no use, and in strict mode whether it is an
// object at all.
func (p *parser) judge(o *Object) *flaw {
	if _, ok := feed.Key(o.URL); !ok && o.URL != "" {
		p.warn(o, violation(place{o.Line, o.Offset}, codeNotWatchable, ""))
	}
	seen := firsts{}
	for i, a := range o.Attributes {
		first, again := seen.add(o.Attributes, i)
		code := ""
		switch {
		case again && isOneOf(decisive, a.Name) && !bytes.EqualFold(a.Value, o.Attributes[first].Value):
			code = codeConflict
		case again:
			code = codeDuplicate
		case isOneOf(numeric, a.Name) && !isNumber(a.Value):
			code = codeBadNumber
		case equalName(a.Name, MD5) && !isMD5(a.Value):
			code = codeBadMD5
		default:
			continue
		}
		v := violation(p.fields[i].at, code, a.Name)
		v.Text = feed.Say(v.Text, a.Name, string(a.Value))
		p.warn(o, v)
	}
	if p.o.Strict {
		return p.brackets
	}
	return nil
}

func isNumber(text []byte) bool {
	_, ok := parseNumber(text)
	return ok
}

func isMD5(text []byte) bool {
	_, ok := Object{Attributes: []Attribute{{MD5, text}}}.Digest()
	return ok
}

// few is how many attributes are compared with each other before a table pays.
const few = 32

// firsts remembers where each identifier was first seen, once there are more than a few.
type firsts map[string]int

// add finds the attribute i among those before it, by its name in any letter case.
func (f firsts) add(list []Attribute, i int) (first int, again bool) {
	if i < few {
		first = slices.IndexFunc(list[:i], func(a Attribute) bool { return equalName(a.Name, list[i].Name) })
		return first, first >= 0
	}
	if i == few {
		for j, a := range slices.Backward(list[:few]) {
			f[strings.ToLower(a.Name)] = j
		}
	}
	name := strings.ToLower(list[i].Name)
	first, again = f[name]
	if !again {
		f[name] = i
	}
	return first, again
}
