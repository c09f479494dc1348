package apt

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A base is the URL of a repository on one server. The URLs of the repository's files begin with that URL.
type base struct {
	url      string // ends with a slash
	priority int    // the mirror with the lowest comes first
	tags     map[string][]string
}

// mostMirrors limits the size of a list of mirrors.
const mostMirrors = 1 << 20

// readMirrors reads a list of mirrors in the format of apt-transport-mirror(1): one URL per line, followed by a tab and
// the properties of the mirror.
func readMirrors(name string) (all []base, err error) {
	data, err := readSmall(name, mostMirrors)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if line := lines.Text(); strings.TrimSpace(line) != "" && line[0] != '#' {
			b, err := parseBase(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b base) int { return a.priority - b.priority })
	return all, lines.Err()
}

// parseBase parses a line of a list.
func parseBase(line string) (base, error) {
	place, words, _ := strings.Cut(line, "\t")
	u, err := url.Parse(strings.TrimPrefix(strings.TrimSpace(place), "braid+"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return base{}, notMirror(place)
	}
	b := base{url: strings.TrimSuffix(u.String(), "/") + "/", priority: math.MaxInt32, tags: map[string][]string{}}
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, ":")
		switch name {
		case "priority":
			if n, err := strconv.ParseInt(value, 10, 32); err == nil {
				b.priority = int(n)
			}
		case "arch":
			b.tags["architecture"] = append(b.tags["architecture"], value)
		case "lang":
			b.tags["language"] = append(b.tags["language"], value)
		case "codename", "suite":
			b.tags["release"] = append(b.tags["release"], value)
			fallthrough
		default:
			b.tags[strings.ToLower(name)] = append(b.tags[strings.ToLower(name)], value)
		}
	}
	return b, nil
}

// notMirror returns the error for a word that is not a mirror's URL. The error does not contain a password.
func notMirror(word string) error {
	if strings.Contains(word, "@") {
		word = "..." + word[strings.LastIndexByte(word, '@'):]
	}
	return fmt.Errorf("%.100q is not the URL of a mirror (http:// or https://)", word)
}

// fits reports whether the mirror has the requested file. For each property of the mirror that the message also has,
// the mirror must have the value in the message.
func (b *base) fits(m *Message) bool {
	for kind, has := range b.tags {
		if is := m.Get("Target-" + kind); is != "" && !slices.Contains(has, is) {
			return false
		}
	}
	return true
}

// mirrorSets returns the lists of Acquire::braid::Mirrors. All mirrors of one list have the same files.
func (s *settings) mirrorSets() (sets [][]base, err error) {
	const setting = "Acquire::braid::Mirrors"
	prefix := strings.ToLower(setting)
	for name, words := range s.lists {
		if name != prefix && !strings.HasPrefix(name, prefix+"::") {
			continue
		}
		var set []base
		for _, word := range words {
			if file, ok := strings.CutPrefix(word, "mirror+file:"); ok {
				more, err := readMirrors(file)
				if err != nil {
					return nil, err
				}
				set = append(set, more...)
				continue
			}
			b, err := parseBase(word)
			if err != nil {
				return nil, fmt.Errorf("%s%s: %w, and no mirror+file:LIST", setting, strings.TrimPrefix(name, prefix), err)
			}
			set = append(set, b)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// places returns the URLs of a file on the configured servers and on their mirrors, with the same path below each base.
// If apt's URI names a list of mirrors, the lines of that list are the configured servers.
func (s *settings) places(uri string, m *Message) (configured, mirrors []string, err error) {
	plain := strings.TrimPrefix(uri, "braid+")
	if list, ok := strings.CutPrefix(plain, "mirror+file:"); ok {
		bases, rest, err := listOf(list)
		if err != nil {
			return nil, nil, err
		}
		if configured = join(bases, rest, m); len(configured) == 0 {
			return nil, nil, fmt.Errorf("no listed mirror has the file")
		}
	} else {
		configured = []string{plain}
	}
	sets, err := s.mirrorSets()
	if err != nil {
		return nil, nil, err
	}
	for _, at := range configured {
		for _, set := range sets {
			for _, b := range set {
				if rest, ok := strings.CutPrefix(at, b.url); ok {
					mirrors = append(mirrors, join(set, rest, m)...)
				}
			}
		}
	}
	slices.Sort(mirrors)
	mirrors = slices.DeleteFunc(slices.Compact(mirrors), func(at string) bool { return slices.Contains(configured, at) })
	return configured, mirrors, nil
}

// join returns the URLs of a path below each base that fits m.
func join(bases []base, path string, m *Message) (all []string) {
	for _, b := range bases {
		if b.fits(m) {
			all = append(all, b.url+path)
		}
	}
	return all
}

// listOf finds the list in a path such as /etc/apt/mirrors.list/dists/...: the list is the first prefix that is a file.
// rest is the path after that prefix.
func listOf(path string) (bases []base, rest string, err error) {
	path = "/" + strings.TrimLeft(path, "/")
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		name := path[:i]
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, "", fmt.Errorf("the list of mirrors cannot be read: %w", err)
		}
		if info.Mode().IsRegular() {
			bases, err = readMirrors(name)
			return bases, path[i+1:], err
		}
	}
	return nil, "", fmt.Errorf("no list of mirrors in %s", path)
}
