package option

// A Forge is a row in the user's table of forges and registries. Lookups ask these for digests of files.
type Forge struct {
	Name   string
	Line   int
	Values map[string][]string // by key; "true" or "false" for a switch
}

// forgeKeys are the keys that a row may have. Package lookup has the same keys.
var forgeKeys = map[string]Kind{
	"like": Word, "host": Word, "api": Word,
	"url": Words, "ask": Word, "query": Word, "delivery": Words, "lines": Switch, "list": Word, "at": Words, "only": Words,
	"digest": Word, "sha256": Word,
}

// forges reads the rows in tables, sorted by name.
func (r *reader) forges(tables map[string]any) (forges []Forge, err error) {
	for _, name := range sorted(tables) {
		path := []string{"forge", name}
		table, ok := tables[name].(map[string]any)
		if !ok {
			return nil, r.wrong(path, "want a table", "[forge.NAME]")
		}
		values, err := r.table(table, forgeKeys, path...)
		if err != nil {
			return nil, err
		}
		f := Forge{Name: name, Line: Line(r.data, path), Values: map[string][]string{}}
		for key, value := range values {
			if f.Values[key] = value.Words; f.Line == 0 {
				f.Line = value.Line // the table is written with dotted keys
			}
		}
		forges = append(forges, f)
	}
	return forges, nil
}
