package watch

import (
	"errors"
	"slices"
	"strings"
	"time"

	"braid/address"
	"braid/antenna"
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
		AllowExpiredKey: t.AllowExpiredKey, Mirrors: slices.Clone(t.Mirror), Rate: t.LimitRate,
		AllowLessProof: t.AllowLessProof, NoMetalink: t.NoMetalink, NoLookup: t.NoLookup,
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
	b.config.Watches = append(b.config.Watches, w)
	return nil
}

// program resolves the path of a program against the configuration's folder. A program name without a slash is looked
// up when it is run.
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
		{(t.URL == "") == (t.Glob == ""), "url", "a watch has a url or a glob",
			"a glob has stars: https://example.org/pub/*.iso"},
		{t.URL != "" && strings.Contains(t.URL, "*"), "url", "has a star, but is requested literally",
			"glob = stands for several files"},
		{t.Dir == "" && t.To == "", "dir", "the folder is missing", "dir = is where the file goes, or to = in an object store"},
		{t.Dir != "" && t.To != "", "to", "a file goes into a folder or an object store, not both", "leave out dir = or to ="},
		{t.To != "" && !strings.HasPrefix(t.To, "s3://"), "to", "not a place in an object store", "to = \"s3://BUCKET/PREFIX/\""},
		{t.To != "" && t.Keep > 0, "keep",
			"old versions of objects are kept by the store, if its bucket has versions", "leave out keep ="},
		{t.Keep < 0 || t.Keep > mostKept, "keep", "write a number from 0 to 1000", ""},
		{len(w.Pins) > 0 && len(w.Keys)+len(w.Keyrings) == 0, "pin", "selects a key, but no keyring is given",
			"key = names a file with keys"},
		{w.Require == RequireSignature && !signs, "require", "no key or certificate is trusted",
			"key = names one"},
		{t.CheckEvery > 0 && w.Glob, "check-every", "a glob is not asked for", ""},
		{t.AnyNews && w.Glob, "any-news", "a glob is not asked for, as any news of a feed name no file of it",
			"url = is one file"},
		{t.AnyNews && len(t.Feeds) == 0, "any-news", "which feed's news are meant is missing", "feeds = [\"NAME\"]"},
		{t.CheckEvery > 0 && w.CheckEvery < shortest, "check-every", "checks are at least a second apart", ""},
		{w.Glob && slices.ContainsFunc(w.Signatures, func(s string) bool { return !strings.HasPrefix(s, ".") }),
			"signature", "a signature of one file, for a glob", ".asc is beside each"},
		{w.Glob && strings.Contains(strings.SplitN(w.URL+"//", "/", 4)[2], "@"), "glob",
			"has a name or a password, which URLs in feeds do not have", "user-env = or user-file = has them"},
		{w.Glob && len(w.Mirrors) > 0, "mirror", "a mirror of one file, for a glob", ""},
		{t.AllowExpiredKey && len(w.Keys)+len(w.Keyrings) == 0, "allow-expired-key", "is about keys, but no keyring is given",
			"key = has them"},
		{t.HookTime > 0 && len(w.Run)+len(w.OnFailure) == 0, "hook-time", "is for programs, but run and on-failure are not set",
			"run = or on-failure = names one"},
		{len(w.Run) > 0 && w.Run[0] == "", "run", "the program has no name", ""},
		{len(w.OnFailure) > 0 && w.OnFailure[0] == "", "on-failure", "the program has no name", ""},
	} {
		if wrong.when {
			return b.wrong(wrong.why, wrong.try, key(wrong.last)...)
		}
	}
	if !w.Glob {
		if err := b.web(w.URL, key("url")...); err != nil {
			return err
		}
	}
	for i, m := range w.Mirrors {
		plain, err := address.ASCII(m)
		if err != nil {
			return b.wrong(err.Error(), "", key("mirror")...)
		}
		if err := b.web(plain, key("mirror")...); err != nil {
			return err
		}
		w.Mirrors[i] = plain
	}
	return b.checkFeeds(w, key)
}

// checkFeeds returns an error for a feed that does not exist, and for a glob without any feed.
func (b *builder) checkFeeds(w *Watch, key func(string) []string) error {
	known := []string{}
	for _, f := range b.config.Feeds {
		known = append(known, f.Name)
	}
	for _, name := range w.Feeds {
		if !slices.Contains(known, name) {
			return b.wrong("no feed "+name, "add [feed."+name+"]", key("feeds")...)
		}
	}
	switch {
	case len(known) > 0 || w.CheckEvery > 0:
	case w.Glob:
		return b.wrong("a glob needs a feed, which names the files", "add [feed.NAME]", key("feeds")...)
	default:
		w.CheckEvery = unasked
	}
	return nil
}

var errZone = errors.New("write an offset, as +09:00")

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
