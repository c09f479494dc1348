package soif

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// The attributes of Harvest's FILE template that show a change. All but the last are decimal numbers.
const (
	lastModificationTime = "Last-Modification-Time" // in seconds since 1970
	updateTime           = "Update-Time"            // when the summary was made, in seconds since 1970
	timeToLive           = "Time-to-Live"           // validity of the summary, in seconds from Update-Time
	refreshRate          = "Refresh-Rate"           // when to ask again, in seconds from Update-Time
	fileSize             = "File-Size"              // size of the file in bytes
	md5                  = "MD5"                    // digest of the file in hexadecimal
)

// numeric lists the attributes whose values must be numbers.
var numeric = []string{lastModificationTime, updateTime, timeToLive, refreshRate, fileSize}

// decisive lists the attributes that can cause a download. If an object has a decisive attribute twice with different
// values, neither value is used.
var decisive = []string{lastModificationTime, fileSize, md5}

// isOneOf reports whether list contains an identifier, ignoring case.
func isOneOf(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return equalName(s, name) })
}

// number returns the value of a numeric attribute. If a decisive attribute occurs twice with different values, ok is
// false. For other attributes the first value is used.
func (o object) number(name string) (n int64, ok bool) {
	text, ok := o.one(name)
	if !ok {
		return 0, false
	}
	return parseNumber(text)
}

// digest returns the MD5 of the file in lower-case hexadecimal, or "".
func (o object) digest() string {
	text, ok := o.one(md5)
	if !ok || !isMD5(text) {
		return ""
	}
	return strings.ToLower(string(text))
}

// expires returns when the summary expires: Update-Time plus Time-to-Live. ok is false if either attribute is missing.
func (o object) expires() (seconds int64, ok bool) {
	made, ok1 := o.number(updateTime)
	valid, ok2 := o.number(timeToLive)
	if !ok1 || !ok2 || made > math.MaxInt64-valid {
		return 0, false
	}
	return made + valid, true
}

// one returns the first value of an attribute. ok is false if the attribute is missing, or is decisive and has
// different values.
func (o object) one(name string) (value []byte, ok bool) {
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

// parseNumber parses one or more decimal digits.
func parseNumber(text []byte) (n int64, ok bool) {
	for _, c := range text {
		if !isDigit(c) || n > (math.MaxInt64-int64(c-'0'))/10 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, len(text) > 0
}

// judge checks a complete object and reports unusable parts. In strict mode it returns a flaw if a name is invalid.
func (p *parser) judge(o *object) *flaw {
	if _, ok := feed.Key(o.URL); !ok && o.URL != "" {
		p.warn(o, violation(o.place, codeNotWatchable, "", ""))
	}
	clear(p.seen)
	for i, a := range o.Attributes {
		folded := p.fields[i].folded
		first, again := p.seen[folded]
		if !again {
			p.seen[folded] = i
		}
		var code *feedtext.Code
		switch {
		case again && isOneOf(decisive, a.Name) && !bytes.EqualFold(a.Value, o.Attributes[first].Value):
			code = codeConflict
		case again:
			code = codeDuplicate
		case isOneOf(numeric, a.Name) && !isNumber(a.Value):
			code = codeBadNumber
		case equalName(a.Name, md5) && !isMD5(a.Value):
			code = codeBadMD5
		default:
			continue
		}
		p.warn(o, violation(p.fields[i].at, code, a.Name, string(a.Value)))
	}
	if p.Strict {
		return p.brackets
	}
	return nil
}

func isNumber(text []byte) bool {
	_, ok := parseNumber(text)
	return ok
}

// isMD5 reports whether text is 16 bytes in hexadecimal.
func isMD5(text []byte) bool {
	var sum [16]byte
	if len(text) != hex.EncodedLen(len(sum)) {
		return false
	}
	_, err := hex.Decode(sum[:], text)
	return err == nil
}
