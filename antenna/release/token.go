package release

import (
	"net/url"
	"strings"

	"braid/antenna/feed"
	"braid/internal/once"
)

const maxToken = 64

// isToken reports whether s may be part of a URL: letters, digits and some marks, without two dots in a row.
func isToken(s string) bool {
	if s == "" || len(s) > maxToken || !isAlphanumeric(s[0]) || strings.Contains(s, "..") {
		return false
	}
	for i := range len(s) {
		if !inToken(s[i]) {
			return false
		}
	}
	return true
}

func inToken(c byte) bool { return isAlphanumeric(c) || strings.IndexByte("._+~-", c) >= 0 }

func isAlphanumeric(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }

// The group of defaultVersion is the tag without a leading v, release- or NAME-.
var defaultVersion = once.Pattern(`^(?:[A-Za-z][^-]*-)*?[vV]?([0-9].*)$`)

// versionOf returns the version of a tag, or "" if the pattern of the user does not match.
func (t *Template) versionOf(tag string) string {
	if t.version != nil {
		if m := t.version.FindStringSubmatch(tag); m != nil {
			return m[1]
		}
		return ""
	}
	if m := defaultVersion().FindStringSubmatch(tag); m != nil {
		return m[1]
	}
	return tag
}

// Of returns the release that a record reports. ok is false if the record has no tag or version for the template, or
// one that may not be part of a URL.
//
// The tag is Record.Tag, which release APIs have, or for a sub-folder of an index page the tag that FolderOf returns.
// Else the URL of the record is matched with the template, and then its last segment with the last segment of the
// template. Else Patterns.Token finds the tag in URL, id or title. Without such a pattern, the tag is the last segment
// of the link of a news item, if the segment has a digit.
func (t *Template) Of(r feed.Record) (release Release, ok bool) {
	switch {
	case r.Failed:
		return Release{}, false
	case r.Tag != "":
		release, ok = t.tagged(r.Tag, r.LastModified)
	case r.Format == feed.IndexPage && strings.HasSuffix(r.URL, "/"):
		release, ok = t.FolderOf(r.URL)
	default:
		if release, ok = t.FileOf(r.URL); !ok {
			release, ok = t.named(r)
		}
		if !ok {
			release, ok = t.tagged(t.tagIn(r), r.LastModified)
		}
	}
	release.Date, release.Pre = r.LastModified, r.PreRelease
	return release, ok
}

// InvalidTag returns the tag in r if the tag cannot be part of a URL, so that r reports no release. Else it returns "".
func (t *Template) InvalidTag(r feed.Record) string {
	tag := r.Tag
	if tag == "" && !r.Failed {
		tag = t.tagIn(r)
	}
	if tag == "" || isToken(tag) {
		return ""
	}
	if _, ok := t.Of(r); ok { // the URL of r has another tag
		return ""
	}
	return tag
}

// FileOf returns the release to which the file at url belongs, judged only by the template.
func (t *Template) FileOf(url string) (Release, bool) {
	key, ok := feed.Key(url)
	if !ok || len(url) > feed.MaxURL {
		return Release{}, false
	}
	parts := t.match
	if strings.HasPrefix(key, t.parts[0].literal) { // key has the user information of the template
		parts = t.parts
	}
	v, ok := t.scan(parts, key)
	if !ok {
		return Release{}, false
	}
	return t.release(v)
}

// Near returns how similar the name of the file at url is to that of the template: the number of bytes at the beginning
// and the end of the name that agree with the text around the fields.
func (t *Template) Near(url string) int {
	name, pattern := url[strings.LastIndexByte(url, '/')+1:], t.text[strings.LastIndexByte(t.text, '/')+1:]
	before, _, _ := strings.Cut(pattern, "{")
	after := pattern[strings.LastIndexByte(pattern, '}')+1:]
	n, m := 0, 0
	for n < min(len(name), len(before)) && name[n] == before[n] {
		n++
	}
	for name = name[n:]; m < min(len(name), len(after)) && name[len(name)-1-m] == after[len(after)-1-m]; {
		m++
	}
	return n + m
}

// named returns the release of r if the last segment of r.URL matches the last segment of the template. The host and
// the folder of r.URL do not matter.
func (t *Template) named(r feed.Record) (Release, bool) {
	key, ok := feed.Key(r.URL)
	if t.segment == nil || !ok || len(r.URL) > feed.MaxURL {
		return Release{}, false
	}
	key, _, _ = strings.Cut(key, "?")
	v, ok := t.scan(t.segment, key[strings.LastIndexByte(key, '/')+1:])
	if !ok {
		return Release{}, false
	}
	return t.release(v.on(r.LastModified))
}

// tagIn returns the tag in r, or "". r is not from a release API.
func (t *Template) tagIn(r feed.Record) string {
	if t.token == nil {
		if r.Format != feed.News {
			return ""
		}
		tag := lastSegment(r.URL)
		if !strings.ContainsAny(tag, "0123456789") {
			return "" // the name of an article
		}
		return tag
	}
	id, _ := r.Get("id")
	for _, text := range []string{r.URL, id, r.Title} {
		if m := t.token.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// lastSegment returns the last segment of the path of a URL, decoded. A slash at the end is ignored.
func lastSegment(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	segment, _ := url.PathUnescape(path[strings.LastIndexByte(path, '/')+1:])
	return segment
}

// tagged returns the release with a tag.
func (t *Template) tagged(tag string, at feed.Time) (Release, bool) {
	if !isToken(tag) {
		return Release{}, false
	}
	return t.release(values{tagField: tag}.on(at))
}

// release returns the release with the values v and the values that follow from v.
func (t *Template) release(v values) (Release, bool) {
	if !t.complete(v) {
		return Release{}, false
	}
	url := t.fill(v)
	if key, ok := feed.Key(url); !ok || key != url || len(url) > feed.MaxURL {
		return Release{}, false // the token is index.html
	}
	return Release{Tag: v[tagField], Version: v[versionField], URL: url}, true
}
