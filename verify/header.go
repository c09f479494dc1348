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

// The fields that speak of the whole representation, and the one that speaks of what was sent: on a 206 that is a part.
const (
	digestField        = "Digest"
	reprDigestField    = "Repr-Digest"
	contentDigestField = "Content-Digest"
)

// FromHeader reads the digests of one answer: Digest (RFC 3230, section 4.3.2), Repr-Digest (RFC 9530,
// section 3) and the fields of stores ([StoreFieldNames]). The keys of header are in canonical form, as net/http makes
// them. The claims are at most one per algorithm, strongest first; algorithms that are not ours are skipped.
//
// The error is a *DigestError if one value contradicts another, or if one of Digest or Repr-Digest is malformed and no
// strong one is left.
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

// ReadHeader reads the digests of one answer as FromHeader does, for those who know more of the file: values that are
// malformed are no error, and are given back.
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

// OfContent reads Content-Digest (RFC 9530, section 2): what the content of an answer has to be, as it is sent. Where the answer
// is a part of the file, that is the part. The claims are of strong algorithms, strongest first. A field that is malformed is
// ignored as a whole, as RFC 9651, section 4.2, has it: it is no word on the file.
func OfContent(header map[string][]string, over Channel) []Claim {
	a := answer{over: over}
	lines := header[contentDigestField]
	if len(lines) == 0 || a.dictionary(contentDigestField, strings.Join(lines, ", ")) != nil || len(a.malformed) > 0 {
		return nil
	}
	slices.SortFunc(a.claims, byStrength)
	return slices.DeleteFunc(a.claims, func(c Claim) bool { return !c.Digest.Algorithm().Strong() })
}

// An answer collects the claims of one answer.
type answer struct {
	over      Channel
	claims    []Claim
	malformed []*DigestError
}

const (
	maxMalformed = 20      // values of an answer that are told as malformed
	maxValue     = 1 << 10 // bytes of a value that an error has
)

// spoil notes a value that is malformed. Errors are kept as long as a download runs, so what they hold of an answer is bounded.
func (a *answer) spoil(field, value, why string, err error) {
	if len(a.malformed) < maxMalformed {
		note := Claim{Field: field}.FromStore()
		a.malformed = append(a.malformed, &DigestError{Field: field, Value: excerpt(value), Why: why, Err: err, Note: note})
	}
}

// excerpt returns the beginning of value. The rest of the field that value is a part of is not kept in memory.
func excerpt(value string) string { return strings.Clone(value[:min(len(value), maxValue)]) }

// add notes one claim. A second one that says the same is dropped.
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

// digest reads a line of Digest: #(algorithm "=" encoded output). None of the encodings has a comma.
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

// parseInstance reads the value of an instance digest, which servers write in three ways (rule 33): base64
// of the raw digest as RFC 3230 wants, base64 of its hexadecimal digits as the examples of RFC 6249 have it,
// and the hexadecimal digits alone. Padding may be missing. The length tells them apart; no algorithm has two of the same.
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

// dictionary reads the field called name, a dictionary of byte sequences (RFC 9530, sections 2 and 3).
func (a *answer) dictionary(name, field string) error {
	field = padSequences(field)
	if _, err := httpsfv.UnmarshalDictionary([]string{field}); err != nil {
		a.spoil(name, field, "not a dictionary: "+err.Error(), err)
		return nil
	}
	// In a dictionary the last of several members with one key wins (RFC 9651, section 4.2.2). Two digests
	// are not a choice (rule 32), so each member is looked at by itself.
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
		item, _ := m.(httpsfv.Item) // else an inner list, and the zero Item has no bytes
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

// padSequences adds the padding that byte sequences in s lack: RFC 9651, section 4.2.7: "parsers SHOULD NOT fail when a Byte
// Sequence does not have padding". One begins with a colon where a value does, and ends with the next.
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

// pad is base64 with its padding.
func pad(v string) string { return v + strings.Repeat("=", -len(v)&3) }

// consumeMember splits s, a valid dictionary, after its first member (RFC 9651, section 4.2.2). A comma
// inside a string belongs to the member; no other value has one.
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

// closingQuote is the index of the quote that ends the string which begins at s[open].
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

// Want returns the values of Want-Digest (RFC 3230, section 4.3.1) and Want-Repr-Digest (RFC 9530, section 4) that ask
// for the digests that are of use.
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

// Field is the value of Digest (RFC 3230) that says ds.
func Field(ds ...Digest) string {
	var members []string
	for _, d := range ds {
		if !d.IsZero() {
			members = append(members, algorithms[d.alg].instance+"="+d.Base64())
		}
	}
	return strings.Join(members, ",")
}

// ReprField is the value of Repr-Digest (RFC 9530) that says ds.
func ReprField(ds ...Digest) string {
	dict := httpsfv.NewDictionary()
	for _, d := range ds {
		if !d.IsZero() {
			dict.Add(algorithms[d.alg].repr, httpsfv.NewItem(d.Bytes()))
		}
	}
	field, err := httpsfv.Marshal(dict)
	if err != nil {
		panic(err) // the keys are constants and the values bytes: both can be written
	}
	return field
}
