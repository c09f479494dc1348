package option

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// A Site is what counts for URLs of a pattern. A key that is not there is a value without words.
type Site struct {
	// Pattern is as it was written: a URL, or with a * at its end all that begin with it.
	Pattern string
	Line    int
	Values  map[string][]string // by option, in words as on the command line

	scheme, host string // with its port
	path         string
	prefix       bool
}

// sites reads the tables of sites. The more exact pattern comes first.
func (r *reader) sites(tables map[string]any) (sites []Site, err error) {
	for _, pattern := range sorted(tables) {
		path := []string{"site", pattern}
		table, ok := tables[pattern].(map[string]any)
		if !ok {
			return nil, r.wrong(path, "a table belongs here", `[site."https://example.org/pub/*"]`)
		}
		values, err := r.table(table, siteKeys(), path...)
		if err != nil {
			return nil, err
		}
		s := Site{Pattern: pattern, Line: Line(r.data, path), Values: map[string][]string{}}
		hasLine := s.Line > 0 // else it is written with dots
		for name, value := range values {
			s.Values[name] = value.Words
			if !hasLine && (s.Line == 0 || value.Line < s.Line) {
				s.Line = value.Line
			}
		}
		if !s.parse() {
			return nil, r.wrong(path, "not the beginning of a URL", `write a scheme, a host, and a path that may end in *, as in [site."https://example.org/pub/*"]`)
		}
		if i := slices.IndexFunc(sites, s.equals); i >= 0 {
			return nil, r.wrong(path, "is for the same URLs as "+sites[i].Pattern, "one of them would not count")
		}
		sites = append(sites, s)
	}
	slices.SortStableFunc(sites, func(a, b Site) int {
		switch {
		case len(a.path) != len(b.path) || a.prefix == b.prefix:
			return len(b.path) - len(a.path)
		case b.prefix: // the exact one comes first
			return -1
		}
		return 1
	})
	return sites, nil
}

// Word returns the value of an option that has one; empty for none.
func (s *Site) Word(name string) string {
	if words := s.Values[name]; len(words) > 0 {
		return words[0]
	}
	return ""
}

// parse takes the pattern apart.
func (s *Site) parse() bool {
	u, err := url.Parse(s.Pattern)
	if err != nil || !address.HasScheme(u) || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if s.scheme, s.host = u.Scheme, hostPort(u); s.host == "" {
		return false
	}
	s.path, s.prefix = strings.CutSuffix(u.Path, "*")
	if s.path == "" {
		s.path = "/"
	}
	s.prefix = s.prefix || strings.HasSuffix(s.path, "/") // else it would be for no file, and what it demands be demanded of nothing
	return !strings.Contains(s.path, "*")
}

// equals reports whether two patterns are spellings of one.
func (s *Site) equals(other Site) bool {
	return s.scheme == other.scheme && s.host == other.host && s.path == other.path && s.prefix == other.prefix
}

// hostPort is the server of a URL, however its name, its address and its port are spelled; it is empty if there is none.
func hostPort(u *url.URL) string {
	host, err := address.Name(u.Hostname())
	if err != nil || host == "" {
		return ""
	}
	return host + " " + cmp.Or(strings.TrimLeft(u.Port(), "0"), address.SchemeOf(u).Port)
}

// HostPort is the server that the site is at: "host:port", or "[host]:port" of an IPv6 address.
func (s *Site) HostPort() string {
	host, port, _ := strings.Cut(s.host, " ")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// Site is the site of a URL: the one with the longest pattern. It is nil if there is none.
func (f *Settings) Site(u *url.URL) *Site {
	if f == nil {
		return nil
	}
	host := hostPort(u)
	path := cmp.Or(u.Path, "/")
	for i := range f.Sites {
		s := &f.Sites[i]
		if s.scheme == u.Scheme && s.host == host && (path == s.path || s.prefix && strings.HasPrefix(path, s.path)) {
			return s
		}
	}
	return nil
}
