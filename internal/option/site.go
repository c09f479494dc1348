package option

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// Site has the settings for URLs that match a pattern. A key that is missing has no words.
type Site struct {
	// Pattern is the pattern as written: a URL or, if it ends with *, what the URLs begin with.
	Pattern string
	Line    int
	Values  map[string][]string // by option; words as on the command line

	scheme, host string // host includes the port; see hostPort
	path         string
	prefix       bool
}

// sites reads the settings of sites from tables. It sorts them by the lengths of their paths, the longest first.
func (r *reader) sites(tables map[string]any) (sites []Site, err error) {
	for _, pattern := range sorted(tables) {
		path := []string{"site", pattern}
		table, ok := tables[pattern].(map[string]any)
		if !ok {
			return nil, r.wrong(path, "want a table", `[site."https://example.org/pub/*"]`)
		}
		values, err := r.table(table, siteKeys(), path...)
		if err != nil {
			return nil, err
		}
		s := Site{Pattern: pattern, Line: Line(r.data, path), Values: map[string][]string{}}
		hasLine := s.Line > 0 // a site written with dotted keys has no line of its own
		for name, value := range values {
			s.Values[name] = value.Words
			if !hasLine && (s.Line == 0 || value.Line < s.Line) {
				s.Line = value.Line
			}
		}
		if !s.parse() {
			return nil, r.wrong(path, "not the beginning of a URL",
				`write a scheme, a host, and a path that may end in *, as in [site."https://example.org/pub/*"]`)
		}
		if i := slices.IndexFunc(sites, s.equals); i >= 0 {
			return nil, r.wrong(path, "is for the same URLs as "+sites[i].Pattern,
				"remove one of the two, which would be ignored")
		}
		sites = append(sites, s)
	}
	slices.SortStableFunc(sites, func(a, b Site) int {
		switch {
		case len(a.path) != len(b.path) || a.prefix == b.prefix:
			return len(b.path) - len(a.path)
		case b.prefix: // an exact path comes before a prefix
			return -1
		}
		return 1
	})
	return sites, nil
}

// Word returns the first word of the option with that name, or "".
func (s *Site) Word(name string) string {
	if words := s.Values[name]; len(words) > 0 {
		return words[0]
	}
	return ""
}

// parse parses s.Pattern, and reports whether it is valid.
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
	// A path that ends with a slash is always a prefix. As an exact path, it would match no file, and what the settings
	// require would have no effect.
	s.prefix = s.prefix || strings.HasSuffix(s.path, "/")
	return !strings.Contains(s.path, "*")
}

// equals reports whether s and other match the same URLs.
func (s *Site) equals(other Site) bool {
	return s.scheme == other.scheme && s.host == other.host && s.path == other.path && s.prefix == other.prefix
}

// hostPort returns the host and the port of u, normalized and separated by a space, or "" if the host is invalid.
func hostPort(u *url.URL) string {
	host, err := address.Name(u.Hostname())
	if err != nil || host == "" {
		return ""
	}
	return host + " " + cmp.Or(strings.TrimLeft(u.Port(), "0"), address.SchemeOf(u).Port)
}

// HostPort returns the server of the site as "host:port", or "[host]:port" for an IPv6 address.
func (s *Site) HostPort() string {
	host, port, _ := strings.Cut(s.host, " ")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// Site returns the settings of the site with the longest path that matches u, or nil.
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
