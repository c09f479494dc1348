package watch

import (
	"errors"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"braid/internal/option"
)

// ConfigOptions are what a configuration is read with.
type ConfigOptions struct {
	// Dir is the folder of the file. Relative paths begin there.
	Dir string
	// Environment looks a variable up, as os.LookupEnv does, and ReadFile reads a file that has a secret.
	Environment func(name string) (value string, ok bool)
	ReadFile    func(path string) ([]byte, error)
	// NoSecrets leaves out what stands in variables and files. It is for asking how a watcher stands: that the service
	// manager gives the watcher its secrets does not mean that every process gets them.
	NoSecrets bool
}

// mostKeys bounds a configuration.
const mostKeys = 1_000_000

// ParseConfig reads a configuration. The error is an *option.Error.
func ParseConfig(data []byte, o ConfigOptions) (*Config, error) {
	var f file
	meta, err := toml.Decode(string(data), &f)
	if err != nil {
		return nil, explain(err)
	}
	b := &builder{ConfigOptions: o, meta: meta, data: string(data), paths: map[string]string{}}
	if len(meta.Keys()) > mostKeys {
		return nil, &option.Error{Why: "it has too many keys"}
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, b.unknown(unknown[0])
	}
	if err := b.checkTables(); err != nil {
		return nil, err
	}
	if err := b.checkEmpty(reflect.ValueOf(&f).Elem()); err != nil {
		return nil, err
	}
	return b.build(&f)
}

const (
	// placed is how the parser says where a value has the wrong type.
	placed = `^toml: line (\d+) \(last key "(.*)"\): (.*)$`
	// types is how it says so of a value, and ofTable of a table.
	types   = `^incompatible types: TOML value has type (\S+); destination has type (.+)$`
	ofTable = `^type mismatch for \S+: expected (\S+) but found (\S+)$`
)

// match finds the parts of a message. Expressions are compiled when something is wrong, and not whenever the program starts.
func match(expression, message string) []string {
	return regexp.MustCompile(expression).FindStringSubmatch(message)
}

// kinds are the parser's words for types, and ours.
var kinds = map[string]string{
	"array": "list", "int64": "number", "integer": "number", "float64": "number", "float": "number", "bool": "boolean", "[]any": "list", "slice": "list", "[]interface {}": "list",
	"map[string]any": "table", "map": "table", "primitive (string-like)": "string",
}

// explain makes an *option.Error of what the parser says.
func explain(err error) error {
	if e, ok := errors.AsType[toml.ParseError](err); ok {
		return &option.Error{Line: e.Position.Line, Key: e.LastKey, Why: e.Message}
	}
	m := match(placed, err.Error())
	if m == nil {
		return &option.Error{Why: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	e := &option.Error{Key: m[2], Why: m[3]}
	e.Line, _ = strconv.Atoi(m[1])
	if t := match(types, e.Why); t != nil {
		e.Why = "a " + kind(t[1]) + " where a " + kind(t[2]) + " belongs"
		if kind(t[1]) == kind(t[2]) {
			e.Why = "a fraction where a whole number belongs"
		}
	} else if t := match(ofTable, e.Why); t != nil {
		e.Why = "a " + kind(t[2]) + " where a " + kind(t[1]) + " belongs"
	}
	return e
}

func kind(word string) string {
	if ours := kinds[word]; ours != "" {
		return ours
	}
	return word
}

// unknown says that there is no such key, and which one may be meant.
func (b *builder) unknown(key toml.Key) error {
	line := b.line(key...)
	for n := 1; n < len(key); n++ { // a table that does not exist, rather than what is in it
		if names := namesIn(tableOf(key[:n])); names != nil && !slices.Contains(names, key[n-1]) {
			key = key[:n]
		}
	}
	e := &option.Error{Line: line, Key: key.String(), Why: "no such key"}
	names := namesIn(tableOf(key))
	if near := option.Nearest(key[len(key)-1], names); near != "" {
		e.Hint = "did you mean " + near + "?"
	} else if len(names) > 0 {
		slices.Sort(names)
		e.Hint = "there are " + strings.Join(names, ", ")
	}
	return e
}

// checkTables refuses keys in other letters, and other values where tables belong: the parser takes them for none.
func (b *builder) checkTables() error {
	for _, key := range b.meta.Keys() {
		for n := range key { // the parser finds a name in other letters, too, and [Feed.x] would be no feed
			if t := tableOf(key[:n+1]); t != nil {
				if _, ok := fieldOf(t, key[n]); !ok {
					return b.unknown(key)
				}
			}
		}
		t := tableOf(key)
		if t == nil {
			continue
		}
		f, ok := fieldOf(t, key[len(key)-1])
		if is := b.meta.Type(key...); ok && f.Kind() == reflect.Map && is != "Hash" {
			return b.wrong("a "+kind(strings.ToLower(is))+" where a table belongs", "", key...)
		}
	}
	return nil
}

// A builder makes a Config of what is written.
type builder struct {
	ConfigOptions
	meta   toml.MetaData
	data   string
	config Config
	zone   int64
	// paths are the files of watches, by name, and prints all that their files may be called.
	paths  map[string]string
	prints []footprint
}

// line is where a key is, or the table that it is in; 0 if there is none.
func (b *builder) line(key ...string) int {
	for n := len(key); n > 0; n-- {
		if line := option.Line(b.data, key[:n]); line > 0 {
			return line
		}
	}
	return 0
}

// wrong says what is wrong with a key.
func (b *builder) wrong(why, hint string, key ...string) error {
	return &option.Error{Line: b.line(key...), Key: toml.Key(key).String(), Why: why, Hint: hint}
}

// names are the names of tables, in the order in which they stand.
func (b *builder) names(kind string) (names []string) {
	seen := map[string]bool{}
	for _, key := range b.meta.Keys() {
		if len(key) > 1 && key[0] == kind && !seen[key[1]] {
			seen[key[1]] = true
			names = append(names, key[1])
		}
	}
	return names
}

// path is a path, which begins at the file's folder if it is relative.
func (b *builder) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(b.Dir, p)
}

func (b *builder) pathsOf(list []string) (out []string) {
	for _, p := range list {
		out = append(out, b.path(p))
	}
	return out
}
