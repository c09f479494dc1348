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

	"braid/internal/job"
	"braid/internal/option"
)

// ConfigOptions are the options for reading a configuration.
type ConfigOptions struct {
	// Dir is the folder of the configuration file. Relative paths are relative to it.
	Dir string
	// Environment looks up a variable, as os.LookupEnv does. ReadFile reads a file that contains a secret.
	Environment func(name string) (value string, ok bool)
	ReadFile    func(path string) ([]byte, error)
	// NoSecrets ignores values that are stored in variables and files. It is for commands that ask for the status of a
	// watcher: the service manager gives the secrets to the watcher, but not to every process.
	NoSecrets bool
}

// mostKeys limits the number of keys in a configuration.
const mostKeys = 1_000_000

// ParseConfig parses a configuration. The error is an *option.Error.
func ParseConfig(data []byte, o ConfigOptions) (*Config, error) {
	var f file
	meta, err := toml.Decode(string(data), &f)
	if err != nil {
		return nil, explain(err)
	}
	b := &builder{ConfigOptions: o, meta: meta, data: string(data), paths: map[string]string{}}
	if len(meta.Keys()) > mostKeys {
		return nil, &option.Error{Why: "the configuration has too many keys"}
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
	// placed matches the parser's error for a value of the wrong type, with its line and key.
	placed = `^toml: line (\d+) \(last key "(.*)"\): (.*)$`
	// types matches the reason for a value of the wrong type, and ofTable the reason where a table is expected.
	types   = `^incompatible types: TOML value has type (\S+); destination has type (.+)$`
	ofTable = `^type mismatch for \S+: expected (\S+) but found (\S+)$`
)

// match returns the submatches of expression in message. It compiles the expression on use, because it is
// needed only after an error.
func match(expression, message string) []string {
	return regexp.MustCompile(expression).FindStringSubmatch(message)
}

// kinds maps the parser's names of types to the names in messages.
var kinds = map[string]string{
	"array": "list", "int64": "number", "integer": "number", "float64": "number", "float": "number",
	"bool": "boolean", "[]any": "list", "slice": "list", "[]interface {}": "list",
	"map[string]any": "table", "map": "table", "primitive (string-like)": "string",
}

// explain converts an error of the parser to an *option.Error.
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
		e.Why = "a " + kind(t[1]) + " is given where a " + kind(t[2]) + " is expected"
		if kind(t[1]) == kind(t[2]) {
			e.Why = "a fraction is given where a whole number is expected"
		}
	} else if t := match(ofTable, e.Why); t != nil {
		e.Why = "a " + kind(t[2]) + " is given where a " + kind(t[1]) + " is expected"
	}
	return e
}

func kind(word string) string {
	if ours := kinds[word]; ours != "" {
		return ours
	}
	return word
}

// unknown returns the error for a key that does not exist, with a suggestion.
func (b *builder) unknown(key toml.Key) error {
	line := b.line(key...)
	for n := 1; n < len(key); n++ { // report the table if the table itself does not exist
		if names := namesIn(tableOf(key[:n])); names != nil && !slices.Contains(names, key[n-1]) {
			key = key[:n]
		}
	}
	e := &option.Error{Line: line, Key: key.String(), Why: "unknown key"}
	names := namesIn(tableOf(key))
	if near := option.Nearest(key[len(key)-1], names); near != "" {
		e.Hint = "did you mean " + near + "?"
	} else if len(names) > 0 {
		slices.Sort(names)
		e.Hint = "choose one of " + strings.Join(names, ", ")
	}
	return e
}

// checkTables returns an error for keys in the wrong case, and for values of another type in place of tables. The
// parser silently ignores such keys and values.
func (b *builder) checkTables() error {
	for _, key := range b.meta.Keys() {
		for n := range key { // the parser ignores case, but [Feed.x] would not be used as a feed
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
			return b.wrong("a "+kind(strings.ToLower(is))+" is given where a table is expected", "", key...)
		}
	}
	return nil
}

// builder converts a parsed configuration to a Config.
type builder struct {
	ConfigOptions
	meta   toml.MetaData
	data   string
	config Config
	zone   int64
	// paths maps the path of each watched file to the name of its watch. prints are the patterns of the paths that are
	// not fixed.
	paths  map[string]string
	prints []footprint
}

// line returns the line of a key or of the innermost table around it; 0 if neither is found.
func (b *builder) line(key ...string) int {
	for n := len(key); n > 0; n-- {
		if line := option.Line(b.data, key[:n]); line > 0 {
			return line
		}
	}
	return 0
}

// wrong returns an error about a key.
func (b *builder) wrong(why, hint string, key ...string) error {
	return &option.Error{Line: b.line(key...), Key: toml.Key(key).String(), Why: why, Hint: hint}
}

// names returns the names of the tables of a kind, in the order of the file.
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

// path returns p. A relative p is joined to the folder of the configuration.
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

// keysOf returns the values of key =. A value that is a path is changed by b.path.
func (b *builder) keysOf(words []string) (out []string) {
	for _, word := range words {
		if !job.IsKey(word) {
			word = b.path(word)
		}
		out = append(out, word)
	}
	return out
}
