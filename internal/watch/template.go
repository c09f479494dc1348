package watch

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"braid/antenna/release"
	"braid/metalink"
)

// Template makes the names of files in the folder of a watch: text with fields in braces. The zero Template is {base},
// or {below} for a glob.
type Template struct {
	text string
	// folder is the common folder of the URLs of a glob: its path up to the last slash before the first star.
	folder string
	parts  []part
	// release is set for the files of releases. perVersion is set if each version has a name of its own.
	release, perVersion bool
}

// part is literal text, or a field if fill is set.
type part struct {
	text string
	fill func(t *Template, s *subject) (string, error)
}

// subject holds the values that a name is made from.
type subject struct {
	URL   *url.URL
	Watch string
	// At is the modification time of the file, if it is known.
	At time.Time
	// Release is the release to which the file belongs, or nil.
	Release *release.Release
}

// fields maps the names of fields to functions that return their values.
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

// fieldNames lists the fields, in the order used in messages.
const fieldNames = "{base}, {path}, {below}, {host}, {query}, {hash}, {watch}, {date}, {time}"

// parseTemplate parses a template for the file of a URL, for the releases of a URL with fields or, if glob is set, for
// the files of a glob. It returns an error if two files of the glob could get the same name.
func parseTemplate(text, urlOrGlob string, glob bool) (Template, error) {
	t := Template{text: text}
	if t.text == "" {
		t.text = "{base}"
	}
	releases := !glob && isTemplate(urlOrGlob)
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
		if fill == nil && releases {
			fill = releaseField(name)
		}
		if !closed || fill == nil {
			return t, fmt.Errorf("unknown field {%s}; the fields are %s", strings.TrimSpace(name), fieldNames)
		}
		t.parts = append(t.parts, part{name, fill})
		rest = behind
	}
	if releases {
		t.follow(urlOrGlob)
	}
	if glob && !t.distinguishes(urlOrGlob) {
		return t, fmt.Errorf("two files that match the glob could get the same name; add {below}, {path} or {hash}")
	}
	return t, nil
}

// String returns the text of the template.
func (t Template) String() string { return t.text }

func (t *Template) has(name string) bool {
	for _, p := range t.parts {
		if p.fill != nil && p.text == name {
			return true
		}
	}
	return false
}

// distinguishes reports whether two URLs of the glob with different paths get different names.
func (t *Template) distinguishes(glob string) bool {
	_, stars, _ := strings.Cut(glob, "*")
	oneFolder := !strings.Contains(stars, "/") && !strings.HasPrefix(stars, "*") && !strings.Contains(stars, "**")
	return t.has("below") || t.has("path") || t.has("hash") || t.has("base") && oneFolder
}

// Steady reports whether names do not depend on the modification time of the file.
func (t *Template) Steady() bool { return !t.has("date") && !t.has("time") }

// Name returns the name of a file. It is a path with slashes that cannot leave its folder.
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
		return "", fmt.Errorf("the URL has a query, and files of different queries would have the same name %.100q; add "+
			"{query} or {hash}", name)
	}
	return name, nil
}

// folderOf returns the path of a glob up to the last slash before the first star.
func folderOf(glob string) string {
	literal, _, _ := strings.Cut(glob, "*")
	_, rest, _ := strings.Cut(literal, "://")
	_, p, _ := strings.Cut(rest, "/")
	return "/" + p[:strings.LastIndexByte(p, '/')+1]
}

// sameSegment reports whether two path segments are equal after decoding.
func sameSegment(a, b string) bool {
	x, err1 := url.PathUnescape(a)
	y, err2 := url.PathUnescape(b)
	return a == b || err1 == nil && err2 == nil && x == y
}

// pathOf returns the decoded path of u below folder. An encoded slash does not separate folders, so a path with an
// encoded slash is an error.
func pathOf(u *url.URL, folder string) (string, error) {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	above := strings.Split(strings.Trim(folder, "/"), "/")
	if len(segments) > len(above) && folder != "/" && slices.EqualFunc(segments[:len(above)], above, sameSegment) {
		segments = segments[len(above):]
	}
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil || strings.ContainsAny(plain, "/") {
			return "", fmt.Errorf("the path of the URL has %.40q, which is invalid in a file name", s)
		}
		segments[i] = plain
	}
	if segments[len(segments)-1] == "" {
		return "", fmt.Errorf("the URL is of a folder, not of a file")
	}
	return strings.Join(segments, "/"), nil
}
