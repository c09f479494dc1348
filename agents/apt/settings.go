package apt

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// settings are apt's configuration, as the message 601 has it.
type settings struct {
	values map[string]string   // by names in small letters
	lists  map[string][]string // the items without a name, by the name of their list
}

// readSettings reads the message. What it says of Binary::PROGRAM is of this program and comes first.
func readSettings(m *Message, program string) settings {
	s := settings{values: map[string]string{}, lists: map[string][]string{}}
	own := settings{values: map[string]string{}, lists: s.lists}
	mine := "binary::" + strings.ToLower(program) + "::"
	for _, f := range m.Fields {
		name, value, ok := strings.Cut(f.Value, "=")
		if !ok || !strings.EqualFold(f.Name, "Config-Item") {
			continue
		}
		name, value = strings.ToLower(unquote(name)), unquote(value)
		if name, ok := strings.CutPrefix(name, mine); ok {
			own.set(name, value)
			continue
		}
		s.set(name, value)
	}
	maps.Copy(s.values, own.values)
	return s
}

func (s *settings) set(name, value string) {
	if list, ok := strings.CutSuffix(name, "::"); ok {
		s.lists[list] = append(s.lists[list], value)
		return
	}
	s.values[name] = value
}

// unquote undoes apt's %3d.
func unquote(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// lookup is the value of a name, and whether it has one.
func (s *settings) lookup(name string) (string, bool) {
	v, ok := s.values[strings.ToLower(name)]
	return v, ok
}

func (s *settings) get(name string) string {
	v, _ := s.lookup(name)
	return v
}

// list has the items of a list.
func (s *settings) list(name string) []string { return s.lists[strings.ToLower(name)] }

// is reports whether a setting is on, as apt reads it; if it says neither, it is def.
func is(value string, def bool) bool {
	if n, err := strconv.ParseInt(value, 0, 64); err == nil {
		return n != 0
	}
	switch strings.ToLower(value) {
	case "yes", "true", "with", "on", "enable":
		return true
	case "no", "false", "without", "off", "disable":
		return false
	}
	return def
}

// file is the path that a setting names: below those of the settings that it is part of, and below RootDir (apt.conf,
// "Directories").
func (s *settings) file(name string) string {
	at := s.get(name)
	if at == "" {
		return ""
	}
	for parent := name; ; {
		i := strings.LastIndex(parent, "::")
		if i < 0 || path.IsAbs(at) || strings.HasPrefix(at, "./") || strings.HasPrefix(at, "../") || strings.HasPrefix(at, "~/") {
			break
		}
		parent = parent[:i]
		if above := s.get(parent); above != "" {
			at = strings.TrimSuffix(above, "/") + "/" + at
		}
	}
	if strings.HasPrefix(at, "/dev/null") {
		return ""
	}
	if root := s.get("RootDir"); root != "" {
		at = path.Join(root, at)
	}
	return at
}

// methods are the names whose settings are for URLs of a scheme, the first before the others: Acquire::braid+https, and
// as apt's own transports have it Acquire::http for https.
func methods(scheme string) []string {
	return slices.Compact([]string{"braid+" + scheme, "braid", scheme, "http"})
}

// option is a setting of Acquire for a server: that for its name comes before that for all.
func (s *settings) option(u *url.URL, name string) string {
	for _, host := range []string{u.Hostname() + "::", ""} {
		for _, m := range methods(u.Scheme) {
			if v := s.get("Acquire::" + m + "::" + host + name); v != "" {
				return v
			}
		}
	}
	return ""
}

// number is an option that is a number; if it is none, it is def.
func (s *settings) number(u *url.URL, name string, def int64) int64 {
	if n, err := strconv.ParseInt(s.option(u, name), 0, 64); err == nil && n >= 0 && n < 1<<40 {
		return n
	}
	return def
}
