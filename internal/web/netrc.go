package web

import "strings"

// A Netrc is what a .netrc file says: who the user is at a host. The zero value says nothing. A machine is a name, with
// no scheme and no port.
//
//	machine ftp.example.org login me password s3cret
//	default login anonymous password me@example.org
type Netrc struct{ entries []entry }

type entry struct {
	machine         string // "" is default
	login, password string
}

// ParseNetrc reads a .netrc file. Words are separated by space; one may be in quotes, with a backslash before those in
// it. A # in place of a keyword begins a comment, and what stands for a machine, a login or a password may begin with
// one; macros (macdef) end with an empty line and are left out.
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

// take reads what belongs to a word that says what follows it.
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
		return &LineError{w.line, "neither machine, default, login, password, account nor macdef"}
	}
	value, ok, err := w.next()
	switch {
	case err != nil:
		return err
	case !ok:
		return &LineError{w.line, word + " without a word behind it"}
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

// Find says who the user is at a host: by the first entry for it, or for all others, that has a name and a password. If name is
// not empty, only an entry with that name counts.
func (f Netrc) Find(host, name string) (login, password string, ok bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, e := range f.entries {
		if (e.machine == "" || e.machine == host) && e.password != "" && e.login != "" && (name == "" || name == e.login) {
			return e.login, e.password, true
		}
	}
	return "", "", false
}

// words are those of a file that were not read yet.
type words struct {
	rest string
	line int
}

// keyword takes the next word that is no comment.
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

// next takes the next word.
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
			return "", false, &LineError{w.line, "a quote that does not end"}
		case c == '\\' && i+1 < len(w.rest) && w.rest[i+1] != '\n':
			i++
			b.WriteByte(w.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false, &LineError{w.line, "a quote that does not end"}
}

// skipMacro leaves out all lines up to an empty one.
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
