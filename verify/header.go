package verify

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dunglas/httpsfv"
)

// The values of Digest and Repr-Digest are digests of the whole representation. The value of Content-Digest is the
// digest of the content of one response. In a 206 response, the content is a part.
const (
	digestField        = "Digest"
	reprDigestField    = "Repr-Digest"
	contentDigestField = "Content-Digest"
)

// FromHeader parses the digests of one response: Digest (RFC 3230, section 4.3.2), Repr-Digest (RFC 9530, section 3)
// and the fields of object stores ([StoreFieldNames]). The keys of header are in canonical form, as in net/http.
// FromHeader returns at most one claim of each algorithm, the strongest first. Unsupported algorithms are skipped.
//
// The error is a *DigestError. It reports two values that contradict each other, or a malformed Digest or Repr-Digest
// in a response without a strong digest.
func FromHeader(header map[string][]string, over Channel) ([]Claim, error) {
	claims, malformed, err := ReadHeader(header, over)
	if err == nil && !Strong(claims) {
		for _, m := range malformed {
			if !m.Note {
				return nil, m
			}
		}
	}
	return claims, err
}

// ReadHeader is like FromHeader for callers that have other evidence: it returns malformed values in malformed instead
// of an error. Values that contradict each other are still an error.
func ReadHeader(header map[string][]string, over Channel) (claims []Claim, malformed []*DigestError, err error) {
	a := answer{over: over}
	for _, line := range header[digestField] {
		if err := a.digest(line); err != nil {
			return nil, nil, err
		}
	}
	if lines := header[reprDigestField]; len(lines) > 0 {
		if err := a.dictionary(reprDigestField, strings.Join(lines, ", ")); err != nil {
			return nil, nil, err
		}
	}
	if err := a.stored(header); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(a.claims, byStrength)
	return a.claims, a.malformed, nil
}

// OfContent parses Content-Digest (RFC 9530, section 2), the digest of the content as sent. The content of a partial
// response is the part. OfContent returns claims of strong algorithms, the strongest first. A malformed field is
// ignored as a whole (RFC 9651, section 4.2), not an error, because the field claims nothing about the whole file.
func OfContent(header map[string][]string, over Channel) []Claim {
	a := answer{over: over}
	lines := header[contentDigestField]
	if len(lines) == 0 || a.dictionary(contentDigestField, strings.Join(lines, ", ")) != nil || len(a.malformed) > 0 {
		return nil
	}
	slices.SortFunc(a.claims, byStrength)
	return slices.DeleteFunc(a.claims, func(c Claim) bool { return !c.Digest.Algorithm().Strong() })
}

// An answer collects the claims of one response.
type answer struct {
	over      Channel
	claims    []Claim
	malformed []*DigestError
}

const (
	maxMalformed = 20      // limit of the malformed values that are reported for one response
	maxValue     = 1 << 10 // limit of the bytes of a value in an error
)

// spoil records a malformed value. The errors are kept for the whole download, so their size is limited.
func (a *answer) spoil(field, value, why string, err error) {
	if len(a.malformed) < maxMalformed {
		note := Claim{Field: field}.FromStore()
		a.malformed = append(a.malformed, &DigestError{Field: field, Value: excerpt(value), Why: why, Err: err, Note: note})
	}
}

// excerpt returns a copy of the beginning of value, so that the rest of the field can be freed.
func excerpt(value string) string { return strings.Clone(value[:min(len(value), maxValue)]) }

// add records a claim, unless a claim with the same digest exists. A contradiction is an error.
func (a *answer) add(field, value string, d Digest) error {
	c := Claim{Digest: d, Field: field, Channel: a.over}
	if err := Agree(a.claims, []Claim{c}); err != nil {
		return &DigestError{Field: field, Value: excerpt(value), Why: err.Error(), Err: err}
	}
	same := func(o Claim) bool { return o.Digest == d }
	if !slices.ContainsFunc(a.claims, same) {
		a.claims = append(a.claims, c)
	}
	return nil
}

// digest parses a line of Digest: #(algorithm "=" encoded output). No encoding contains a comma.
func (a *answer) digest(line string) error {
	for element := range strings.SplitSeq(line, ",") {
		element = trimOWS(element)
		if element == "" {
			continue // RFC 9110, section 5.6.1.2: "MUST parse and ignore a reasonable number of empty list elements"
		}
		name, value, ok := strings.Cut(element, "=")
		if !ok {
			a.spoil(digestField, element, "no value", nil)
			continue
		}
		alg, ok := ParseAlgorithm(trimOWS(name))
		if !ok {
			continue
		}
		d, err := parseInstance(alg, trimOWS(value))
		if err != nil {
			a.spoil(digestField, element, err.Error(), err)
			continue
		}
		if err := a.add(digestField, element, d); err != nil {
			return err
		}
	}
	return nil
}

// parseInstance parses the value of an instance digest, which servers write in three forms (rule 33): base64 of the raw
// digest, as in RFC 3230; base64 of its hexadecimal digits, as in the examples of RFC 6249; and the hexadecimal digits
// themselves. Padding may be missing. The forms differ in length for every algorithm.
func parseInstance(a Algorithm, v string) (Digest, error) {
	raw, digits := base64.StdEncoding.EncodedLen(a.Size()), 2*a.Size()
	if len(v) == digits {
		return ParseHex(a, v)
	}
	full := v
	if !strings.HasSuffix(v, "=") {
		full = pad(v)
	}
	if len(full) != raw && len(full) != base64.StdEncoding.EncodedLen(digits) {
		return Digest{}, fmt.Errorf("%v has %d characters, want %d of base64", a, len(v), raw)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(full)
	switch {
	case err != nil:
		return Digest{}, fmt.Errorf("%v is not base64", a)
	case len(full) == raw:
		return NewDigest(a, b)
	}
	return ParseHex(a, string(b))
}

// dictionary parses the field called name, a dictionary of byte sequences (RFC 9530, sections 2 and 3).
func (a *answer) dictionary(name, field string) error {
	field = padSequences(field)
	if _, err := httpsfv.UnmarshalDictionary([]string{field}); err != nil {
		a.spoil(name, field, "not a dictionary: "+err.Error(), err)
		return nil
	}
	// In a dictionary the last of several members with one key wins (RFC 9651, section 4.2.2). Here two different
	// digests are an error (rule 32), so each member is parsed separately.
	for rest := field; rest != ""; {
		var member string
		member, rest = consumeMember(rest)
		if err := a.member(name, trimOWS(member)); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) member(name, member string) error {
	dict, err := httpsfv.UnmarshalDictionary([]string{member})
	if err != nil {
		a.spoil(name, member, "not a dictionary: "+err.Error(), err)
		return nil
	}
	for _, key := range dict.Names() {
		alg, ok := ParseAlgorithm(key)
		if !ok {
			continue
		}
		m, _ := dict.Get(key)
		item, _ := m.(httpsfv.Item) // for an inner list, item is zero and has no Value
		raw, ok := item.Value.([]byte)
		if !ok {
			a.spoil(name, member, alg.String()+" is not a byte sequence", nil)
			continue
		}
		d, err := NewDigest(alg, raw)
		if err != nil {
			a.spoil(name, member, err.Error(), err)
			continue
		}
		if err := a.add(name, member, d); err != nil {
			return err
		}
	}
	return nil
}

// padSequences adds missing padding to the byte sequences in s. RFC 9651, section 4.2.7: "parsers SHOULD NOT fail when
// a Byte Sequence does not have padding". A byte sequence begins with a colon after "=", "(" or a space, and ends at
// the next colon.
func padSequences(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		end := i
		switch {
		case s[i] == '"':
			end = closingQuote(s, i, i == 0 || s[i-1] != '%')
		case s[i] == ':' && i > 0 && strings.IndexByte("=( ", s[i-1]) >= 0:
			n := strings.IndexByte(s[i+1:], ':')
			if n < 0 {
				return b.String() + s[i:]
			}
			b.WriteString(":" + pad(s[i+1:i+1+n]) + ":")
			i += n + 1
			continue
		}
		end = min(end, len(s)-1)
		b.WriteString(s[i : end+1])
		i = end
	}
	return b.String()
}

// pad returns v, which is base64, with padding.
func pad(v string) string { return v + strings.Repeat("=", -len(v)&3) }

// consumeMember splits s, a valid dictionary, after its first member (RFC 9651, section 4.2.2). A comma inside a string
// does not end the member. Values of other types contain no comma.
func consumeMember(s string) (member, rest string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			// Only a plain string has escapes (RFC 9651, sections 4.2.5 and 4.2.10).
			i = closingQuote(s, i, i == 0 || s[i-1] != '%')
		case ',':
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// closingQuote returns the index of the quote that closes the string at s[open], or len(s).
func closingQuote(s string, open int, escapes bool) int {
	for i := open + 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i
		case s[i] == '\\' && escapes:
			i++
		}
	}
	return len(s)
}

// trimOWS removes optional white space (RFC 9110, section 5.6.3).
func trimOWS(s string) string { return strings.Trim(s, " \t") }

// Want returns the values of Want-Digest (RFC 3230, section 4.3.1) and Want-Repr-Digest (RFC 9530, section 4). They
// request the algorithms with a positive want in the table algorithms, the most wanted first.
func Want() (digest, repr string) {
	asked := slices.DeleteFunc(Algorithms(), func(a Algorithm) bool { return algorithms[a].want == 0 })
	slices.SortStableFunc(asked, func(a, b Algorithm) int { return cmp.Compare(algorithms[b].want, algorithms[a].want) })
	var old, new []string
	for _, a := range asked {
		row := &algorithms[a]
		old = append(old, row.instance+";q="+strconv.FormatFloat(float64(row.want)/10, 'g', -1, 64))
		new = append(new, row.repr+"="+strconv.Itoa(row.want))
	}
	return strings.Join(old, ", "), strings.Join(new, ", ")
}

// Field returns the value of a Digest field (RFC 3230) with the digests ds.
func Field(ds ...Digest) string {
	var members []string
	for _, d := range ds {
		if !d.IsZero() {
			members = append(members, algorithms[d.alg].instance+"="+d.Base64())
		}
	}
	return strings.Join(members, ",")
}

// ReprField returns the value of a Repr-Digest field (RFC 9530) with the digests ds.
func ReprField(ds ...Digest) string {
	dict := httpsfv.NewDictionary()
	for _, d := range ds {
		if !d.IsZero() {
			dict.Add(algorithms[d.alg].repr, httpsfv.NewItem(d.Bytes()))
		}
	}
	field, err := httpsfv.Marshal(dict)
	if err != nil {
		panic(err) // the keys are constants and the values are bytes, so Marshal cannot fail
	}
	return field
}
