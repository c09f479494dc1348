package watch

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// Flags are a configuration that fits on a command line.
type Flags struct {
	// Feeds are URLs or paths, URLs what is watched: with a star it is a glob.
	Feeds, URLs []string
	Dir         string
	Require     Require
	// CheckEvery is how often URLs are asked for themselves. If zero, they are every hour, unless there are feeds.
	CheckEvery time.Duration
	// Keyrings and Authorities are files with trusted keys.
	Keyrings, Authorities []string
}

// FromFlags makes a configuration of flags. What has no name is called after its URL.
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
		t := &watchTable{URL: at, Dir: f.Dir, Require: f.Require, CheckEvery: span(f.CheckEvery), Keyring: f.Keyrings, SMIMECA: f.Authorities}
		if strings.Contains(at, "*") {
			t.URL, t.Glob, t.CheckEvery = "", at, 0
		}
		if err := b.watch(called(at, taken), t); err != nil {
			return nil, err
		}
	}
	return &b.config, nil
}

// called is a name for a URL or a path that is not taken yet. It has no query, which may be secret.
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
