package web

import (
	"slices"
	"strings"
)

// Netrc is the content of a .netrc file: the user's names and passwords by host. The zero value is empty. A machine is
// a host name without a scheme or port.
//
//	machine ftp.example.org login me password s3cret
//	default login anonymous password me@example.org
type Netrc struct{ entries []entry }

type entry struct {
	machine         string // empty for default
	login, password string
}

// ParseNetrc parses a .netrc file. Its words are separated by white space. A word may be quoted, with a backslash
// before quotes in the word. A # in place of a keyword begins a comment, but a value may begin with #. Macros (macdef)
// end with an empty line and are ignored.
func ParseNetrc(text string) (Netrc, error) {
	var f Netrc
	w := words{rest: text, line: 1}
	for {
		word, ok, err := w.keyword()
		switch {
		case err != nil:
			return Netrc{}, err
		case !ok:
			return f, nil
		}
		if err := f.take(&w, word); err != nil {
			return Netrc{}, err
		}
	}
}

// take parses the value that follows a keyword.
func (f *Netrc) take(w *words, word string) error {
	switch word {
	case "default":
		f.entries = append(f.entries, entry{})
		return nil
	case "macdef":
		w.skipMacro()
		return nil
	case "machine", "login", "password", "account":
	default:
		return &LineError{w.line, "want machine, default, login, password, account or macdef"}
	}
	value, ok, err := w.next()
	switch {
	case err != nil:
		return err
	case !ok:
		return &LineError{w.line, word + " without a word after it"}
	case word == "machine":
		f.entries = append(f.entries, entry{machine: strings.ToLower(value)})
		return nil
	case len(f.entries) == 0:
		return &LineError{w.line, word + " before any machine"}
	}
	last := &f.entries[len(f.entries)-1]
	switch word {
	case "login":
		last.login = value
	case "password":
		last.password = value
	}
	return nil
}

// Named returns f without default entries.
func (f Netrc) Named() Netrc {
	return Netrc{slices.DeleteFunc(slices.Clone(f.entries), func(e entry) bool { return e.machine == "" })}
}

// Find returns the login and password for a host, from the first matching or default entry that has both. If name is
// not empty, the login must be name.
func (f Netrc) Find(host, name string) (login, password string, ok bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, e := range f.entries {
		if (e.machine == "" || e.machine == host) && e.password != "" && e.login != "" && (name == "" || name == e.login) {
			return e.login, e.password, true
		}
	}
	return "", "", false
}

// words is the unread rest of a file.
type words struct {
	rest string
	line int
}

// keyword returns the next word that is not part of a comment.
func (w *words) keyword() (word string, ok bool, err error) {
	for {
		w.space()
		if !strings.HasPrefix(w.rest, "#") {
			return w.next()
		}
		_, w.rest, _ = strings.Cut(w.rest, "\n")
		w.line++
	}
}

// next returns the next word.
func (w *words) next() (word string, ok bool, err error) {
	w.space()
	if w.rest == "" {
		return "", false, nil
	}
	if w.rest[0] == '"' {
		return w.quoted()
	}
	i := strings.IndexAny(w.rest, " \t\r\n")
	if i < 0 {
		i = len(w.rest)
	}
	word, w.rest = w.rest[:i], w.rest[i:]
	return word, true, nil
}

func (w *words) space() {
	trimmed := strings.TrimLeft(w.rest, " \t\r\n")
	w.line += strings.Count(w.rest[:len(w.rest)-len(trimmed)], "\n")
	w.rest = trimmed
}

func (w *words) quoted() (word string, ok bool, err error) {
	var b strings.Builder
	for i := 1; i < len(w.rest); i++ {
		switch c := w.rest[i]; {
		case c == '"':
			w.rest = w.rest[i+1:]
			return b.String(), true, nil
		case c == '\n':
			return "", false, &LineError{w.line, "a quote does not end"}
		case c == '\\' && i+1 < len(w.rest) && w.rest[i+1] != '\n':
			i++
			b.WriteByte(w.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false, &LineError{w.line, "a quote does not end"}
}

// skipMacro skips all lines up to an empty one.
func (w *words) skipMacro() {
	for w.rest != "" {
		var line string
		line, w.rest, _ = strings.Cut(w.rest, "\n")
		w.line++
		if strings.TrimSpace(line) == "" {
			return
		}
	}
}
