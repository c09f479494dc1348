package option

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// The settings file has values of flags for all commands or for one command, and values for sites. They are written as
// on the command line.
//
//	limit-rate = "20M"
//	mirror = ["https://mirror.example.net/disk.iso"]
//
//	[get]
//	dir = "~/downloads"
//
//	[site."https://example.org/pub/*"]
//	keyring = ["example.asc"]
//	require = "signature"
//
//	[forge.work]
//	like = "Forgejo"
//	host = "git.example.org"

// known has the names and kinds of the options of each command.
type known map[string]map[string]Kind

// Value is the value of a flag in the settings file.
type Value struct {
	Words []string // words as on the command line; "true" or "false" for a switch
	Line  int
}

// Settings is a parsed settings file. A nil *Settings is empty.
type Settings struct {
	values map[string]map[string]Value // by command and flag; the command "" means all commands
	Sites  []Site                      // sorted: longer paths, and so more specific patterns, first
	Forges []Forge                     // by name
}

// Error is an error in a settings file, a list or a command line, with its position.
type Error struct {
	Line      int // 0 if unknown
	Key       string
	Why, Hint string
}

func (e *Error) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Key != "" {
		where += e.Key + ": "
	}
	return where + e.Why
}

// ParseSettings parses data, the content of the settings file. The error is an *Error.
func ParseSettings(data []byte) (*Settings, error) { return parseSettings(data, settable()) }

func parseSettings(data []byte, known known) (*Settings, error) {
	var top map[string]any
	if _, err := toml.Decode(string(data), &top); err != nil {
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			// At the end of a line, Position.Line is the number of the next line.
			line := 1 + strings.Count(string(data[:min(e.Position.Start, len(data))]), "\n")
			return nil, &Error{Line: line, Key: e.LastKey, Why: e.Message}
		}
		return nil, &Error{Why: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	r := &reader{data: string(data), known: known}
	return r.read(top)
}

// reader converts decoded TOML to Settings.
type reader struct {
	data  string
	known known
}

func (r *reader) read(top map[string]any) (*Settings, error) {
	f := &Settings{values: map[string]map[string]Value{"": {}}}
	all := r.all()
	for _, name := range sorted(top) {
		table, isTable := top[name].(map[string]any)
		var err error
		switch {
		case isTable && name == "site":
			f.Sites, err = r.sites(table)
		case isTable && name == "forge":
			f.Forges, err = r.forges(table)
		case isTable && r.known[name] != nil:
			f.values[name], err = r.table(table, r.known[name], name)
		case name == "site" || name == "forge" || r.known[name] != nil && all[name] == 0:
			err = r.wrong([]string{name}, "want a table", "["+name+"]")
		default:
			var v Value
			v, err = r.value(top[name], all, slices.Concat(slices.Collect(maps.Keys(r.known)), []string{"site", "forge"}), name)
			f.values[""][name] = v
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// all returns the flags of all commands. For flags of the same name, it returns the more general kind.
func (r *reader) all() map[string]Kind {
	all := map[string]Kind{}
	for _, flags := range r.known {
		for name, kind := range flags {
			all[name] = max(all[name], kind)
		}
	}
	return all
}

// table reads the values of table. Its keys must be in known. path is the table's position in the file.
func (r *reader) table(table map[string]any, known map[string]Kind, path ...string) (map[string]Value, error) {
	values := map[string]Value{}
	for _, name := range sorted(table) {
		v, err := r.value(table[name], known, nil, append(path[:len(path):len(path)], name)...)
		if err != nil {
			return nil, err
		}
		values[name] = v
	}
	return values, nil
}

// value reads v, the value at path. Its key must be in known. tables are names of tables that are also suggested
// instead of an unknown key.
func (r *reader) value(v any, known map[string]Kind, tables []string, path ...string) (Value, error) {
	name := path[len(path)-1]
	kind, ok := known[name]
	if !ok {
		return Value{}, r.unknown(path, append(slices.Collect(maps.Keys(known)), tables...))
	}
	words, isList := v.([]any)
	if !isList {
		words = []any{v}
	}
	value := Value{Line: Line(r.data, path)}
	for _, w := range words {
		word, is := wordOf(w)
		switch {
		case is == "" || isList && !kind.isList() || (kind == Switch) != (is == "boolean"):
			if isList && !kind.isList() {
				is = "list"
			}
			return Value{}, r.wrong(path, "a "+cmp.Or(is, "table or a date")+" is given where "+kind.String()+" is expected", "")
		case word == "":
			return Value{}, r.wrong(path, emptyValue, leaveOut)
		case kind.isAmount() && bareRate(word) != "":
			return Value{}, r.wrong(path, "a number this small may be meant in another unit",
				fmt.Sprintf(`write "%[1]sK", "%[1]sM" or "%[1]sB"`, bareRate(word)))
		}
		value.Words = append(value.Words, word)
	}
	if len(words) == 0 {
		return Value{}, r.wrong(path, emptyValue, leaveOut)
	}
	if kind == Rates {
		value.Words = []string{strings.Join(value.Words, ", ")}
	}
	return value, nil
}

const emptyValue, leaveOut = "the value is empty", "leave the key out"

// wordOf returns v as a word on a command line, and the name of its type.
func wordOf(v any) (word, is string) {
	switch v := v.(type) {
	case string:
		return v, "string"
	case bool:
		return strconv.FormatBool(v), "boolean"
	case int64:
		return strconv.FormatInt(v, 10), "number"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), "number"
	}
	return "", ""
}

func (r *reader) unknown(path, names []string) error {
	hint := ""
	if near := Nearest(path[len(path)-1], names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return r.wrong(path, "unknown key", hint)
}

func (r *reader) wrong(path []string, why, hint string) error {
	return &Error{Line: Line(r.data, path), Key: toml.Key(path).String(), Why: why, Hint: hint}
}

// locator finds the line of a value. It refuses every value, because the parser reports lines only in errors.
type locator struct{}

var errHere = errors.New("here")

func (*locator) UnmarshalTOML(any) error { return errHere }

// Line returns the line of the key at path in data, a TOML file. It returns 0 if the key is missing.
func Line(data string, path []string) int {
	var table map[string]toml.Primitive
	meta, err := toml.Decode(data, &table)
	for _, name := range path[:len(path)-1] {
		value, ok := table[name]
		if err != nil || !ok {
			return 0
		}
		table = nil
		err = meta.PrimitiveDecode(value, &table)
	}
	value, ok := table[path[len(path)-1]]
	if err != nil || !ok {
		return 0
	}
	if e, ok := errors.AsType[toml.ParseError](meta.PrimitiveDecode(value, &locator{})); ok {
		return e.Position.Line
	}
	return 0
}

func sorted(table map[string]any) []string { return slices.Sorted(maps.Keys(table)) }

// Timed reports whether v has rates by the time of day. Only commands that download support these.
func (v Value) Timed() bool {
	var rates RatesValue
	return len(v.Words) == 1 && strings.Contains(v.Words[0], "-") && rates.Set(v.Words[0]) == nil
}

// Own reports whether the table for command, rather than the general settings, sets flag.
func (f *Settings) Own(command, flag string) bool {
	_, ok := f.values[command][flag]
	return ok && command != ""
}

// Value returns the value of a flag for command. A value in the command's own table takes precedence over the value for
// all commands.
func (f *Settings) Value(command, flag string) (Value, bool) {
	if f == nil {
		return Value{}, false
	}
	if v, ok := f.values[command][flag]; ok && command != "" {
		return v, true
	}
	v, ok := f.values[""][flag]
	return v, ok
}
