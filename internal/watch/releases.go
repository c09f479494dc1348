package watch

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"braid/antenna"
	"braid/internal/once"
)

// releaseKeys are the keys of [watch.NAME] about releases. A watch follows releases if its url has fields.
type releaseKeys struct {
	TokenPattern   string `toml:"token-pattern"`
	VersionPattern string `toml:"version-pattern"`
	Versions       string `toml:"versions"`
	PreReleases    bool   `toml:"pre-releases"`
	Moving         bool   `toml:"moving"`
	Link           string `toml:"link"`
}

// Many reports whether the watch has several URLs: the URLs of a glob, or one URL for each release.
func (w *Watch) Many() bool { return w.Glob || w.Releases != nil }

// pattern returns the URL of the watch with stars in place of the fields of a template.
func (w *Watch) pattern() string {
	if w.Releases == nil {
		return w.URL
	}
	return releaseFields().ReplaceAllLiteralString(w.URL, "*")
}

var releaseFields = once.Pattern(`\{[^{}]*\}`)

// isTemplate reports whether a URL has fields. Braces in URLs are percent-encoded.
func isTemplate(url string) bool { return strings.ContainsAny(url, "{}") }

// PerVersion reports whether the versions that a watch follows have files of different names.
func (t *Template) PerVersion() bool { return t.release && t.perVersion }

// follow makes t a template for the files of the releases at a URL with fields.
func (t *Template) follow(at string) {
	_, rest, _ := strings.Cut(at, "://")
	before, query, _ := strings.Cut(rest, "?")
	_, below, _ := strings.Cut(before, "/")
	t.release = true
	t.perVersion = t.has("version") || t.has("tag") || t.has("hash") || t.has("query") && isTemplate(query) ||
		(t.has("path") || t.has("below")) && isTemplate(below) || t.has("base") && isTemplate(path.Base("/"+below))
}

// releaseField returns the function for a field that is allowed only in file names of releases, or nil for any other
// field.
func releaseField(name string) func(t *Template, s *subject) (string, error) {
	if name != "version" && name != "tag" {
		return nil
	}
	return func(_ *Template, s *subject) (string, error) {
		switch {
		case s.Release == nil:
			return "", fmt.Errorf("{%s} is available only for files of releases", name)
		case name == "tag":
			return s.Release.Tag, nil
		}
		return s.Release.Version, nil
	}
}

// linkName returns the name of the link, or of the latestObject that replaces the link, or "".
func (w *Watch) linkName() string {
	if w.Link != "" && w.To != "" {
		return w.Link + latestEnding
	}
	return w.Link
}

// nameOf returns the name of the file of an update.
func (r *Rule) nameOf(u *antenna.Update, s subject) (string, error) {
	s.Watch, s.Release = u.Watch, u.Release
	if s.URL == nil {
		var err error
		if s.URL, err = url.Parse(u.URL); err != nil {
			return "", err
		}
	}
	name, err := r.File.Name(s)
	if link := r.linkName(); err == nil && link != "" && name == link {
		err = fmt.Errorf("the file cannot be called %.100q, because this is the name of the link", name)
	}
	return name, err
}
