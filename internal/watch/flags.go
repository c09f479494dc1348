package watch

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// Flags is a configuration given on the command line.
type Flags struct {
	// Feeds are URLs or paths of feeds. URLs are the watched URLs. A URL with a star is a glob.
	Feeds, URLs []string
	Dir         string
	Require     Require
	// CheckEvery is the interval at which the watched URLs themselves are requested. If zero, the URLs are requested
	// every hour without feeds, and never with feeds.
	CheckEvery time.Duration
	// Keys are files of trusted keys or certificates, or the text of keys. Keyrings are files of trusted keys, and
	// Authorities files of trusted certificates.
	Keys, Keyrings, Authorities []string
}

// FromFlags returns the configuration for flags. Feeds and watches are named after their URLs.
func FromFlags(f Flags, o ConfigOptions) (*Config, error) {
	b := &builder{ConfigOptions: o, paths: map[string]string{}}
	taken := map[string]bool{}
	for _, at := range f.Feeds {
		t := &feedTable{URL: at}
		if !strings.Contains(at, "://") {
			t = &feedTable{File: at}
		}
		if err := b.feed(called(at, taken), t); err != nil {
			return nil, err
		}
	}
	taken = map[string]bool{}
	for _, at := range f.URLs {
		t := &watchTable{URL: at, Dir: f.Dir, Require: f.Require, CheckEvery: span(f.CheckEvery),
			anchorKeys: anchorKeys{Key: f.Keys, Keyring: f.Keyrings, SMIMECA: f.Authorities}}
		if strings.Contains(at, "*") {
			t.URL, t.Glob, t.CheckEvery = "", at, 0
		}
		if err := b.watch(called(at, taken), t); err != nil {
			return nil, err
		}
	}
	return &b.config, nil
}

// called returns a name for a URL or a path, and adds the name to taken. The name was not in taken before. It omits the
// query, which may be secret.
func called(at string, taken map[string]bool) string {
	name := path.Base(at)
	if u, err := url.Parse(at); err == nil && u.Host != "" {
		if name = path.Base(u.Path); name == "." || name == "/" {
			name = u.Host
		}
	}
	for n, base := 2, name; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name
}
