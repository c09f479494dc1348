package feed

// An Index finds the watches of the URL of a record, in a time that does not depend on their number. The zero Index is empty.
type Index[W any] struct {
	// Loose lets a record find a watch by LooseKey, if that leads to a single one.
	Loose bool

	exact, folded, loose map[string][]W
}

// Add has w watch url. It reports whether url can be watched.
func (x *Index[W]) Add(url string, w W) bool {
	if x.exact == nil {
		x.exact, x.folded, x.loose = map[string][]W{}, map[string][]W{}, map[string][]W{}
	}
	key, ok := Key(url)
	if !ok {
		return false
	}
	x.exact[key] = append(x.exact[key], w)
	key, _ = FoldedKey(url)
	x.folded[key] = append(x.folded[key], w)
	key, _ = LooseKey(url)
	x.loose[key] = append(x.loose[key], w)
	return true
}

// Find returns the watches of what r is about: by Key, else, for a record of LIRS, by FoldedKey, else by LooseKey.
func (x *Index[W]) Find(r Record) []W {
	key, ok := Key(r.URL)
	if !ok {
		return nil
	}
	if found := x.exact[key]; len(found) > 0 {
		return found
	}
	if r.Format == LIRS {
		key, _ = FoldedKey(r.URL)
		if found := x.folded[key]; len(found) > 0 {
			return found
		}
	}
	if !x.Loose {
		return nil
	}
	key, _ = LooseKey(r.URL)
	if found := x.loose[key]; len(found) == 1 {
		return found
	}
	return nil
}
