package byterange

import (
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The fuzz tests compare the parsers with the grammars of RFC 9110, sections 14.1.1 and 14.4, written as regular
// expressions and with numbers of any size.
var (
	contentRangeForm = regexp.MustCompile(`^(?i:bytes) ([0-9]+)-([0-9]+)/(\*|[0-9]+)$`)
	unsatisfiedForm  = regexp.MustCompile(`^(?i:bytes) \*/([0-9]+)$`)
	rangeForm        = regexp.MustCompile(`^(?i:bytes)=(.*)$`)
	specForm         = regexp.MustCompile(`^([0-9]*)-([0-9]*)$`)
	unbounded        = big.NewInt(Unbounded)
)

func number(digits string) *big.Int {
	n, _ := new(big.Int).SetString(digits, 10)
	return n
}

// makesSense checks the part of rule 13 that the grammar cannot express.
func makesSense(first, last *big.Int, size string) bool {
	end := new(big.Int).Add(last, big.NewInt(1))
	if last.Cmp(first) < 0 || end.Cmp(unbounded) >= 0 {
		return false
	}
	return size == "*" || number(size).Cmp(last) > 0 && number(size).Cmp(unbounded) < 0
}

func FuzzParseContentRange(f *testing.F) {
	for _, v := range []string{
		"bytes 0-499/1234", "BYTES 5-9/*", "bytes 499-0/1234", "bytes */1234", "bytes 0-9223372036854775806/*",
		"bytes 0-0/9223372036854775807", "bytes 0-18446744073709551616/18446744073709551617", " bytes 0-1/2",
	} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		c, err := ParseContentRange(v)
		m := contentRangeForm.FindStringSubmatch(v)
		if want := m != nil && makesSense(number(m[1]), number(m[2]), m[3]); (err == nil) != want {
			t.Fatalf("%q: error is %v, but valid is %t", v, err, want)
		}
		if err != nil {
			return
		}
		if number(m[1]).Int64() != c.Range.Start || number(m[2]).Int64() != c.Range.End-1 || c.Range.End == Unbounded {
			t.Fatalf("%q: range %v", v, c.Range)
		}
		again, err := ParseContentRange(c.String())
		if err != nil || again != c {
			t.Fatalf("%q printed as %q: %+v, %v, want %+v", v, c, again, err, c)
		}
	})
}

func FuzzParseUnsatisfied(f *testing.F) {
	for _, v := range []string{"bytes */1234", "bytes */*", "bytes */9223372036854775807", "bytes 0-1/2"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		size, err := ParseUnsatisfied(v)
		m := unsatisfiedForm.FindStringSubmatch(v)
		if want := m != nil && number(m[1]).Cmp(unbounded) < 0; (err == nil) != want {
			t.Fatalf("%q: error is %v, but valid is %t", v, err, want)
		}
		if err != nil {
			return
		}
		again, err := ParseUnsatisfied(ContentRange{Size: size}.String())
		if err != nil || again != size || number(m[1]).Int64() != size {
			t.Fatalf("%q: %d, printed and parsed %d, %v", v, size, again, err)
		}
	})
}

// wantRanges is a second implementation of ParseRange that follows RFC 9110, section 14.1.1.
func wantRanges(v string, size int64) (want []Range, valid bool) {
	m := rangeForm.FindStringSubmatch(v)
	if m == nil {
		return nil, false
	}
	for element := range strings.SplitSeq(m[1], ",") {
		element = strings.Trim(element, " \t")
		if element == "" {
			continue
		}
		m := specForm.FindStringSubmatch(element)
		if m == nil || m[1] == "" && m[2] == "" {
			return nil, false
		}
		first, end := new(big.Int), big.NewInt(size)
		switch {
		case m[1] == "": // suffix range
			if first.Sub(end, number(m[2])); first.Sign() < 0 {
				first.SetInt64(0)
			}
		case m[2] != "":
			last := number(m[2])
			if last.Cmp(number(m[1])) < 0 && last.Cmp(unbounded) < 0 { // numbers beyond Unbounded are all equal
				return nil, false
			}
			if last.Cmp(end) < 0 {
				end.Add(last, big.NewInt(1))
			}
			fallthrough
		default:
			first = number(m[1])
		}
		valid = true
		if first.Cmp(end) < 0 {
			want = append(want, Range{first.Int64(), end.Int64()})
		}
	}
	return want, valid && size > 0
}

func FuzzParseRange(f *testing.F) {
	for _, v := range []string{
		"bytes=0-499", "bytes=500-", "bytes=-500", "bytes=-0", "bytes=, 0-0 ,1-1", "bytes=9-8", "pages=1-2",
		"bytes=99999999999999999999-", "bytes=0-99999999999999999999", "bytes=-", "bytes=1-2-3",
		"bytes=9999999999999999999999-9999999999999999999998",
	} {
		f.Add(v, int64(1000))
		f.Add(v, int64(0))
		f.Add(v, int64(Unbounded-1))
	}
	f.Fuzz(func(t *testing.T, v string, size int64) {
		size &= Unbounded
		got, err := ParseRange(v, size)
		want, valid := wantRanges(v, size)
		if !slices.Equal(got, want) && valid {
			t.Fatalf("%q of %d: %v, want %v", v, size, got, want)
		}
		unsatisfiable := valid && len(want) == 0
		if errors.Is(err, ErrUnsatisfiable) != unsatisfiable || (err == nil) != (valid && !unsatisfiable) {
			t.Fatalf("%q of %d: error is %v, but valid is %t and the ranges are %v", v, size, err, valid, want)
		}
		for _, r := range got {
			again, err := ParseRange(r.Field(), size)
			if err != nil || !slices.Equal(again, []Range{r}) {
				t.Fatalf("%v printed as %q: %v, %v", r, r.Field(), again, err)
			}
		}
	})
}
