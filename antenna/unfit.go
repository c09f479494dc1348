package antenna

import (
	"fmt"

	"braid/antenna/feed"
)

const (
	// Unfit is the Reason of a watch whose glob or template matches no URL of its feeds.
	Unfit feed.Reason = "no-url-fits"
	// Excluded is the Reason of a watch whose settings exclude all versions that its feeds report.
	Excluded feed.Reason = "excluded"
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
			l.run.emit(NoneFits{Feed: m.feed.Name, Watch: w.Name, URLs: m.saved.URLs, Example: m.saved.Example})
		}
	}
}

// unfitStatus returns the status of w if its glob or template matches no URL of its feeds, or if its settings exclude
// all versions.
func (l *targets) unfitStatus(w *watcher) (s WatchStatus, ok bool) {
	if g := w.follow; g != nil && len(g.targets) == 0 && len(g.reports) > 0 && g.newest().Version == "" {
		words := fmt.Sprintf("the feeds report %d versions, but the settings of the watch exclude all of them", len(g.offers()))
		return WatchStatus{Name: w.Name, URL: maskURL(w.URL), Reason: Excluded, Words: words}, true
	}
	if !w.isUnfit(l.globbed[w]) {
		return s, false
	}
	for _, m := range l.polls.members {
		if w.mayHear(m) && m.saved.URLs > 0 {
			words := fmt.Sprintf("the feed %s reports %d URLs, but none that matches; for example %s", m.feed.Name, m.saved.URLs,
				m.saved.Example)
			return WatchStatus{Name: w.Name, URL: maskURL(w.URL), Reason: Unfit, Words: words}, true
		}
	}
	return s, false
}
