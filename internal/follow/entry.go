package follow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// An Entry is a feed and a watch in the configuration of the watcher.
type Entry struct {
	// Name is that of both. Feed is the URL of the feed, and URL the template of the file.
	Name, Feed, URL string
	Dir             string
	Require         string
	// Keys has the values of the options about signatures, by their names.
	Keys        map[string][]string
	Versions    string
	PreReleases bool

	noFeed   bool // the configuration has the feed
	feedName string
}

// TOML returns the text of the entry.
func (e Entry) TOML() string {
	var b strings.Builder
	feed := e.feedName
	if feed == "" {
		feed = tableName(e.Name)
	}
	if !e.noFeed {
		fmt.Fprintf(&b, "[feed.%s]\nurl = %s\n\n", feed, quote(e.Feed))
	}
	fmt.Fprintf(&b, "[watch.%s]\nfeeds = [%s]\nurl = %s\ndir = %s\n", tableName(e.Name), quote(feed), quote(e.URL), quote(e.Dir))
	if e.Require != "" {
		fmt.Fprintf(&b, "require = %s\n", quote(e.Require))
	}
	for _, option := range slices.Sorted(maps.Keys(e.Keys)) {
		if words := e.Keys[option]; len(words) > 0 {
			var list []string
			for _, word := range words {
				list = append(list, quote(word))
			}
			fmt.Fprintf(&b, "%s = [%s]\n", option, strings.Join(list, ", "))
		}
	}
	if e.Versions != "" {
		fmt.Fprintf(&b, "versions = %s\n", quote(e.Versions))
	}
	if e.PreReleases {
		b.WriteString("pre-releases = true\n")
	}
	return b.String()
}

// quote returns a string of TOML. The escapes of JSON are a part of those of TOML.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string has no error
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// tableName returns a name of a table that needs no quotes.
func tableName(name string) string {
	plain := strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			return c
		case 'A' <= c && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, name), "-")
	if plain == "" {
		return "releases"
	}
	return plain
}

// Add returns a configuration with the entry at its end, and the name of its watch. A configuration that has a watch of
// the same template is not changed. A feed that it has is used again. A name that it uses already gets a number.
func Add(config []byte, e Entry) (changed []byte, name string, err error) {
	type table struct{ URL string }
	var have struct{ Feed, Watch map[string]table }
	if _, err := toml.Decode(string(config), &have); err != nil {
		return nil, "", err
	}
	for name, w := range have.Watch {
		if w.URL == e.URL {
			return config, name, nil
		}
	}
	e.feedName = unused(tableName(e.Name), func(name string) bool { _, ok := have.Feed[name]; return ok })
	for name, f := range have.Feed {
		if f.URL == e.Feed && (!e.noFeed || name < e.feedName) {
			e.feedName, e.noFeed = name, true
		}
	}
	e.Name = unused(tableName(e.Name), func(name string) bool { _, ok := have.Watch[name]; return ok })
	text := strings.TrimRight(string(config), "\n")
	if text != "" {
		text += "\n\n"
	}
	return []byte(text + e.TOML()), e.Name, nil
}

// unused returns name, with a number at its end if it is used already.
func unused(name string, used func(string) bool) string {
	for n, next := 2, name; ; n++ {
		if !used(next) {
			return next
		}
		next = name + "-" + strconv.Itoa(n)
	}
}
