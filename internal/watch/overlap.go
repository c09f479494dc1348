package watch

import (
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// footprint is the set of paths that the files of a watch may have, as a pattern. A watch has a footprint if its files
// do not have a single fixed path: a glob, releases, or a name that contains a date.
type footprint struct {
	watch string
	glob  pattern // of the URLs of a glob; nil for a single URL
	paths pattern
}

// pattern is a text with some unknown letters.
type pattern []letter

// letter is a known character, or a character of a set. If many is set, letter stands for any number of characters.
type letter struct {
	is   rune   // the character, if it is known
	from string // otherwise the set; if empty, any character except a slash
	many bool
	all  bool // the set includes the slash
}

// alone returns an error if another watch has, or may have, the same file.
func (b *builder) alone(w *Watch, key []string) error {
	u, err := url.Parse(w.URL)
	if err != nil {
		return err
	}
	other, at := "", ""
	if w.Many() || !w.File.Steady() {
		other, at = b.meets(w, u)
	} else {
		name, err := w.File.Name(subject{URL: u, Watch: w.Name})
		if err != nil {
			return b.wrong(err.Error(), "choose another name with name =", key...)
		}
		at = filepath.Join(w.Dir+w.To, filepath.FromSlash(name))
		if other = b.paths[at]; other != "" {
			return b.wrong("watch."+other+" writes the same file, "+at, "", key...)
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
	return b.wrong("watch."+other+" may write the same file"+at, "set a different name = or dir =", key...)
}

// reserveLink reserves the path of the link of a watch. It returns an error if another watch may have a file at that
// path.
func (b *builder) reserveLink(w *Watch, key []string) error {
	if w.Link == "" {
		return nil
	}
	at := filepath.Join(w.Dir+w.To, w.linkName())
	other := b.paths[at]
	for _, p := range b.prints {
		if p.watch != w.Name && p.paths.meets(literal(at)) {
			other = p.watch
		}
	}
	if other != "" {
		return b.wrong("watch."+other+" may write a file to the same path, "+at,
			"choose another name with link =", key...)
	}
	b.paths[at] = w.Name
	return nil
}

// meets returns the name of another watch that may have a file of w. at is the path of that file if the other watch has
// only one. Two globs do not conflict if no URL matches both.
func (b *builder) meets(w *Watch, u *url.URL) (other, at string) {
	f := footprint{watch: w.Name, paths: pathsOf(w, u)}
	if w.Many() {
		f.glob = globPattern(w.pattern())
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

// unknown returns the pattern of the values that a template field may have.
func (t *Template) unknown(field part, w *Watch, u *url.URL) pattern {
	const digits, hex = "0123456789", "0123456789abcdef"
	one := func(from string, n int) pattern { return slices.Repeat(pattern{{from: from}}, n) }
	_, rest, _ := strings.Cut(w.pattern(), "://")
	_, rest, _ = strings.Cut(rest, "/")
	switch field.text {
	case "version", "tag":
		return pattern{{many: true}}
	case "date":
		return slices.Concat(one(digits, 4), literal("-"), one(digits, 2), literal("-"), one(digits, 2))
	case "time":
		return slices.Concat(one(digits, 2), literal("-"), one(digits, 2), literal("-"), one(digits, 2))
	}
	if w.Many() {
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

// plain returns a path without percent-encoding, as file names have it.
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

// globPattern returns the pattern of a glob: * matches any text without a slash, and ** any text.
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

// end returns the characters after the last unknown letter.
func (p pattern) end() string {
	i := len(p)
	for i > 0 && p[i-1].is != 0 {
		i--
	}
	end := []rune{}
	for _, l := range p[i:] {
		end = append(end, l.is)
	}
	return string(end)
}

// meets reports whether some text matches both patterns.
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

// takes reports whether some character matches both letters.
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
	return true // decimal and hexadecimal digits overlap
}
