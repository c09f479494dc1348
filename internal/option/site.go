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
	Values  map[string][]string // as they were written; the fields below have them by name

	Keyring, Pin, Authorities []string // who signs
	AllowExpiredKey           bool
	Require                   string
	Header                    []string // 'Name: value'
	Proxy                     string
	LimitRate                 string
	CACert                    []string
	Insecure                  bool

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
		s := siteOf(values)
		s.Pattern, s.Line = pattern, Line(r.data, path)
		if s.Line == 0 { // it is written with dots, and has no line of its own
			s.Line = firstLine(values)
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
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), compareBool(a.prefix, b.prefix))
	})
	return sites, nil
}

func firstLine(values map[string]Value) (line int) {
	for _, v := range values {
		if line == 0 || v.Line < line {
			line = v.Line
		}
	}
	return line
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func siteOf(v map[string]Value) Site {
	word := func(name string) string {
		if words := v[name].Words; len(words) > 0 {
			return words[0]
		}
		return ""
	}
	all := map[string][]string{}
	for name, value := range v {
		all[name] = value.Words
	}
	return Site{
		Values: all, Keyring: v["keyring"].Words, Pin: v["pin"].Words, Authorities: v["smime-ca"].Words, AllowExpiredKey: word("allow-expired-key") == "true",
		Require: word("require"), Header: v["header"].Words, Proxy: word("proxy"), LimitRate: word("limit-rate"), CACert: v["cacert"].Words,
		Insecure: word("insecure") == "true",
	}
}

// ports are those of schemes.
var ports = map[string]string{"http": "80", "https": "443", "ftp": "21", "ftps": "21"}

// parse takes the pattern apart.
func (s *Site) parse() bool {
	u, err := url.Parse(s.Pattern)
	if err != nil || ports[u.Scheme] == "" || u.Hostname() == "" || strings.Contains(u.Host, "*") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
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
	return host + " " + cmp.Or(strings.TrimLeft(u.Port(), "0"), ports[u.Scheme])
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
