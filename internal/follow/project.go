// Package follow finds out how to follow the releases of a project: the feed of its page, the files of the newest
// release with their checksum lists and signatures, and the template for the URLs of later releases. It also writes the
// entry for the configuration of the watcher.
//
//	source, ok := follow.Known(page) // https://github.com/cli/cli: the API with its releases
//	found, err := source.Find(records, follow.Options{Asset: "gh_*_linux_amd64.tar.gz"})
//	text := follow.Entry{Name: source.Name, Feed: source.Feed, URL: found.Assets[0].Template.String(), Dir: "/srv/tools"}.TOML()
//
// The package sends no request: the caller reads the feed.
package follow

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"braid/address"
	"braid/internal/once"
)

// A project is a row of the table of project pages: their URLs, and the URL of the feed of releases.
type project struct {
	Name string
	// Probe means that any host may have such a forge. Only the host's answer shows whether such a forge is there.
	Probe bool
	Page  []string // expressions for the URLs of pages, without queries; their groups are variables
	// Feed has variables in braces. {project:joined} has %2F for each slash.
	Feed string
	// Host is the host of files, if the files are not at the host of the page.
	Host  string
	Files []file

	pages []*regexp.Regexp
}

// A file maps the URL of a file in a feed to a URL that follows from the file's name. The URL in the feed may have a
// part that cannot be predicted for the next version, such as a digest.
type file struct {
	From, To string

	from *regexp.Regexp
}

//go:embed projects.json
var projectTable []byte

// projects returns the rows of the table. The table is not read at the start of the program, because few runs need it.
func projects() []*project { return readProjects(projectTable) }

// readProjects reads the table, which is part of the program.
func readProjects(table []byte) (all []*project) {
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic(err)
	}
	for _, p := range all {
		for _, expression := range p.Page {
			p.pages = append(p.pages, regexp.MustCompile(expression))
		}
		for i := range p.Files {
			p.Files[i].from = regexp.MustCompile(p.Files[i].From)
		}
	}
	return all
}

// A Source is a feed of the releases of a project. Forge is the kind of the project page, or "". Files of releases are
// used only if they are at the host that the user named or that the table has, because a URL in a feed must not lead a
// request to another host.
type Source struct {
	Feed, Forge, Name string
	// Answered is the URL that answered when Feed was requested.
	Answered string

	page  *url.URL
	host  string
	vars  map[string]string
	files []file
}

// Known returns the source for the page of a project at a host of the table.
func Known(page *url.URL) (Source, bool) {
	for _, p := range projects() {
		if s, ok := p.source(page); ok && !p.Probe {
			return s, true
		}
	}
	return Source{}, false
}

// Probes returns the sources that a project page at any host may have. The answer of a source shows whether it exists.
func Probes(page *url.URL) (all []Source) {
	for _, p := range projects() {
		if s, ok := p.source(page); ok && p.Probe {
			all = append(all, s)
		}
	}
	return all
}

// Itself returns a Source with the given URL of a feed, for a project that the table lacks. Its Name is the last folder
// or the host in that URL.
func Itself(feed *url.URL) Source {
	name, _, _ := strings.Cut(feed.Hostname(), ":")
	segments := strings.Split(strings.Trim(feed.Path, "/"), "/")
	if !strings.HasSuffix(feed.Path, "/") {
		segments = segments[:len(segments)-1]
	}
	if n := len(segments); n > 0 && segments[n-1] != "" {
		name = segments[n-1]
	}
	plain := *feed
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	return Source{Feed: plain.String(), Name: name, page: feed}
}

// source returns the source for page, if page matches an expression of the row.
func (p *project) source(page *url.URL) (Source, bool) {
	plain := url.URL{Scheme: page.Scheme, Host: strings.ToLower(page.Host), Path: page.Path, RawPath: page.RawPath}
	if s, ok := address.SchemeNamed(page.Scheme); ok {
		plain.Host = strings.TrimSuffix(plain.Host, ":"+s.Port)
	}
	text := strings.TrimRight(plain.String(), "/")
	for _, x := range p.pages {
		if vars := match(x, text); vars != nil {
			return Source{
				Feed: fill(p.Feed, vars), Forge: p.Name, Name: vars["name"],
				page: page, host: p.Host, vars: vars, files: p.Files,
			}, true
		}
	}
	return Source{}, false
}

// match returns the groups of an expression in a text, or nil if it does not match.
func match(x *regexp.Regexp, text string) map[string]string {
	m := x.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	vars := map[string]string{}
	for i, name := range x.SubexpNames() {
		if name != "" {
			vars[name] = m[i]
		}
	}
	return vars
}

var variable = once.Pattern(`\{(\w+)(:joined)?\}`)

// fill puts variables into a text of the table.
func fill(text string, vars map[string]string) string {
	return variable().ReplaceAllStringFunc(text, func(word string) string {
		m := variable().FindStringSubmatch(word)
		if m[2] != "" {
			return strings.ReplaceAll(vars[m[1]], "/", "%2F")
		}
		return vars[m[1]]
	})
}

// Serves reports whether the feed has the scheme, host and port of the URL of a file. Only then are its digests evidence.
func (s *Source) Serves(file string) bool {
	return address.SameOrigin(s.Feed, file) && address.SameOrigin(s.Answered, file)
}

// urlOf returns the URL that the table has for a file, else the URL in the feed. If the page is over https, so is the
// URL, because a forge behind a proxy may not know that the proxy provides https.
func (s *Source) urlOf(inFeed string) string {
	if u, err := url.Parse(inFeed); err == nil && u.Scheme == "http" && s.page != nil && s.page.Scheme == "https" &&
		isDefault(u) && isDefault(s.page) && strings.EqualFold(u.Hostname(), s.page.Hostname()) {
		u.Scheme, u.Host = "https", s.page.Host
		inFeed = u.String()
	}
	for _, f := range s.files {
		vars := match(f.from, inFeed)
		if vars == nil {
			continue
		}
		for name, value := range s.vars {
			if _, ok := vars[name]; !ok {
				vars[name] = value
			}
		}
		return fill(f.To, vars)
	}
	return inFeed
}

// has reports whether a URL is at a host of the source.
func (s *Source) has(u *url.URL) bool {
	return s.host != "" && u.Scheme == "https" && u.Host == s.host || s.page != nil && SameHost(s.page, u)
}

// SameHost reports whether u is on the server of page. If page uses http, u may use https, on the same port or the
// default port. If page uses https, u must use https too, because a URL in a feed must not weaken the connection.
func SameHost(page, u *url.URL) bool {
	return address.SameServer(page, u) || u.Scheme == "https" && address.HostPort(page) == address.HostPort(u)
}

func isDefault(u *url.URL) bool {
	s, ok := address.SchemeNamed(u.Scheme)
	return ok && (u.Port() == "" || u.Port() == s.Port)
}
