package lookup

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"braid/address"
	"braid/internal/once"
	"braid/verify"
)

// A Forge is a row of the table of forges and registries: the URLs of its files, the question about a file, and the
// fields of the answer. It does not change.
type Forge struct {
	Name string
	URL  []string // expressions for the URLs of files, without queries; their groups are variables
	// Ask is the URL of the question. {tag} is a variable as in the URL of the file, {project:joined} has %2F for each
	// slash, {crate:index} is the path of a name in the index of crates.io, {file:plain} is without escapes, and
	// {platform:ruby} is ruby if the variable is empty.
	Ask      string
	Query    string   // the query that a URL may have
	Delivery []string // hosts to which the file host redirects
	Token    bool     // the question may carry the user's token
	Lines    bool     // the answer has an object in each line
	List     string   // the path of the list of files in the answer; empty: the answer is the list
	At       []string // fields with the URL of a file, which must be the URL asked about
	Only     map[string]string
	Digest   string // field with ALGORITHM:HEX
	SHA256   string // field with the digits

	urls []*regexp.Regexp
	own  bool // the row is from the user's table
}

//go:embed forges.json
var forgeTable []byte

// Forges returns the rows of the table. The caller keeps the result, because reading the table takes longer than the
// start of other packages.
func Forges() []*Forge { return readForges(forgeTable) }

// readForges reads the table, which is part of the program.
func readForges(table []byte) (all []*Forge) {
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	err := d.Decode(&all)
	for _, f := range all {
		err = errors.Join(err, f.compile())
	}
	if err != nil {
		panic(err)
	}
	return all
}

// MaxAnswer limits the answer of a forge, in bytes.
const MaxAnswer = 4 << 20

// A Question to a forge is about one file.
type Question struct {
	URL   *url.URL // over https
	Token bool     // the question may carry the user's token for the host of URL
	Own   bool     // the row is from the user's table

	of   *Forge
	file *url.URL
	vars map[string]string
}

// Ask returns the question about the file at u, if a row of forges fits u. The first such row is used.
func Ask(u *url.URL, forges []*Forge) (*Question, bool) {
	if u.Scheme != "https" || u.Host == "" {
		return nil, false
	}
	host := strings.TrimSuffix(strings.ToLower(address.HostPort(u)), ":443")
	plain := url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawPath: u.RawPath}
	for _, f := range forges {
		if u.RawQuery != "" && u.RawQuery != f.Query {
			continue
		}
		for _, e := range f.urls {
			m := e.FindStringSubmatch(plain.String())
			if m == nil || m[0] != plain.String() {
				continue
			}
			q := &Question{Token: f.Token, Own: f.own, of: f, file: &plain, vars: map[string]string{}}
			for i, name := range e.SubexpNames() {
				if q.vars[name] = m[i]; m[i] == "." || m[i] == ".." {
					return nil, false
				}
			}
			at, err := url.Parse(q.fill(f.Ask))
			q.URL = at
			return q, err == nil
		}
	}
	return nil, false
}

// Forge returns the name of the forge.
func (q *Question) Forge() string { return q.of.Name }

// Delivers reports whether the forge redirects to the host of u for its files.
func (q *Question) Delivers(u *url.URL) bool {
	return u.Scheme == "https" && slices.Contains(q.of.Delivery, strings.TrimSuffix(address.HostPort(u), ":443"))
}

var variable = once.Pattern(`\{(\w+)(?::(\w+))?\}`)

// fill puts the variables into a text of the table.
func (q *Question) fill(text string) string {
	return variable().ReplaceAllStringFunc(text, func(word string) string {
		m := variable().FindStringSubmatch(word)
		value := q.vars[m[1]]
		switch m[2] {
		case "":
			return value
		case "joined":
			return strings.ReplaceAll(value, "/", "%2F")
		case "index":
			return indexPath(strings.ToLower(value))
		case "plain":
			plain, err := url.PathUnescape(value)
			if err != nil {
				return value
			}
			return plain
		}
		if value == "" {
			return m[2]
		}
		return value
	})
}

// indexPath returns the path of a crate in the index of crates.io.
func indexPath(name string) string {
	switch len(name) {
	case 0, 1, 2:
		return string('0'+byte(len(name))) + "/" + name
	case 3:
		return "3/" + name[:1] + "/" + name
	}
	return name[:2] + "/" + name[2:4] + "/" + name
}

// An Answer is a forge's answer about a file.
type Answer struct {
	Claims []verify.Claim // digests of the file, also weak digests
	// Names has the names of the files that the forge has beside the file, and of the file itself.
	Names []string
}

// ErrNoFile is the error of an answer of a forge that does not have the file.
var ErrNoFile = errors.New("it does not have this file")

var errAnswer = errors.New("not the expected form of answer")

// Read reads an answer that came over a channel. It returns an error if the answer cannot be read or lacks the file. If
// the answer contradicts itself, the error is a *verify.ConflictError.
func (q *Question) Read(data []byte, over verify.Channel) (a Answer, err error) {
	entries, err := q.entries(data)
	if err != nil {
		return a, err
	}
	folder, _, _ := Split(q.file)
	has := false
	for _, e := range entries {
		at := q.addresses(e)
		for _, u := range at {
			if name, ok := nameIn(folder, u.String()); ok && !slices.Contains(a.Names, name) {
				a.Names = append(a.Names, name)
			}
		}
		if len(a.Names) > maxNames {
			return Answer{}, errNames
		}
		if !q.means(e, at) {
			continue
		}
		has = true
		if d, ok := q.digest(e); ok {
			claims := []verify.Claim{{Digest: d, Field: q.URL.Host, Channel: over}}
			if err := verify.Agree(a.Claims, claims); err != nil {
				return Answer{}, err
			}
			a.Claims = claims
		}
	}
	if !has {
		return Answer{}, ErrNoFile
	}
	return a, nil
}

// entries returns the entries of the answer, each about one file.
func (q *Question) entries(data []byte) (entries []any, err error) {
	if q.of.Lines {
		for line := range bytes.Lines(data) {
			var e any
			if json.Unmarshal(line, &e) != nil {
				return nil, errAnswer
			}
			entries = append(entries, e)
		}
		return entries, nil
	}
	var answer any
	if json.Unmarshal(data, &answer) != nil {
		return nil, errAnswer
	}
	entries, ok := at(answer, q.of.List).([]any)
	if !ok {
		return nil, errAnswer
	}
	return entries, nil
}

// at returns the value at a path of fields, separated by dots, or nil.
func at(v any, path string) any {
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path, ".")
		fields, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = fields[name]
	}
	return v
}

// text returns the string at a path, or an empty string.
func text(v any, path string) string {
	s, _ := at(v, path).(string)
	return s
}

// addresses returns the URLs of an entry.
func (q *Question) addresses(e any) (all []*url.URL) {
	for _, field := range q.of.At {
		if u, err := url.Parse(text(e, field)); err == nil && u.Host != "" {
			all = append(all, u)
		}
	}
	return all
}

// means reports whether an entry is about the file: the entry has the URL of the file, or fields that identify the
// file.
func (q *Question) means(e any, at []*url.URL) bool {
	for field, value := range q.of.Only {
		if text(e, field) != q.fill(value) {
			return false
		}
	}
	same := func(u *url.URL) bool {
		return address.SameServer(u, q.file) && u.Scheme == "https" && u.Path == q.file.Path && u.RawQuery == "" &&
			u.User == nil
	}
	return len(q.of.At) == 0 || slices.ContainsFunc(at, same)
}

// digest returns the digest of an entry. It reports false if the digest is missing or malformed.
func (q *Question) digest(e any) (d verify.Digest, ok bool) {
	alg, digits := verify.SHA256, text(e, q.of.SHA256)
	if q.of.Digest != "" {
		name, value, _ := strings.Cut(text(e, q.of.Digest), ":")
		if alg, ok = verify.ParseAlgorithm(name); !ok {
			return d, false
		}
		digits = value
	}
	d, err := verify.ParseHex(alg, digits)
	return d, err == nil && !blank(d)
}
