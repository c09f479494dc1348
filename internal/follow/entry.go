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
	// Name is the name of the feed and of the watch. Feed is the URL of the feed, and URL the template of the file.
	Name, Feed, URL string
	Dir             string
	Require         string
	// Keys has the values of the options about signatures, by their names.
	Keys        map[string][]string
	Versions    string
	PreReleases bool
	// More has other settings of the watch.
	More []Setting

	noFeed   bool // the configuration has the feed
	feedName string
}

// A Setting is a key of a watch with its text. The text of a switch is empty.
type Setting struct{ Key, Text string }

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
	for _, s := range e.More {
		value := "true"
		if s.Text != "" {
			value = quote(s.Text)
		}
		fmt.Fprintf(&b, "%s = %s\n", s.Key, value)
	}
	return b.String()
}

// quote returns a string of TOML. The escapes of JSON are also escapes of TOML.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string is always encoded without an error
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

// A WeakerError reports that a configuration has a watch of the same template that requires less proof than the entry.
type WeakerError struct{ Watch string }

func (e *WeakerError) Error() string {
	return "watch." + e.Watch + " already follows this page, but requires less proof than this command"
}

// A proof has the keys of a watch in a configuration that determine the required proof.
type proof struct {
	Require      string
	Key, Keyring []string
	SMIMECA      []string `toml:"smime-ca"`
}

// rank returns 0 for no proof, 1 for a digest and 2 for a signature.
func (p *proof) rank() int {
	switch {
	case p.Require == "none":
		return 0
	case p.Require == "signature", p.Require == "" && len(p.Key)+len(p.Keyring)+len(p.SMIMECA) > 0:
		return 2
	}
	return 1
}

// Add returns a configuration with the entry at its end, and the name of its watch. If the configuration has a watch of
// the same template, Add returns the configuration unchanged. If that watch requires less proof than the entry, the
// error is a *WeakerError. If the configuration has a feed with the same URL, that feed is used. A name that is taken
// gets a number.
func Add(config []byte, e Entry) (changed []byte, name string, err error) {
	var have struct {
		Feed  map[string]struct{ URL string }
		Watch map[string]struct {
			URL string
			proof
		}
	}
	if _, err := toml.Decode(string(config), &have); err != nil {
		return nil, "", err
	}
	for name, w := range have.Watch {
		if w.URL != e.URL {
			continue
		}
		if demanded := (&proof{Require: e.Require}); w.rank() < demanded.rank() {
			return nil, name, &WeakerError{name}
		}
		return config, name, nil
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

// unused returns name, with a number at its end if the name is used already.
func unused(name string, used func(string) bool) string {
	for n, next := 2, name; ; n++ {
		if !used(next) {
			return next
		}
		next = name + "-" + strconv.Itoa(n)
	}
}
