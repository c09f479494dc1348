package watch

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/antenna"
	"braid/antenna/release"
	"braid/metalink"
)

const (
	// mostKept is the maximum of old versions that a watch may keep.
	mostKept = 1000
	// shortest is the shortest interval between a watch's own checks of its URL. unasked is the interval if there are
	// no feeds and check-every is not set.
	shortest = time.Second
	unasked  = time.Hour
)

// watch converts a watch table and adds it to the configuration.
func (b *builder) watch(name string, t *watchTable) (err error) {
	key := func(last string) []string { return []string{"watch", name, last} }
	where, err := address.ASCII(t.URL + t.Glob)
	if err != nil {
		return b.wrong(err.Error(), "", key("url")...)
	}
	w := Watch{
		Watch: antenna.Watch{
			Name: name, URL: where, Glob: t.Glob != "", Feeds: t.Feeds, CheckEvery: time.Duration(t.CheckEvery),
			AnyNews: t.AnyNews, Title: t.Title, Author: t.Author,
		},
		Dir: b.path(t.Dir), To: t.To, Keep: t.Keep, Run: b.program(t.Run), OnFailure: b.program(t.OnFailure),
		HookTime: time.Duration(t.HookTime),
		Size:     int64(t.MaxSize), AllowOlder: t.AllowOlder,
		Require: t.Require, Priority: t.Priority,
		Keyrings: b.pathsOf(t.Keyring), Keys: b.keysOf(t.Key), Pins: t.Pin, Authorities: b.pathsOf(t.SMIMECA),
		AllowExpiredKey: t.AllowExpiredKey, Mirrors: slices.Clone(t.Mirror), FeedMirrors: t.FeedMirrors, Rate: t.LimitRate,
		AllowLessProof: t.AllowLessProof, NoMetalink: t.NoMetalink, NoLookup: t.NoLookup, Link: t.Link,
	}
	if w.Releases, err = b.releases(where, t, key); err != nil {
		return err
	}
	for _, s := range t.Signature { // endings such as .asc and URLs stay unchanged
		if !strings.HasPrefix(s, ".") && !strings.Contains(s, "://") {
			s = b.path(s)
		}
		w.Signatures = append(w.Signatures, s)
	}
	if err := b.checkWatch(&w, t, key); err != nil {
		return err
	}
	if w.Zone, err = zone(t.Zone); err != nil {
		return b.wrong(err.Error(), "", key("zone")...)
	}
	if t.Zone == "" {
		w.Zone = b.zone
	}
	if w.File, err = parseTemplate(t.Name, w.URL, w.Glob); err != nil {
		return b.wrong(err.Error(), "", key("name")...)
	}
	a, err := b.access(&t.accessTable, w.URL, "watch", name)
	if err != nil {
		return err
	}
	w.Header = a.all()
	alone := w.Watch
	alone.Feeds = nil
	if err := (&antenna.Antenna{Watches: []antenna.Watch{alone}}).Check(); err != nil {
		return b.wrong(strings.TrimPrefix(err.Error(), "watch "+name+": "), "", "watch", name)
	}
	if err := b.alone(&w, key("name")); err != nil {
		return err
	}
	if err := b.checkLink(&w, key("link")); err != nil {
		return err
	}
	b.config.Watches = append(b.config.Watches, w)
	return nil
}

// program returns args with the path of the program. A relative path with a slash is joined to the folder of the
// configuration. A program name without a slash is looked up when the program is run.
func (b *builder) program(args []string) []string {
	if len(args) == 0 || !strings.Contains(args[0], "/") {
		return args
	}
	return append([]string{b.path(args[0])}, args[1:]...)
}

// checkWatch returns an error for settings that contradict each other or would have no effect.
func (b *builder) checkWatch(w *Watch, t *watchTable, key func(string) []string) error {
	signs := len(w.Keys)+len(w.Keyrings)+len(w.Authorities) > 0
	for _, wrong := range []struct {
		when           bool
		last, why, try string
	}{
		{(t.URL == "") == (t.Glob == ""), "url", "needs exactly one of url and glob",
			"set url = for one file, or glob = for several, as in https://example.org/pub/*.iso"},
		{t.URL != "" && strings.Contains(t.URL, "*"), "url", "has a star, which a url does not expand",
			"set glob = for several files"},
		{t.Dir == "" && t.To == "", "dir", "missing folder for the files", "set dir =, or to = for an object store"},
		{t.Dir != "" && t.To != "", "to", "cannot be combined with dir", "leave out dir = or to ="},
		{t.To != "" && !strings.HasPrefix(t.To, "s3://"), "to", "is not a URL of the form s3://BUCKET/PREFIX/",
			"to = \"s3://BUCKET/PREFIX/\""},
		{t.To != "" && t.Keep != nil, "keep",
			"does not apply to an object store: the store keeps old versions if versioning is on for the bucket",
			"leave out keep ="},
		{t.Keep != nil && (*t.Keep < 0 || *t.Keep > mostKept), "keep", "write a number from 0 to 1000", ""},
		{len(w.Pins) > 0 && len(w.Keys)+len(w.Keyrings) == 0, "pin", "selects one of the trusted keys, but none is given",
			"set key = to a file of keys"},
		{w.Require == RequireSignature && !signs, "require", "no key or certificate is trusted",
			"name the trusted keys with key ="},
		{t.CheckEvery > 0 && w.Glob, "check-every", "applies only to url, because a glob cannot be requested", ""},
		{t.AnyNews && w.Glob, "any-news", "applies only to url: a glob names no file to request",
			"set url = for one file"},
		{t.AnyNews && len(t.Feeds) == 0, "any-news", "needs the name of a feed", "feeds = [\"NAME\"]"},
		{t.CheckEvery > 0 && w.CheckEvery < shortest, "check-every", "must be at least one second", ""},
		{w.Glob && slices.ContainsFunc(w.Signatures, func(s string) bool { return !strings.HasPrefix(s, ".") }),
			"signature", "this is the signature of one file, but a glob has several",
			"write signature = \".asc\" for a signature beside each file"},
		{w.Glob && strings.Contains(strings.SplitN(w.URL+"//", "/", 4)[2], "@"), "glob",
			"has a user name or password, and would not match the URLs in feeds", "set user-env = or user-file ="},
		{w.Glob && len(w.Mirrors) > 0, "mirror", "applies only to url: a mirror has one file, and a glob several", ""},
		{t.AllowExpiredKey && len(w.Keys)+len(w.Keyrings) == 0, "allow-expired-key", "needs a trusted key",
			"name the trusted keys with key ="},
		{t.HookTime > 0 && len(w.Run)+len(w.OnFailure) == 0, "hook-time", "applies only to run and on-failure",
			"set run = or on-failure ="},
		{len(w.Run) > 0 && w.Run[0] == "", "run", "the name of the program is empty", ""},
		{len(w.OnFailure) > 0 && w.OnFailure[0] == "", "on-failure", "the name of the program is empty", ""},
	} {
		if wrong.when {
			return b.wrong(wrong.why, wrong.try, key(wrong.last)...)
		}
	}
	if err := b.checkReleases(w, t, key); err != nil {
		return err
	}
	if !w.Glob {
		if err := b.web(w.URL, key("url")...); err != nil {
			return err
		}
	}
	return cmp.Or(b.checkMirrors(w, key("mirror")), b.checkFeeds(w, key))
}

// checkMirrors returns an error if the URL of a mirror is not valid. It converts the URLs to ASCII.
func (b *builder) checkMirrors(w *Watch, key []string) error {
	for i, m := range w.Mirrors {
		plain, err := address.ASCII(m)
		if err != nil {
			return b.wrong(err.Error(), "", key...)
		}
		if err := b.web(plain, key...); err != nil {
			return err
		}
		w.Mirrors[i] = plain
	}
	return nil
}

// releases returns the antenna.Releases of a watch with the URL at, or nil if the watch follows no releases.
func (b *builder) releases(at string, t *watchTable, key func(string) []string) (*antenna.Releases, error) {
	if !isTemplate(at) || t.Glob != "" {
		return nil, nil
	}
	r := &antenna.Releases{Moving: t.Moving}
	var p release.Patterns
	for _, part := range []struct {
		key, text string
		to        *string
	}{{"url", "", new(string)}, {"token-pattern", t.TokenPattern, &p.Token}, {"version-pattern", t.VersionPattern, &p.Version}} {
		*part.to = part.text
		var err error
		if r.Template, err = release.ParseTemplate(at, p); err != nil {
			return nil, b.wrong(err.Error(), "", key(part.key)...)
		}
	}
	r.Choice.PreReleases = t.PreReleases
	if t.Versions != "" {
		var err error
		if r.Choice.Versions, err = release.ParseRange(t.Versions); err != nil {
			return nil, b.wrong(err.Error(), "", key("versions")...)
		}
	}
	return r, nil
}

// checkReleases returns an error for settings that contradict each other or would have no effect because a watch
// follows releases, or because it follows none.
func (b *builder) checkReleases(w *Watch, t *watchTable, key func(string) []string) error {
	const none, add = "applies only to releases, but the url has no field such as {version}",
		"in url =, write {version} or {tag} in place of the version"
	follows := w.Releases != nil
	for _, wrong := range []struct {
		when           bool
		last, why, try string
	}{
		{!follows && t.TokenPattern != "", "token-pattern", none, add},
		{!follows && t.VersionPattern != "", "version-pattern", none, add},
		{!follows && t.Versions != "", "versions", none, add},
		{!follows && t.PreReleases, "pre-releases", none, add},
		{!follows && t.Moving, "moving", none, add},
		{!follows && t.Link != "", "link", none, add},
		{follows && t.CheckEvery > 0, "check-every",
			"does not apply to releases, which are requested only when a feed reports them", ""},
		{follows && t.AnyNews, "any-news", "does not apply to releases, which are requested only when a feed reports them", ""},
		{follows && len(w.Mirrors) > 0, "mirror", "this mirror has only one file, but each release has a file of its own", ""},
		{follows && w.AllowOlder, "allow-older", "an older version never replaces a newer one",
			"to go back to an older version, exclude the newer one with braid watch forget NAME VERSION"},
		{follows && slices.ContainsFunc(w.Signatures, func(s string) bool { return !strings.HasPrefix(s, ".") }),
			"signature", "this is the signature of one file, but each release has its own signature",
			"write signature = \".asc\" for a signature beside each file"},
		{follows && strings.Contains(strings.SplitN(w.URL+"//", "/", 4)[2], "@"), "url",
			"has a user name or password, and would not match the URLs in feeds", "set user-env = or user-file ="},
	} {
		if wrong.when {
			return b.wrong(wrong.why, wrong.try, key(wrong.last)...)
		}
	}
	return nil
}

// checkLink returns an error if the name of the link is invalid, or if a file may have the same name.
func (b *builder) checkLink(w *Watch, key []string) error {
	if w.Link == "" {
		return nil
	}
	if err := metalink.CheckPath(w.Link); err != nil || strings.Contains(w.Link, "/") || metalink.IsOwn(w.Link) {
		return b.wrong("is not a valid name for a link beside the files", "link = \"tool-latest.tar.gz\"", key...)
	}
	if !w.File.PerVersion() {
		return b.wrong("the files of all versions have the same name", "leave link = out, or add {version} to name =", key...)
	}
	return b.reserveLink(w, key)
}

// checkReleaseFeeds returns an error if w follows releases and there is no feed, or w names none of several feeds.
func (b *builder) checkReleaseFeeds(w *Watch, key []string) error {
	switch n := len(b.config.Feeds); {
	case w.Releases == nil:
	case n == 0:
		return b.wrong("a release watch needs a feed that reports the versions", "add [feed.NAME]", key...)
	case n > 1 && len(w.Feeds) == 0:
		return b.wrong("there are several feeds: name the one that reports the versions", "feeds = [\"NAME\"]", key...)
	}
	return nil
}

// checkFeeds returns an error for a feed that does not exist, and for a glob without any feed. Without any feed, it
// sets the default of CheckEvery.
func (b *builder) checkFeeds(w *Watch, key func(string) []string) error {
	known := []string{}
	for _, f := range b.config.Feeds {
		known = append(known, f.Name)
	}
	for _, name := range w.Feeds {
		if !slices.Contains(known, name) {
			return b.wrong("there is no feed "+name, "add [feed."+name+"]", key("feeds")...)
		}
	}
	if err := b.checkReleaseFeeds(w, key("feeds")); err != nil {
		return err
	}
	switch {
	case len(known) > 0 || w.CheckEvery > 0:
	case w.Glob:
		return b.wrong("a glob needs a feed that names the files", "add [feed.NAME]", key("feeds")...)
	default:
		w.CheckEvery = unasked
	}
	return nil
}

var errZone = errors.New("write an offset such as +09:00")

// zone parses an offset from UTC, in seconds east.
func zone(text string) (seconds int64, err error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse("Z07:00", text)
	if err != nil {
		return 0, errZone
	}
	_, offset := t.Zone()
	return int64(offset), nil
}
