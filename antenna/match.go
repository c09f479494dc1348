package antenna

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"braid/antenna/feed"
)

// A watcher is a Watch, prepared for matching.
type watcher struct {
	Watch
	// feeds has the names of the feeds that may report the file of the watch; nil: all feeds.
	feeds map[string]bool
	// glob matches the keys (feed.Key) of w's URLs if Glob is set. prefix is the beginning of these keys, before any
	// star.
	glob   *regexp.Regexp
	prefix string
	// host is the beginning of the keys of w's URLs, up to the slash after the host.
	host string
	// useless is the last reported reason why the reports about a file that was never downloaded are unusable. It
	// belongs to the loop.
	useless feed.Reason
	// unfit records that NoneFits was reported. It belongs to the loop.
	unfit bool
	// follow is set if the watch follows releases. It belongs to the loop.
	follow *following
}

// line returns the parts of the configuration that determine which records are kept for w.
func (w *watcher) line() string {
	if w.follow != nil {
		return fmt.Sprintf("%q %q %q\n", w.Name, w.URL, w.Releases.Template.Patterns())
	}
	return fmt.Sprintf("%q %q %v\n", w.Name, w.URL, w.Glob)
}

// isMany reports whether w has any number of URLs, reported by feeds.
func (w *watcher) isMany() bool { return w.glob != nil || w.follow != nil }

// A matcher finds the watches for the URL of a record. It is immutable and used concurrently.
type matcher struct {
	exact feed.Index[*watcher]
	// globs maps the scheme and host to the watches with a glob.
	globs map[string][]*watcher
	// any lists the watches with AnyNews.
	any []*watcher
	// releases has the watches that follow releases, by the names of their feeds. Watches for all feeds are under "".
	releases map[string][]*watcher
}

// newMatcher returns a matcher for valid watches.
func newMatcher(watches []*watcher) *matcher {
	m := &matcher{globs: map[string][]*watcher{}, releases: map[string][]*watcher{}}
	for _, w := range watches {
		switch {
		case w.follow != nil && w.feeds == nil:
			m.releases[""] = append(m.releases[""], w)
		case w.follow != nil:
			for name := range w.feeds {
				m.releases[name] = append(m.releases[name], w)
			}
		case w.glob != nil:
			host := hostOf(w.prefix)
			m.globs[host] = append(m.globs[host], w)
		default:
			if m.exact.Add(withoutUser(w.URL), w); w.AnyNews {
				m.any = append(m.any, w)
			}
		}
	}
	return m
}

// withoutUser returns a URL without user information, because URLs in feeds have none.
func withoutUser(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndexByte(authority, '@')+1:]
}

// find calls found for each watch that r matches and that the feed may report. url is the URL of the watch. For a glob,
// it is the key of r.URL. For a watch that follows releases, it is the URL of the release that r reports.
func (m *matcher) find(feedName string, r feed.Record, found func(w *watcher, url string)) {
	m.urls(r, func(w *watcher, url string) {
		if isFolder(&r) {
			return
		}
		if w.feeds == nil || w.feeds[feedName] {
			found(w, url)
		}
	})
	for _, name := range []string{"", feedName} {
		for _, w := range m.releases[name] {
			if of, ok := w.Releases.Template.Of(r); ok {
				found(w, of.URL)
			}
		}
	}
}

// all is like find, but for any feed. For a watch that follows releases, r.URL must be the URL of a release's file.
func (m *matcher) all(r feed.Record, found func(w *watcher, url string)) {
	m.urls(r, found)
	seen := map[*watcher]bool{}
	for _, list := range m.releases {
		for _, w := range list {
			if of, ok := w.Releases.Template.FileOf(r.URL); ok && !seen[w] {
				seen[w] = true
				found(w, of.URL)
			}
		}
	}
}

// urls calls found for each watch whose URL or glob matches r.URL.
func (m *matcher) urls(r feed.Record, found func(w *watcher, url string)) {
	for _, w := range m.exact.Find(r) {
		found(w, w.URL)
	}
	if len(m.globs) == 0 {
		return
	}
	key, ok := feed.Key(r.URL)
	if !ok || !isRequestable(key) {
		return
	}
	for _, w := range m.globs[hostOf(key)] {
		if strings.HasPrefix(key, w.prefix) && w.glob.MatchString(key) {
			found(w, key)
		}
	}
}

// isRequestable reports whether a key from a feed can be requested: it is a URI without dot segments.
func isRequestable(key string) bool {
	path, _, _ := strings.Cut(key, "?")
	path += "/"
	return feed.IsURI(key) && !strings.Contains(path, "/../") && !strings.Contains(path, "/./")
}

// hostOf returns a key up to the slash after its host.
func hostOf(key string) string {
	_, rest, _ := strings.Cut(key, "://")
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return key
	}
	return key[:len(key)-len(rest)+i+1]
}

// newWatcher returns a watcher for a watch, or an error if the watch is not valid.
func newWatcher(w Watch) (*watcher, error) {
	c := &watcher{Watch: w}
	if len(w.Feeds) > 0 {
		c.feeds = map[string]bool{}
		for _, name := range w.Feeds {
			c.feeds[name] = true
		}
	}
	if w.Releases != nil {
		c.URL = w.Releases.Template.String()
		key, _ := feed.Key(w.Releases.Template.Literal())
		c.host, c.follow = hostOf(key), newFollowing(c)
		return c, checkReleases(&w)
	}
	if !w.Glob {
		key, _ := feed.Key(withoutUser(w.URL))
		c.host = hostOf(key)
		return c, checkURL(w.URL)
	}
	literal, _, _ := strings.Cut(w.URL, "*")
	prefix, ok := feed.Key(literal)
	if !ok || checkURL(literal) != nil || strings.Count(literal, "/") < 3 {
		return nil, errors.New("a glob must begin with http:// or https://, a complete host and a slash")
	}
	if strings.HasSuffix(literal, "/index.html") { // a key omits index.html
		prefix += "index.html"
	}
	c.prefix, c.host = prefix, hostOf(prefix)
	c.glob = compileGlob(prefix + respelt(w.URL[len(literal):], strings.Contains(literal, "?")))
	return c, nil
}

// respelt returns rest, the part of a glob from its first star on, in the normalized form of keys. Stars are kept.
func respelt(rest string, inQuery bool) string {
	parts := strings.Split(rest, "*")
	for i, part := range parts {
		parts[i] = feed.Respell(part, inQuery)
		inQuery = inQuery || strings.Contains(part, "?")
	}
	return strings.Join(parts, "*")
}

// compileGlob compiles a pattern of keys. All characters except stars are literal, including a question mark, which
// begins a query.
func compileGlob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for pattern != "" {
		literal, rest, star := strings.Cut(pattern, "*")
		b.WriteString(regexp.QuoteMeta(literal))
		switch {
		case strings.HasPrefix(rest, "*"):
			b.WriteString(`.*`)
			rest = rest[1:]
		case star:
			b.WriteString(`[^/]*`)
		}
		pattern = rest
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// checkURL returns an error if a URL cannot be requested.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return fmt.Errorf("not a URL with a host")
	case !slices.Contains([]string{"http", "https"}, u.Scheme):
		return fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	}
	if _, ok := feed.Key(s); !ok {
		return fmt.Errorf("not a URL that can be watched")
	}
	return nil
}
