package apt

import (
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A settings is apt's configuration, from message 601.
type settings struct {
	values map[string]string   // by name in lower case
	lists  map[string][]string // items without a name, by the name of their list
}

// readSettings reads the settings in m. Settings of Binary::PROGRAM apply to this program and take precedence.
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

// unquote decodes escapes such as %3d.
func unquote(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// lookup returns the value of a name, and whether it is set.
func (s *settings) lookup(name string) (string, bool) {
	v, ok := s.values[strings.ToLower(name)]
	return v, ok
}

func (s *settings) get(name string) string {
	v, _ := s.lookup(name)
	return v
}

// is reports whether a setting is on, by apt's rules. It returns def if the value is neither on nor off.
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

// file returns the path in a setting. The path is relative to the paths of the enclosing settings, and to RootDir
// (apt.conf, "Directories").
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

// methods returns the names of the settings for a scheme, in order of precedence. Acquire::braid+https is first. As in
// apt's own transports, Acquire::http also applies to https.
func methods(scheme string) []string {
	return slices.Compact([]string{"braid+" + scheme, "braid", scheme, "http"})
}

// option returns a setting of Acquire for a server. A setting for the name of the server takes precedence over a
// setting for all servers.
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

// number returns an option as a number, or def if it is not valid.
func (s *settings) number(u *url.URL, name string, def int64) int64 {
	if n, err := strconv.ParseInt(s.option(u, name), 0, 64); err == nil && n >= 0 && n < 1<<40 {
		return n
	}
	return def
}
