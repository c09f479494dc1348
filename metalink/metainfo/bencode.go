package metainfo

import (
	"strconv"
	"strings"
)

// A value is one value of bencoding (BEP 3): an integer, a string, a list or a dictionary.
type value struct {
	kind byte   // i, s, l or d; 0 if missing
	raw  string // as written in the document
	num  int64
	text string
	list []value
	dict map[string]value
}

// A reader consumes values. It limits their number, because a value takes more memory than its text of at least two
// bytes.
type reader struct {
	all    string
	rest   string
	values int
}

// read parses data, which must be one value.
func read(data string) (value, error) {
	r := &reader{all: data, rest: data}
	v, err := r.value(0)
	if err == nil && strings.Trim(r.rest, "\r\n") != "" { // line ends after the value are ignored, as by other clients
		err = r.fault("data follows its end")
	}
	return v, err
}

func (r *reader) fault(why string) error {
	return &Error{What: "torrent", Offset: len(r.all) - len(r.rest), Why: why}
}

// value consumes the next value.
func (r *reader) value(depth int) (v value, err error) {
	begin := r.rest
	if r.values++; r.values > maxValues {
		return v, r.fault("it has more than " + strconv.Itoa(maxValues) + " values")
	}
	if depth > maxDepth {
		return v, r.fault("lists and dictionaries are nested more than " + strconv.Itoa(maxDepth) + " deep")
	}
	if begin == "" {
		return v, r.fault("it is cut off")
	}
	switch begin[0] {
	case 'i':
		v.kind = 'i'
		v.num, err = r.integer()
	case 'l':
		v.kind = 'l'
		v.list, err = r.items(depth)
	case 'd':
		v.kind = 'd'
		v.dict, err = r.pairs(depth)
	default:
		v.kind = 's'
		v.text, err = r.text()
	}
	v.raw = begin[:len(begin)-len(r.rest)]
	return v, err
}

// integer consumes "i", the number and "e". BEP 3: "Integers have no size limitation. i-0e is invalid. All encodings
// with a leading zero, such as i03e, are invalid, other than i0e". Here they are limited to 64 bits.
func (r *reader) integer() (int64, error) {
	const most = len("-9223372036854775808")
	digits, _, ok := strings.Cut(r.rest[1:min(len(r.rest), 1+most+1)], "e")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || strconv.FormatInt(n, 10) != digits {
		return 0, r.fault("an integer is invalid or exceeds 64 bits")
	}
	r.rest = r.rest[1+len(digits)+1:]
	return n, nil
}

// text consumes the length, a colon and that many bytes.
func (r *reader) text() (string, error) {
	digits, _, ok := strings.Cut(r.rest[:min(len(r.rest), 10+1)], ":")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil || strconv.FormatUint(n, 10) != digits {
		return "", r.fault("a value is missing")
	}
	rest := r.rest[len(digits)+1:]
	if n > uint64(len(rest)) {
		return "", r.fault("a string is cut off")
	}
	r.rest = rest[n:]
	return rest[:n], nil
}

// items consumes "l", the values of a list and "e".
func (r *reader) items(depth int) (list []value, err error) {
	r.rest = r.rest[1:]
	for !strings.HasPrefix(r.rest, "e") {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	r.rest = r.rest[1:]
	return list, nil
}

// pairs consumes "d", the keys and values of a dictionary and "e". BEP 3 requires sorted keys, but some writers do not
// sort them and nothing depends on the order. A duplicate key is an error, because some readers use the first value and
// others the last.
func (r *reader) pairs(depth int) (dict map[string]value, err error) {
	dict = map[string]value{}
	r.rest = r.rest[1:]
	for !strings.HasPrefix(r.rest, "e") {
		at := r.rest
		key, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		_, again := dict[key.text]
		if again || key.kind != 's' {
			r.rest = at
			return nil, r.fault("a key is not a string, or appears twice")
		}
		if dict[key.text], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	r.rest = r.rest[1:]
	return dict, nil
}

func appendText(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, ':')
	return append(b, s...)
}

// appendPair appends a key and a number.
func appendPair(b []byte, key string, n int64) []byte {
	b = append(appendText(b, key), 'i')
	b = strconv.AppendInt(b, n, 10)
	return append(b, 'e')
}
