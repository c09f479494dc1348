package feed

// An Index finds the watches of the URL of a record, in a time that does not depend on their number. The zero Index is empty.
type Index[W any] struct{ exact, folded map[string][]W }

// Add has w watch url. It reports whether url can be watched.
func (x *Index[W]) Add(url string, w W) bool {
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

// Find returns the watches of what r is about: by Key, or else, for a record of LIRS, by FoldedKey.
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
