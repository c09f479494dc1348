package feed

import "strings"

// An Index finds the watches for the URL of a record, in a time that does not depend on their number. The zero Index is
// empty.
type Index[W any] struct{ exact, folded map[string][]W }

// Add adds a watch of url. Characters that are not allowed in a URL need not be escaped, unlike in records. It reports
// whether url can be watched.
func (x *Index[W]) Add(url string, w W) bool {
	url = escapeStray(url)
	key, ok := Key(url)
	if !ok {
		return false
	}
	if x.exact == nil {
		x.exact, x.folded = map[string][]W{}, map[string][]W{}
	}
	folded, _ := FoldedKey(url)
	x.exact[key] = append(x.exact[key], w)
	x.folded[folded] = append(x.folded[folded], w)
	return true
}

// Find returns the watches of the URL of r: by Key, or else, for a record of LIRS, by FoldedKey.
func (x *Index[W]) Find(r Record) []W {
	key, ok := Key(r.URL)
	if !ok {
		return nil
	}
	found := x.exact[key]
	if len(found) == 0 && r.Format == LIRS {
		key, _ = FoldedKey(r.URL)
		found = x.folded[key]
	}
	return found
}

// escapeStray percent-encodes the ASCII characters that a URL must not contain (RFC 3986, appendix A).
func escapeStray(url string) string {
	const stray = " \"<>\\^`{|}"
	if !strings.ContainsAny(url, stray) {
		return url
	}
	b := make([]byte, 0, len(url)+8)
	for i := range len(url) {
		if strings.IndexByte(stray, url[i]) >= 0 {
			b = escape(b, url[i])
		} else {
			b = append(b, url[i])
		}
	}
	return string(b)
}
