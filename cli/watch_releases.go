package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"braid/antenna"
	"braid/internal/option"
	"braid/internal/watch"
	"braid/source"
)

// versionIn returns the version and the configuration file in words. Both may be missing. ok is false if words has no version.
func versionIn(words []string) (version string, config []string, ok bool) {
	if len(words) == 0 {
		return "", nil, false
	}
	if len(words) == 1 {
		if _, err := os.Lstat(words[0]); err == nil || strings.HasSuffix(words[0], ".toml") {
			return "", words, false
		}
	}
	return words[0], words[1:], true
}

// forgetVersion makes the running watcher skip a version of the watch with that name. If no watcher is running, it
// changes the stored state itself.
func (v *watchCommand) forgetVersion(ctx context.Context, name, version string, words []string) error {
	c, err := v.load(words, toAsk)
	if err != nil {
		return err
	}
	_, err = watch.Client{Dir: c.Folder}.ForgetVersion(ctx, name, version)
	if errors.Is(err, watch.ErrNotRunning) {
		err = v.watcher().ForgetStoredVersion(ctx, c, name, version)
	}
	if err != nil {
		return controlFailure(ctx, c, err)
	}
	_, err = fmt.Fprintf(v.out, "%s will not download version %s\n", source.Escape(name), source.Escape(version))
	return outputFailure(err)
}

// explain describes what the templates in c match in the feeds, according to their last poll. It returns nothing if the
// state of the watcher cannot be read.
func (v *watchCommand) explain(ctx context.Context, c *watch.Loaded) (lines []string) {
	if !slices.ContainsFunc(c.Watches, func(w watch.Watch) bool { return w.Releases != nil }) {
		return nil
	}
	status, _, err := watch.Client{Dir: c.Folder}.Status(ctx)
	if errors.Is(err, watch.ErrNotRunning) {
		status, err = v.watcher().Stored(ctx, c)
	}
	if err != nil {
		return nil
	}
	follows := map[string]bool{}
	for _, f := range status.Follows {
		follows[f.Name] = true
		text := "watch." + f.Name + ": " + f.Words
		if f.Reason == antenna.Unread && c.File != "" {
			text += "; braid watch run " + f.Name + " " + c.File + " reads its feeds"
		}
		if f.Current != "" {
			text += "; version " + f.Current + " is in place"
		}
		lines = append(lines, text+watch.Ignored(&f))
	}
	for _, f := range status.Feeds {
		if f.Failures > 0 {
			lines = append(lines, fmt.Sprintf("feed.%s: failed %s: %s", f.Name, option.Count(f.Failures, "time"), f.Err))
		}
	}
	for _, w := range status.Watches {
		if w.Reason == antenna.Unfit && !follows[w.Name] {
			lines = append(lines, "watch."+w.Name+": "+w.Words)
		}
	}
	return lines
}
