package watch

import (
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A footprint is the paths that the files of a watch may have, as a pattern: those of a glob, or of a name with a date.
type footprint struct {
	watch string
	glob  pattern // of the URLs of a glob; nil if it is none
	paths pattern
}

// A pattern is a text with letters that are not known.
type pattern []letter

// A letter is one character, or one of several, or with many as many as there are.
type letter struct {
	is   rune   // if it is known
	from string // else one of these; if that is empty, too, any but a slash
	many bool
	all  bool // also a slash
}

// alone refuses two watches of the same file.
func (b *builder) alone(w *Watch, key []string) error {
	u, err := url.Parse(w.URL)
	if err != nil {
		return err
	}
	other, at := "", ""
	if w.Glob || !w.File.Steady() {
		other, at = b.meets(w, u)
	} else {
		name, err := w.File.Name(subject{URL: u, Watch: w.Name})
		if err != nil {
			return b.wrong(err.Error(), "name = names the file", key...)
		}
		at = filepath.Join(w.Dir+w.To, filepath.FromSlash(name))
		if other = b.paths[at]; other != "" {
			return b.wrong("watch."+other+" has the same file, "+at, "", key...)
		}
		b.paths[at] = w.Name
		i := slices.IndexFunc(b.prints, func(f footprint) bool { return f.paths.meets(literal(at)) })
		if i >= 0 {
			other = b.prints[i].watch
		}
	}
	if other == "" {
		return nil
	}
	if at != "" {
		at = ", " + at
	}
	return b.wrong("watch."+other+" may have the same file"+at, "another name = or dir = keeps them apart", key...)
}

// meets finds a watch that may have a file of w, and which file that is if it has only one. Two globs are about
// different files as long as no URL belongs to both.
func (b *builder) meets(w *Watch, u *url.URL) (other, at string) {
	f := footprint{watch: w.Name, paths: pathsOf(w, u)}
	if w.Glob {
		f.glob = globPattern(w.URL)
	}
	for _, p := range b.prints {
		if f.glob != nil && p.glob != nil && !f.glob.meets(p.glob) {
			continue
		}
		if f.paths.meets(p.paths) {
			return p.watch, ""
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b.paths)) {
		if f.paths.meets(literal(path)) {
			return b.paths[path], path
		}
	}
	b.prints = append(b.prints, f)
	return "", ""
}

// pathsOf is the pattern of the paths of a watch.
func pathsOf(w *Watch, u *url.URL) pattern {
	p := append(literal(filepath.Clean(w.Dir+w.To)), letter{is: '/'})
	for _, part := range w.File.parts {
		if part.fill == nil {
			p = append(p, literal(part.text)...)
		} else {
			p = append(p, w.File.unknown(part, w, u)...)
		}
	}
	return p
}

// unknown is what a field of a template may become.
func (t *Template) unknown(field part, w *Watch, u *url.URL) pattern {
	const digits, hex = "0123456789", "0123456789abcdef"
	one := func(from string, n int) pattern { return slices.Repeat(pattern{{from: from}}, n) }
	_, rest, _ := strings.Cut(w.URL, "://")
	_, rest, _ = strings.Cut(rest, "/")
	switch field.text {
	case "date":
		return slices.Concat(one(digits, 4), literal("-"), one(digits, 2), literal("-"), one(digits, 2))
	case "time":
		return slices.Concat(one(digits, 2), literal("-"), one(digits, 2), literal("-"), one(digits, 2))
	}
	if w.Glob {
		switch field.text {
		case "below":
			return globPattern(plain(strings.TrimPrefix("/"+rest, t.folder)))
		case "path":
			return globPattern(plain(rest))
		case "base":
			return globPattern(plain(path.Base("/" + strings.ReplaceAll(rest, "**", "*"))))
		case "hash":
			return one(hex, 12)
		case "query":
			return pattern{{many: true}}
		}
	}
	if text, err := field.fill(t, &subject{URL: u, Watch: w.Name}); err == nil {
		return literal(text)
	}
	return pattern{{many: true, all: true}}
}

// plain is a path without escapes, as names have it.
func plain(s string) string {
	if text, err := url.PathUnescape(s); err == nil {
		return text
	}
	return s
}

func literal(s string) pattern {
	p := make(pattern, 0, len(s))
	for _, r := range s {
		p = append(p, letter{is: r})
	}
	return p
}

// globPattern is the pattern of a glob: * is anything without a slash, ** is anything.
func globPattern(glob string) (p pattern) {
	for glob != "" {
		before, after, found := strings.Cut(glob, "*")
		p = append(p, literal(before)...)
		if !found {
			break
		}
		rest, two := strings.CutPrefix(after, "*")
		p, glob = append(p, letter{many: true, all: two}), rest
	}
	return p
}

// meets reports whether some text fits both.
func (p pattern) meets(q pattern) bool {
	type place struct{ i, j int }
	seen := map[place]bool{}
	next := []place{{0, 0}}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		a, b := p[at.i:], q[at.j:]
		switch {
		case len(a) == 0 && len(b) == 0:
			return true
		case len(a) > 0 && a[0].many:
			next = append(next, place{at.i + 1, at.j})
			if len(b) > 0 && (b[0].many || a[0].takes(b[0])) {
				next = append(next, place{at.i, at.j + 1})
			}
		case len(b) > 0 && b[0].many:
			next = append(next, place{at.i, at.j + 1})
			if len(a) > 0 && b[0].takes(a[0]) {
				next = append(next, place{at.i + 1, at.j})
			}
		case len(a) > 0 && len(b) > 0 && a[0].takes(b[0]):
			next = append(next, place{at.i + 1, at.j + 1})
		}
	}
	return false
}

// takes reports whether there is a character that is both.
func (l letter) takes(other letter) bool {
	switch {
	case l.is != 0 && other.is != 0:
		return l.is == other.is
	case l.is != 0:
		return other.takes(l)
	case other.is != 0 && l.from == "":
		return l.all || other.is != '/'
	case other.is != 0:
		return strings.ContainsRune(l.from, other.is)
	}
	return true // digits and hexadecimal digits have some in common
}
