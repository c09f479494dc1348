package sums

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"braid/verify"
)

// maxNear is the maximum number of names that an error lists.
const maxNear = 5

// Find returns the claims of the list about a file. The file may have several names. Find uses the first of names that
// is in the list. If the list has no such name, the error is about the last name. claims has at most one claim of each
// algorithm, the strongest first. Each claim records its line, list (the name of the list) and over (the channel).
// malformed has the unreadable lines that are or may be about the file. They are an error unless a claim is strong or
// the caller has other evidence.
//
// An entry matches if its name, without a leading ./, equals one of names, which may have folders. If no entry matches,
// the only path that ends in /name matches, unless name has a leading ./. A list that is only a digest is about the
// file that the list is named after, or about any file if the list is not named after a file.
//
// The error is a *verify.ConflictError if one algorithm has two values, an *AmbiguousError if several paths end in
// /name, or a *NotFoundError.
func (l List) Find(names []string, list string, over verify.Channel) (claims []verify.Claim, malformed []*Error, err error) {
	none := &NotFoundError{}
	for _, name := range names {
		whole := strings.HasPrefix(name, "./")
		name = clean(name)
		rows, err := l.rowsOf(name, whole)
		if err != nil {
			return nil, nil, err
		}
		if len(rows) > 0 {
			malformed := List{rows: rows, lost: l.lost}.malformed()
			claims, err := claimsOf(name, rows, list, over)
			return claims, malformed, err
		}
		none.Name = name
	}
	if len(l.lost) > 0 {
		return nil, l.lost, nil
	}
	none.Near = l.near(none.Name)
	return nil, nil, none
}

// claimsOf returns the claims in rows. All rows are about the file name.
func claimsOf(name string, rows []row, list string, over verify.Channel) (claims []verify.Claim, err error) {
	var only []string
	wrong := false
	for _, r := range rows {
		if r.wrong != "" {
			wrong = true
			continue
		}
		if r.foreign != "" {
			only = append(only, r.foreign)
			continue
		}
		c := verify.Claim{Digest: r.Digest, Field: fmt.Sprintf("line %d of %s", r.Line, list), Channel: over}
		if err := verify.Agree(claims, []verify.Claim{c}); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(claims, func(o verify.Claim) bool { return o.Digest == c.Digest }) {
			claims = append(claims, c)
		}
	}
	if len(claims) == 0 && !wrong {
		return nil, &NotFoundError{Name: name, Only: firstFew(only)}
	}
	verify.SortClaims(claims)
	return claims, nil
}

// rowsOf returns the lines about the file name. If whole is set, a longer path that ends in /name does not match.
func (l List) rowsOf(name string, whole bool) (rows []row, err error) {
	if len(l.rows) > 0 && !slices.ContainsFunc(l.rows, func(r row) bool { return !r.nameless() }) {
		if l.speaksOf(base(name)) {
			rows = l.rows
		}
		return rows, nil
	}
	below := map[string]bool{}
	var deeper []row
	for _, i := range l.byBase[base(name)] {
		switch r, path := l.rows[i], clean(l.rows[i].Name); {
		case name == "":
		case path == name:
			rows = append(rows, r)
		case !whole && strings.HasSuffix(path, "/"+name):
			deeper = append(deeper, r)
			below[path] = true
		}
	}
	if len(rows) > 0 {
		return rows, nil
	}
	if len(below) > 1 {
		return nil, &AmbiguousError{Name: name, Paths: paths(deeper)}
	}
	return deeper, nil
}

// speaksOf reports whether a list that is only a digest is about the file name. For example, a list called disk.sha256
// may be about disk.iso.
func (l List) speaksOf(name string) bool {
	return l.about == "" || name == l.about || strings.HasPrefix(name, l.about+".")
}

// near returns names of the list that resemble name, the most similar first.
func (l List) near(name string) (names []string) {
	likeness := map[string]float64{}
	if l.about != "" {
		likeness[l.about] = alike(name, l.about)
	}
	for _, r := range l.rows {
		if a := alike(base(name), base(r.Name)); !r.nameless() && a >= 0.6 {
			likeness[r.Name] = a
		}
	}
	for n := range likeness {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(likeness[b], likeness[a]), strings.Compare(a, b))
	})
	return firstFew(names)
}

// alike returns the fraction of the longer name that equals the beginning and end of the other name, ignoring case.
func alike(a, b string) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	before := 0
	for before < len(a) && lower(a[before]) == lower(b[before]) {
		before++
	}
	after := 0
	for after < len(a)-before && lower(a[len(a)-1-after]) == lower(b[len(b)-1-after]) {
		after++
	}
	return float64(before+after) / float64(len(b))
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// A NotFoundError reports that a list has no usable digest of a file (exit code 12).
type NotFoundError struct {
	Name string   // the last name that was looked up
	Near []string // at most 5 similar names, as the list spells them; not trusted
	Only []string // the unsupported algorithms of the list's digests of the file
}

func (e *NotFoundError) Error() string {
	switch {
	case len(e.Only) > 0:
		return fmt.Sprintf("the list has no supported digest of %s, only %s", quote(e.Name), strings.Join(e.Only, ", "))
	case len(e.Near) > 0:
		return fmt.Sprintf("%s is not in the list; similar names are %s", quote(e.Name), quoteAll(e.Near))
	}
	return quote(e.Name) + " is not in the list"
}

// An AmbiguousError reports that several paths in a list end in the name that was looked up (exit code 12). To select a
// single path, look up the name with its folders.
type AmbiguousError struct {
	Name  string
	Paths []string // at most 5, as the list spells them; not trusted
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several listed paths end in %s: %s", quote(e.Name), quoteAll(e.Paths))
}

func quoteAll(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, quote(n))
	}
	return strings.Join(quoted, ", ")
}

// paths returns the first few distinct names of rows.
func paths(rows []row) (names []string) {
	for _, r := range rows {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return firstFew(names)
}

// firstFew returns at most maxNear of names, which are sorted or ranked, without adjacent duplicates.
func firstFew(names []string) []string {
	names = slices.Compact(names)
	return names[:min(len(names), maxNear)]
}

// clean returns a name without the ./ that find and tar prepend.
func clean(name string) string {
	for strings.HasPrefix(name, "./") {
		name = name[2:]
	}
	return name
}

// base returns the last segment of a name.
func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
