package watch

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"braid/address"
	"braid/antenna"
	"braid/antenna/feed"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/metalink"
)

// Summary returns the numbers of feeds and watches.
func (c *Loaded) Summary() string {
	return fmt.Sprintf("%s, %s", option.Count(len(c.Feeds), "feed"), countWatches(len(c.Watches)))
}

// Warnings returns warnings about settings that have no effect or will not work.
func (c *Loaded) Warnings() (list []string) {
	warn := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, f := range c.Feeds {
		if f.Relay && c.Publish.Dir == "" {
			warn("feed.%s.relay: has no effect, because nothing is published (set dir = in [publish], or --publish FOLDER)",
				f.Name)
		}
	}
	list = append(list, c.idleKeys()...)
	if c.Publish.Dir == "" && c.Publish.AgentURL+c.Publish.Title != "" {
		warn("publish: has no effect without a folder (set dir =, or --publish FOLDER)")
	}
	for _, w := range c.Watches {
		for _, p := range []struct {
			key     string
			program []string
		}{{"run", w.Run}, {"on-failure", w.OnFailure}} {
			if len(p.program) == 0 {
				continue
			}
			if _, err := exec.LookPath(p.program[0]); err != nil {
				warn("watch.%s.%s: %s: this program cannot be run now", w.Name, p.key, p.program[0])
			}
		}
	}
	return list
}

// idleKeys returns warnings about keys without effect, except keys for programs and keys for publishing as a whole.
func (c *Loaded) idleKeys() (list []string) {
	idle := func(when bool, key, why string) {
		if when {
			list = append(list, key+": "+why)
		}
	}
	not := &address.Exclusion{}
	for _, word := range c.NotHosts {
		not.Add(word) // checked before
	}
	idle(c.GeoIPDB != "" && len(not.Countries()) == 0, "geoip-db", "has no effect without a country in not-hosts")
	folder := func(key, dir string) {
		if file := fileAbove(dir); file != "" {
			list = append(list, key+": "+file+" is a file, not a folder")
		}
	}
	folder("publish.dir", c.Publish.Dir)
	for _, f := range c.Feeds {
		key := "feed." + f.Name + ".limits."
		maybe := func(formats ...feed.FormatID) bool {
			return f.Kind == antenna.Auto || slices.Contains(formats, feed.FormatID(f.Kind))
		}
		idle(f.Limits.Line > 0 && !maybe(feed.HinaDI, feed.LIRS), key+"line",
			"applies only to hina-di and LIRS feeds, but the kind of this feed is "+f.Kind.String())
		idle(f.Limits.Value > 0 && !maybe(feed.SOIF), key+"value",
			"applies only to SOIF feeds, but the kind of this feed is "+f.Kind.String())
		idle(f.Limits.Relayed > 0 && !f.Relay, key+"relayed", "needs relay = true")
	}
	for _, w := range c.Watches {
		key := "watch." + w.Name + "."
		idle(c.Publish.Dir == "" && w.Title+w.Author != "", key+"title, author",
			"have no effect, because nothing is published (set dir = in [publish])")
		idle(c.Publish.Dir == "" && w.Zone != 0, key+"zone",
			"has no effect, because nothing is published (set dir = in [publish])")
		idle(w.FeedMirrors && len(c.Feeds) == 0, key+"feed-mirrors",
			"has no effect, because no feed names mirrors (add [feed.NAME])")
		idle(w.ownNames(), key+"name",
			"these names are reserved for braid, so such files are not fetched; set another name =")
		folder(key+"dir", w.Dir)
		list = append(list, c.idlePatterns(&w)...)
	}
	return list
}

// idlePatterns returns warnings about patterns of w without effect on an index page. On such a page, only the template
// finds versions in names, unless the template has {tag}.
func (c *Loaded) idlePatterns(w *Watch) (list []string) {
	if w.Releases == nil {
		return nil
	}
	p, template := w.Releases.Template.Patterns(), w.Releases.Template.String()
	for _, f := range c.Feeds {
		below, inFolder := strings.CutPrefix(template, f.URL)
		inFolder = inFolder && strings.HasSuffix(f.URL, "/")
		if len(w.Feeds) > 0 && !slices.Contains(w.Feeds, f.Name) ||
			f.Kind != antenna.Kind(feed.IndexPage) && (f.Kind != antenna.Auto || !inFolder) {
			continue
		}
		if p.Version != "" && !strings.Contains(template, "{tag}") {
			list = append(list, "watch."+w.Name+".version-pattern: has no effect on the names that feed."+f.Name+
				" lists (write {tag} in url for the part of a name in which the pattern finds the version)")
		}
		if p.Token != "" && inFolder && !strings.Contains(below, "/") {
			list = append(list, "watch."+w.Name+".token-pattern: has no effect on the names that feed."+f.Name+
				" lists and that match url (write {tag} in url for the part of a name that is the tag)")
		}
	}
	return list
}

// ownNames reports whether all names that files of the watch may have are reserved for braid.
func (w *Watch) ownNames() bool {
	u, err := url.Parse(w.URL)
	if err != nil {
		return false
	}
	name := pathsOf(w, u).end()
	return metalink.IsOwn(name) || w.To != "" && objectstore.Reserved(name)
}

// fileAbove returns the beginning of the path dir that is a file instead of a folder, or "".
func fileAbove(dir string) string {
	for at := dir; at != ""; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil {
			if info.IsDir() {
				return ""
			}
			return at
		} else if at == filepath.Dir(at) {
			return ""
		}
	}
	return ""
}

// checkServing returns an error for settings with which a watcher could not start, or with which each request
// would fail.
func (c *Loaded) checkServing() error {
	if c.Metrics != "" {
		_, port, err := net.SplitHostPort(c.Metrics)
		if err == nil {
			_, err = net.LookupPort("tcp", port) // does not look numbers up in the system's table
		}
		if err != nil {
			return problem.Misuse(c.File, "metrics: "+job.MaskWord(c.Metrics)+" is not an address to listen on",
				"HOST:PORT, as 127.0.0.1:9110")
		}
	}
	for _, f := range c.Feeds {
		if err := c.checkFields("feed."+f.Name, f.Header); err != nil {
			return err
		}
	}
	for _, w := range c.Watches {
		if err := c.checkFields("watch."+w.Name, w.Header); err != nil {
			return err
		}
	}
	return nil
}

func (c *Loaded) checkFields(where string, header map[string][]string) error {
	for name := range header {
		if web.Reserved(name) {
			return problem.Misuse(c.File, where+".header: "+name+": braid sets this field itself", "")
		}
	}
	return nil
}
