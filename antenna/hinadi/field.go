package hinadi

import (
	"strings"
)

// hinaLine is the only first line of a feed that the grammar allows (section 5.1).
const hinaLine = "HINA/2.2beta"

// A kind is the type of a field's values.
type kind int

const (
	undefined kind = iota // any text (sections 6 and 7)
	text                  // TOKEN
	uri
	date
	contentType
	version
	method
	count // 1*DIGIT
)

// kinds maps the fields of an entity block that the specification defines (section 5) to their kinds.
var kinds = map[string]kind{
	"URL": uri, "Virtual": uri, "Authorized-url": uri,
	"Date": date, "Expires": date, "Expire": date, "Last-Modified": date, "Last-Modified-Detected": date,
	"Title": text, "Author-Name": text, "Server": text, "Authorized": text, "Keyword": text,
	"HINA-Version": version, "Content-Type": contentType, "Method": method,
	"Image-Width": count, "Image-Height": count,
}

// spellings maps names in lower case to their canonical spelling.
var spellings = func() map[string]string {
	m := map[string]string{"user-agent": "User-Agent", "vitural": "Virtual"} // a misprint in the grammar of section 5.5
	for name := range kinds {
		m[strings.ToLower(name)] = name
	}
	return m
}()

// canonicalName returns the specification's spelling of a name. Other names are returned unchanged. Case is ignored
// (section 4.1).
func canonicalName(name string) string {
	if _, ok := kinds[name]; ok {
		return name
	}
	if known, ok := spellings[strings.ToLower(name)]; ok {
		return known
	}
	return name
}

// keyOf returns a key that is equal for all spellings of a canonical name.
func keyOf(name string) string {
	if _, ok := kinds[name]; ok {
		return name
	}
	return strings.ToLower(name)
}

// cutField splits a line into field-name, SEPARATOR and field-value (section 4.1). blanks is the number of blanks after
// the colon. The caller must check blanks, and whether the value is empty.
func cutField(line string) (name, value string, blanks int, ok bool) {
	colon := strings.IndexByte(line, ':')
	if colon <= 0 || !isFieldName(line[:colon]) || !isText(line) {
		return "", "", 0, false
	}
	rest := line[colon+1:]
	value = strings.TrimLeft(rest, " \t")
	return line[:colon], value, len(rest) - len(value), true
}

// isFieldName reports whether s is WORD *("-" WORD).
func isFieldName(s string) bool {
	last := byte('-')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '-' && last == '-':
			return false
		case c != '-' && !isAlphanumeric(c):
			return false
		}
		last = c
	}
	return last != '-'
}

// isText reports whether s consists of TEXT (section 3.2): no control characters except HT.
func isText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }
