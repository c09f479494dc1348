package option

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"braid/address"
)

// Site has the values for the URLs that match a pattern. A missing key has no words.
type Site struct {
	// Pattern is the pattern in the file: a URL, or the prefix of URLs if it ends with *.
	Pattern string
	Line    int
	Values  map[string][]string // by option; words as on the command line

	scheme, host string // host with port
	path         string
	prefix       bool
}

// sites reads the tables of sites and sorts them, longer paths first.
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
		hasLine := s.Line > 0 // otherwise the site is written with dotted keys
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
			return nil, r.wrong(path, "is for the same URLs as "+sites[i].Pattern, "one of them would be ignored")
		}
		sites = append(sites, s)
	}
	slices.SortStableFunc(sites, func(a, b Site) int {
		switch {
		case len(a.path) != len(b.path) || a.prefix == b.prefix:
			return len(b.path) - len(a.path)
		case b.prefix: // an exact path precedes a prefix
			return -1
		}
		return 1
	})
	return sites, nil
}

// Word returns the first word of an option, or an empty string.
func (s *Site) Word(name string) string {
	if words := s.Values[name]; len(words) > 0 {
		return words[0]
	}
	return ""
}

// parse parses the pattern. It reports false for an invalid pattern.
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
	// A path that ends with a slash is always a prefix. As an exact path it would match no file, and its requirements
	// would protect nothing.
	s.prefix = s.prefix || strings.HasSuffix(s.path, "/")
	return !strings.Contains(s.path, "*")
}

// equals reports whether two patterns match the same URLs.
func (s *Site) equals(other Site) bool {
	return s.scheme == other.scheme && s.host == other.host && s.path == other.path && s.prefix == other.prefix
}

// hostPort returns the host and port of a URL in normalized form, separated by a space. It returns "" without a valid
// host.
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

// Site returns the site with the longest pattern that matches u, or nil.
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
