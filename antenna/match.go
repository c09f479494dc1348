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

// A watcher is a Watch, ready to be found.
type watcher struct {
	Watch
	// feeds are the names of those that may report it; nil: all.
	feeds map[string]bool
	// Of a glob: prefix is what keys begin with, up to the first star.
	glob   *regexp.Regexp
	prefix string
	// host is where its files are: a key up to the slash behind the host.
	host string
	// useless is why what feeds say of a file that was never downloaded is of no use, as it was told last. It belongs
	// to the loop.
	useless feed.Reason
	// unfit: it was told that no URL of a feed fits. It belongs to the loop.
	unfit bool
}

// A matcher finds the watches of the URL of a record. It does not change, and is used by all workers at once.
type matcher struct {
	exact feed.Index[*watcher]
	// globs are by the scheme and host that they begin with.
	globs map[string][]*watcher
	// any are those that are looked at on any news.
	any []*watcher
}

// newMatcher makes a matcher of watches that are checked.
func newMatcher(watches []*watcher) *matcher {
	m := &matcher{globs: map[string][]*watcher{}}
	for _, w := range watches {
		if w.glob == nil {
			if m.exact.Add(withoutUser(w.URL), w); w.AnyNews {
				m.any = append(m.any, w)
			}
			continue
		}
		host := hostOf(w.prefix)
		m.globs[host] = append(m.globs[host], w)
	}
	return m
}

// withoutUser is a URL without user info, which feeds do not tell.
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

// find calls found with each watcher that the feed of that name may tell of the URL of r, and with that URL as it is
// asked for: the watch's own, or for a glob the key.
func (m *matcher) find(feedName string, r feed.Record, found func(w *watcher, url string)) {
	m.all(r, func(w *watcher, url string) {
		if w.feeds == nil || w.feeds[feedName] {
			found(w, url)
		}
	})
}

// all is find for any feed.
func (m *matcher) all(r feed.Record, found func(w *watcher, url string)) {
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

// isRequestable reports whether a key, which a feed chose, can be asked for: it is a URI, and its path goes nowhere but down.
func isRequestable(key string) bool {
	path, _, _ := strings.Cut(key, "?")
	path += "/"
	return feed.IsURI(key) && !strings.Contains(path, "/../") && !strings.Contains(path, "/./")
}

// hostOf returns a key up to the slash behind its host.
func hostOf(key string) string {
	_, rest, _ := strings.Cut(key, "://")
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return key
	}
	return key[:len(key)-len(rest)+i+1]
}

// newWatcher compiles a watch.
func newWatcher(w Watch) (*watcher, error) {
	c := &watcher{Watch: w}
	if len(w.Feeds) > 0 {
		c.feeds = map[string]bool{}
		for _, name := range w.Feeds {
			c.feeds[name] = true
		}
	}
	if !w.Glob {
		key, _ := feed.Key(withoutUser(w.URL))
		c.host = hostOf(key)
		return c, checkURL(w.URL)
	}
	literal, _, _ := strings.Cut(w.URL, "*")
	prefix, ok := feed.Key(literal)
	if !ok || checkURL(literal) != nil || strings.Count(literal, "/") < 3 {
		return nil, errors.New("a glob begins with http:// or https:// and a whole host, with a slash behind it")
	}
	if strings.HasSuffix(literal, "/index.html") { // of which a key has nothing
		prefix += "index.html"
	}
	c.prefix, c.host = prefix, hostOf(prefix)
	c.glob = compileGlob(prefix + respelt(w.URL[len(literal):], strings.Contains(literal, "?")))
	return c, nil
}

// respelt is the rest of a glob as keys are spelled, with its stars.
func respelt(rest string, inQuery bool) string {
	parts := strings.Split(rest, "*")
	for i, part := range parts {
		parts[i] = feed.Respell(part, inQuery)
		inQuery = inQuery || strings.Contains(part, "?")
	}
	return strings.Join(parts, "*")
}

// compileGlob makes an expression of a pattern of keys. Everything but stars stands for itself, a question mark too: it
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

// checkURL says what is wrong with a URL that is to be asked for.
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
