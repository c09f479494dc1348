package antenna

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/internal/mask"
	"braid/internal/once"
	"braid/internal/option"
)

const (
	// Unfit is the Reason of a watch whose glob or template matches no URL of its feeds.
	Unfit feed.Reason = "no-url-fits"
	// Excluded is the Reason of a watch whose settings exclude all versions that its feeds report.
	Excluded feed.Reason = "excluded"
	// Unread is the Reason of a watch that follows releases and whose feeds could not be read yet.
	Unread feed.Reason = "feeds-not-read"
)

// mayHear reports whether a feed may report the URLs of w.
func (w *watcher) mayHear(m *member) bool {
	return m.feed.Kind != Page && (w.feeds == nil || w.feeds[m.feed.Name])
}

// isUnfit reports whether w has a glob or follows releases, but has no URL. globbed is the number of URLs of the glob.
func (w *watcher) isUnfit(globbed int) bool {
	if w.follow != nil {
		return len(w.follow.reports)+len(w.follow.targets) == 0
	}
	return w.glob != nil && globbed == 0
}

// tellUnfit emits NoneFits for the globs and templates that have no URL and match none of m's URLs.
func (l *targets) tellUnfit(m *member) {
	if m.saved.URLs == 0 {
		return
	}
	for _, w := range l.watches {
		if !w.unfit && w.isUnfit(l.globbed[w]) && w.mayHear(m) {
			w.unfit = true
			l.run.emit(NoneFits{Feed: m.feed.Name, Watch: w.Name, URLs: m.saved.URLs, Example: m.example(w)})
		}
	}
}

// unfitStatus returns the status of w if it follows releases and has no state of any release, or if its glob matches no
// URL of its feeds.
func (l *targets) unfitStatus(w *watcher) (s WatchStatus, ok bool) {
	s = WatchStatus{Name: w.Name, URL: w.masked()}
	switch {
	case w.follow == nil && !w.isUnfit(l.globbed[w]):
		return s, false
	case w.follow == nil:
		s.Reason, s.Words = l.unheard(w)
		return s, s.Reason == Unfit && l.hasURLs(w)
	}
	s.Reason, s.Words = l.heard(w)
	return s, len(w.follow.targets) == 0
}

// heard describes what the feeds report for w, which follows releases. The reason is empty if the feeds report a release
// that w accepts.
func (l *targets) heard(w *watcher) (reason feed.Reason, words string) {
	s := w.follow.summary()
	switch versions := option.Count(s.Versions, "version"); {
	case s.Versions == 0:
		return l.unheard(w)
	case s.Newest == "":
		return Excluded, fmt.Sprintf("the feeds report %s, but the settings of the watch exclude all of them", versions)
	default:
		return "", fmt.Sprintf("the feeds report %s; the newest is %s at %s", versions, s.Newest, s.URL)
	}
}

// unheard describes why no feed reports a URL that w accepts.
func (l *targets) unheard(w *watcher) (reason feed.Reason, words string) {
	reason, words = Unread, "the feeds of the watch were not read yet"
	failed := false
	for _, m := range l.polls.members {
		switch {
		case !w.mayHear(m):
		case m.saved.URLs > 0:
			return Unfit, fmt.Sprintf("the feed %s reports %s, but none that matches; for example %s",
				m.feed.Name, option.Count(m.saved.URLs, "URL"), m.example(w))
		case m.saved.Err != "" && !failed:
			failed, reason, words = true, Unread, fmt.Sprintf("the feed %s could not be read: %s", m.feed.Name, m.saved.Err)
		case !m.saved.Polled.IsZero() && !failed:
			reason, words = Unfit, fmt.Sprintf("the feed %s reports no files", m.feed.Name)
		}
	}
	return reason, words
}

// hasURLs reports whether a feed of w reports URLs.
func (l *targets) hasURLs(w *watcher) bool {
	return slices.ContainsFunc(l.polls.members, func(m *member) bool { return w.mayHear(m) && m.saved.URLs > 0 })
}

// example returns a URL of m, without secrets. For a watch that follows releases, it is the URL most similar to the
// template.
func (m *member) example(w *watcher) string { return cmp.Or(m.saved.Examples[w.Name], m.saved.Example) }

// masked returns the URL of w without secrets. The fields of a template stay as the user wrote them.
func (w *watcher) masked() string {
	if w.follow == nil {
		return maskURL(w.URL)
	}
	return escapedField().ReplaceAllString(maskURL(w.URL), "{$1}")
}

var escapedField = once.Pattern(`%7B([a-z]+)%7D`)

// otherFiles describes the other files that a release API lists for the release of t at the host of the watch. It
// returns "" if the API lists the file of t, or no file.
func (g *following) otherFiles(t *target) string {
	o := g.offers()[t.url]
	if o == nil {
		return ""
	}
	best := nearest{near: -1}
	for _, r := range o.records {
		key, ok := feed.Key(r.URL)
		if key == t.url {
			return ""
		}
		n := g.w.Releases.Template.Near(r.URL)
		isFile := r.Format == feed.ReleaseAPI && r.Size > 0 // a release without files has the URL of its page
		if ok && isFile && strings.HasPrefix(key, g.w.host) && n > best.near {
			best = nearest{r.URL, n}
		}
	}
	if best.url == "" {
		return ""
	}
	return "; the feed lists other files, for example " + maskURL(best.url)
}

// A nearest is the URL of a feed that is most similar to the template of a watch, and the number of bytes by
// release.Template.Near.
type nearest struct {
	url  string
	near int
}

// An invalidTags counts the tags of a feed that cannot be part of a URL, for one watch. Example is the beginning of the
// first such tag, escaped. last is the last such tag: a release API repeats a tag for each file of the release.
type invalidTags struct {
	Count   int
	Example string
	last    string
}

// compare notes the URL of r for each watch with a template that this URL resembles more than any earlier URL. It
// counts the tag of r if that tag cannot be part of a URL.
func (c *collector) compare(r *feed.Record) {
	for _, name := range []string{"", c.feed.Name} {
		for _, w := range c.match.releases[name] {
			if n := w.Releases.Template.Near(r.URL); n > c.nearest[w].near {
				c.nearest[w] = nearest{strings.Clone(r.URL), n}
			}
			tag, i := w.Releases.Template.InvalidTag(*r), c.invalid[w.Name]
			if tag != "" && tag != i.last {
				i.Count, i.last = i.Count+1, strings.Clone(tag)
				i.Example = cmp.Or(i.Example, mask.Escape(tag[:min(len(tag), 64)]))
				c.invalid[w.Name] = i
			}
		}
	}
}

// invalid returns the number of tags in the feeds of w that cannot be part of a URL, and the beginning of one of them.
func (l *targets) invalid(w *watcher) (n int, example string) {
	for _, m := range l.polls.members {
		if w.mayHear(m) {
			i := m.saved.Invalid[w.Name]
			n, example = n+i.Count, cmp.Or(example, i.Example)
		}
	}
	return n, example
}

// setExamples sets the examples for the watches that follow releases and match no record.
func (c *collector) setExamples() {
	for _, s := range c.urlKeys {
		delete(c.nearest, s.w)
	}
	c.examples = map[string]string{}
	for w, n := range c.nearest {
		c.examples[w.Name] = maskURL(n.url)
	}
}
