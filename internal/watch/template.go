package watch

import (
	"braid/metalink"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// A Template is what files are called in the folder of a watch: text with fields in braces. The zero Template is {base}, or for a
// glob {below}.
type Template struct {
	text string
	// folder is what the paths of a glob's URLs begin with, up to the slash before the first star.
	folder string
	parts  []part
}

// A part is text, or a field if fill is set.
type part struct {
	text string
	fill func(t *Template, s *subject) (string, error)
}

// A subject is what a name is made for.
type subject struct {
	URL   *url.URL
	Watch string
	// At is when the file was modified, as far as that is known.
	At time.Time
}

// fields are what stands in braces.
var fields = map[string]func(t *Template, s *subject) (string, error){
	"host": func(_ *Template, s *subject) (string, error) {
		return strings.NewReplacer(":", "_", "[", "", "]", "").Replace(strings.ToLower(s.URL.Host)), nil
	},
	"path":  func(_ *Template, s *subject) (string, error) { return pathOf(s.URL, "/") },
	"below": func(t *Template, s *subject) (string, error) { return pathOf(s.URL, t.folder) },
	"base": func(_ *Template, s *subject) (string, error) {
		name, err := pathOf(s.URL, "/")
		return path.Base(name), err
	},
	"query": func(_ *Template, s *subject) (string, error) {
		return strings.ReplaceAll(url.QueryEscape(s.URL.RawQuery), "+", "%20"), nil
	},
	"hash": func(_ *Template, s *subject) (string, error) {
		u := *s.URL
		u.User, u.Fragment, u.RawFragment = nil, "", ""
		return fmt.Sprintf("%x", sha256.Sum256([]byte(u.String())))[:12], nil
	},
	"watch": func(_ *Template, s *subject) (string, error) { return s.Watch, nil },
	"date":  func(_ *Template, s *subject) (string, error) { return s.At.UTC().Format("2006-01-02"), nil },
	"time":  func(_ *Template, s *subject) (string, error) { return s.At.UTC().Format("15-04-05"), nil },
}

// fieldNames are fields, in the order in which they are told of.
const fieldNames = "{base}, {path}, {below}, {host}, {query}, {hash}, {watch}, {date}, {time}"

// parseTemplate reads a template for the files of a URL or, if glob is set, of the URLs that it stands for. Two of
// these never get the same name.
func parseTemplate(text, urlOrGlob string, glob bool) (Template, error) {
	t := Template{text: text}
	if t.text == "" {
		t.text = "{base}"
	}
	if glob {
		t.folder = folderOf(urlOrGlob)
		if text == "" {
			t.text = "{below}"
		}
	}
	rest := t.text
	for rest != "" {
		before, after, found := strings.Cut(rest, "{")
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		if !found {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		fill := fields[name]
		if !closed || fill == nil {
			return t, fmt.Errorf("there is no field {%s}; there are %s", strings.TrimSpace(name), fieldNames)
		}
		t.parts = append(t.parts, part{name, fill})
		rest = behind
	}
	if glob && !t.distinguishes(urlOrGlob) {
		return t, fmt.Errorf("two files of the glob could get one name: {below}, {path} or {hash} tells them apart")
	}
	return t, nil
}

// String is the text of the template.
func (t Template) String() string { return t.text }

// has reports whether the template has a field.
func (t *Template) has(name string) bool {
	for _, p := range t.parts {
		if p.fill != nil && p.text == name {
			return true
		}
	}
	return false
}

// distinguishes reports whether the names of two URLs of a glob differ if their paths do.
func (t *Template) distinguishes(glob string) bool {
	_, stars, _ := strings.Cut(glob, "*")
	oneFolder := !strings.Contains(stars, "/") && !strings.HasPrefix(stars, "*") && !strings.Contains(stars, "**")
	return t.has("below") || t.has("path") || t.has("hash") || t.has("base") && oneFolder
}

// Steady reports whether each version of a file has the same name.
func (t *Template) Steady() bool { return !t.has("date") && !t.has("time") }

// Name makes the name of a file: a path with slashes that is safe below a folder.
func (t *Template) Name(s subject) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		text := p.text
		if p.fill != nil {
			var err error
			if text, err = p.fill(t, &s); err != nil {
				return "", err
			}
		}
		b.WriteString(text)
	}
	name := b.String()
	if err := metalink.CheckPath(name); err != nil {
		return "", fmt.Errorf("%.100q cannot be a name: %w", name, err)
	}
	if t.folder != "" && s.URL.RawQuery != "" && !t.has("query") && !t.has("hash") {
		return "", fmt.Errorf("the URL has a query, and the name %.100q is that of every query: {query} or {hash} in it tells them apart", name)
	}
	return name, nil
}

// folderOf is the path of a glob up to the slash before its first star.
func folderOf(glob string) string {
	literal, _, _ := strings.Cut(glob, "*")
	_, rest, _ := strings.Cut(literal, "://")
	_, p, _ := strings.Cut(rest, "/")
	return "/" + p[:strings.LastIndexByte(p, '/')+1]
}

// sameSegment reports whether two segments of paths are the same, however they are escaped.
func sameSegment(a, b string) bool {
	x, err1 := url.PathUnescape(a)
	y, err2 := url.PathUnescape(b)
	return a == b || err1 == nil && err2 == nil && x == y
}

// pathOf is the decoded path of u below folder. A slash that was escaped is none between folders, so there is no name for it.
func pathOf(u *url.URL, folder string) (string, error) {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	above := strings.Split(strings.Trim(folder, "/"), "/")
	if len(segments) > len(above) && folder != "/" && slices.EqualFunc(segments[:len(above)], above, sameSegment) {
		segments = segments[len(above):]
	}
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil || strings.ContainsAny(plain, "/") {
			return "", fmt.Errorf("the path of the URL has %.40q, which no name can have", s)
		}
		segments[i] = plain
	}
	if segments[len(segments)-1] == "" {
		return "", fmt.Errorf("the URL is that of a folder, and not of a file (rule 12)")
	}
	return strings.Join(segments, "/"), nil
}
