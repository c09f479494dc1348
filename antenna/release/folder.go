package release

import (
	"slices"
	"strings"

	"braid/antenna/feed"
)

// HasFolders reports whether the template has a field in the name of a folder. The folders of an index page are then
// versions; see FolderOf.
func (t *Template) HasFolders() bool { return t.folder() != nil }

// folder returns the parts of the template up to the first folder with a field, or nil if there is none.
func (t *Template) folder() []part {
	for i := 2; i < len(t.match); i += 2 {
		if strings.Contains(t.match[i-2].literal, "?") {
			return nil
		}
		path, _, _ := strings.Cut(t.match[i].literal, "?")
		if slash := strings.IndexByte(path, '/'); slash >= 0 {
			parts := slices.Clone(t.match[:i+1])
			parts[i].literal = path[:slash+1]
			return parts
		}
	}
	return nil
}

// FolderOf returns the release whose file is below the folder with this URL. The URL ends with a slash. ok is false if
// the name of the folder does not have the values of all fields.
func (t *Template) FolderOf(url string) (release Release, ok bool) {
	key, ok := feed.Key(url)
	parts := t.folder()
	if parts == nil || !ok || len(url) > feed.MaxURL {
		return Release{}, false
	}
	v, ok := t.scan(parts, key)
	for _, p := range t.parts {
		if p.field != "" && v[p.field] == "" {
			_, follows := t.derived(v, p.field)
			ok = ok && follows
		}
	}
	if !ok {
		return Release{}, false
	}
	return t.release(v)
}
