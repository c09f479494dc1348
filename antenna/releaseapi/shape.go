package releaseapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// A shape is a row of the table. It states where the documents of an API have releases (Lists), and where a release has
// its files. Members are written as paths with dots. Elements of arrays have no name.
type shape struct {
	Name string
	// Known has sets of members. A document with all members of a set has the shape.
	Known [][]string
	Lists []*releases
}

// A releases describes a list of releases in a document.
type releases struct {
	// Each is the path of the objects that are releases, where * is any name. If empty, it is the document or each of
	// its elements. The list is ignored if the member Unless precedes the list.
	Each, Unless string
	// Tag is the member of a release that has the tag. If Tag is *, the tag is the name in place of the *. With a
	// slash, Tag is a member of the document that precedes the list.
	Tag    string
	Title  string
	Page   []string // members with the URL of the release's page; the first that is present is used
	Out    []string // members that are true for releases to ignore
	Pre    string   // the member that is true for pre-releases
	Date   []string
	Assets []*assets

	each  []string
	wants map[string]bool // the members of a release that are read
}

// An assets is a list of files of a release.
type assets struct {
	In   string   // the path of the list; empty: the release itself is the file
	URL  []string // may be relative to the API
	Size string
	Type string
	Date []string
	// Digest is a member with ALGORITHM:HEX. SHA256 is a member with the digits alone.
	Digest, SHA256 string
	// Only has the values that members must have if they are present.
	Only map[string]string

	wants map[string]bool
}

//go:embed shapes.json
var table []byte

var shapes = readShapes(table)

// readShapes reads the table, which is part of the program.
func readShapes(table []byte) (all []*shape) {
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic(err)
	}
	for _, s := range all {
		for _, l := range s.Lists {
			l.prepare()
		}
	}
	return all
}

func (l *releases) prepare() {
	if l.Each != "" {
		l.each = strings.Split(l.Each, ".")
	}
	l.wants = set(slices.Concat([]string{l.Tag, l.Title, l.Pre}, l.Page, l.Out, l.Date))
	if l.Tag == "*" || strings.HasPrefix(l.Tag, "/") {
		delete(l.wants, l.Tag) // it is not a member of a release
	}
	for _, a := range l.Assets {
		a.wants = set(slices.Concat([]string{a.Size, a.Type, a.Digest, a.SHA256}, a.URL, a.Date))
		for name := range a.Only {
			a.wants[name] = true
		}
		if a.In == "" {
			for name := range a.wants {
				l.wants[name] = true
			}
		}
	}
}

func set(names []string) map[string]bool {
	s := map[string]bool{}
	for _, name := range names {
		s[name] = true
	}
	delete(s, "")
	return s
}

// known returns the sets of members that show the shapes of the table.
func known() (sets [][]string) {
	for _, s := range shapes {
		sets = append(sets, s.Known...)
	}
	return sets
}

// is reports whether path is the path of a release in the list.
func (l *releases) is(path []string) bool {
	return slices.EqualFunc(l.each, path, func(want, name string) bool { return want == "*" || want == name })
}
