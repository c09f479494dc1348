package cli

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"braid/internal/follow"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/watch"
	"braid/metalink"
)

// add appends e to the configuration file of --into, unless the file already has such an entry. add writes nothing that
// braid watch check would refuse. name is the name of the watch.
func (f *followCommand) add(e follow.Entry) (name string, added bool, err error) {
	path, err := filepath.Abs(f.Into)
	if err != nil {
		return "", false, problem.Local("follow", f.Into, err)
	}
	mode := fs.FileMode(0o644)
	var data []byte
	switch info, err := os.Stat(path); {
	case err == nil:
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return "", false, problem.Misuse("--into "+f.Into, "is not a regular file", "")
		}
		if data, err = job.ReadFile("--into", f.Into, mostConfig); err != nil {
			return "", false, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, problem.Local("follow", f.Into, err)
	}
	known, err := f.warningsOf(path, data)
	if err != nil {
		return "", false, err
	}
	changed, name, err := follow.Add(data, e)
	if weaker, ok := errors.AsType[*follow.WeakerError](err); ok {
		return name, false, problem.Misuse("--into "+f.Into, weaker.Error(), "change require = and key = of that entry")
	}
	if err != nil || bytes.Equal(changed, data) {
		return name, false, err
	}
	warnings, err := f.warningsOf(path, changed)
	if err != nil {
		return "", false, err
	}
	for _, text := range warnings {
		if !slices.Contains(known, text) {
			f.tell("braid: warning %s: %s", f.Into, text)
		}
	}
	if err := fsys.WriteFile(nil, job.Resolved(path), changed, mode); err != nil {
		return "", false, problem.Local("follow", f.Into, err)
	}
	return name, true, nil
}

// warningsOf checks data, the text of the configuration at path, and returns the warnings about it.
func (f *followCommand) warningsOf(path string, data []byte) ([]string, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	w := &watchCommand{streams: f.streams}
	c, err := w.fromText(f.Into, path, data, toWatch)
	if err == nil {
		err = watch.Check(c)
	}
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, text := range c.Warnings() {
		warnings = append(warnings, c.Hider().Replace(text))
	}
	return warnings, nil
}

// append adds e to the configuration file of --into, and records the result.
func (f *followCommand) append(e follow.Entry, said *followEvent) (err error) {
	if said.Name, said.Added, err = f.add(e); err != nil {
		return err
	}
	said.Config = f.Into
	what := "already follows this page"
	if said.Added {
		what = "is added as a new watch"
	}
	if !f.Quiet {
		f.tell("%s: watch.%s %s; braid watch %s downloads what is new", f.Into, said.Name, what, f.Into)
	}
	return nil
}

// entry returns the configuration entry that watches the releases in found.
func (f *followCommand) entry(found *found, c *job.Settings) (follow.Entry, error) {
	dir, err := filepath.Abs(f.Job.Dir)
	if err != nil {
		return follow.Entry{}, problem.Local("folder", f.Job.Dir, err)
	}
	file, err := url.Parse(found.Assets[0].URL)
	if err != nil {
		return follow.Entry{}, err
	}
	require, anchors, err := f.sites.ProofAt(file, f.Job.Require.Word, f.Job.Anchors)
	if err != nil {
		return follow.Entry{}, err
	}
	proof := "digest"
	if anchors.Given() { // with proof = "digest", the watch would accept a file without the signature that --once requires
		proof = "signature"
	}
	e := follow.Entry{
		Name: found.Name, Feed: found.Feed, URL: found.Assets[0].Template.String(), Dir: dir,
		Require: cmp.Or(require, proof), Versions: f.Versions, PreReleases: f.PreReleases,
		Keys: map[string][]string{},
	}
	for name, words := range map[string][]string{
		"key": anchors.Key, "keyring": anchors.Keyring, "smime-ca": anchors.SMIMECA,
	} {
		for _, word := range words {
			if !job.IsKey(word) {
				if word, err = filepath.Abs(word); err != nil {
					return e, problem.Local("key", word, err)
				}
			}
			e.Keys[name] = append(e.Keys[name], word)
		}
	}
	e.Keys["pin"], e.Keys["signature"] = anchors.Pin, anchors.Signature
	e.More = moreSettings(&f.Job.Options, c, anchors.AllowExpiredKey)
	return e, nil
}

// moreSettings returns the entry's settings that correspond to download options of the command.
func moreSettings(d *job.Options, c *job.Settings, expired bool) (list []follow.Setting) {
	for _, s := range []struct {
		key, text string
		is        bool
	}{
		{"name", d.Out, d.Out != "" && d.Out != "-"},
		{"allow-expired-key", "", expired},
		{"max-size", d.Transfer.MaxSize.String(), d.Transfer.MaxSize > 0},
		{"limit-rate", d.Transfer.LimitRate.String(), true},
		{"no-metalink", "", d.NoMetalink},
		{"no-lookup", "", d.NoLookup},
	} {
		if s.is && (c.Said[s.key] || s.key == "name" && c.Said["out"] || s.key == "allow-expired-key") {
			list = append(list, follow.Setting{Key: s.key, Text: s.text})
		}
	}
	return list
}

// fitsEntry returns an error for options of the command line that have no effect on an entry.
func fitsEntry(f *followCommand, c *job.Settings) error {
	if f.Into != "" || !f.Once {
		switch name := f.Job.Out; {
		case name != "" && c.Line["out"] && (name == "-" || metalink.CheckPath(name) != nil):
			return problem.Misuse("--out "+name, "is not the name of a file inside the folder of the watch",
				"to name a file without an entry, use --once")
		case f.Job.Anchors.NamesOne():
			const why = "this is the signature of one file, but each release has its own signature"
			return problem.Misuse("--signature", why, "for a signature beside each file, use --signature .asc")
		}
	}
	if f.Once {
		return nil
	}
	for _, name := range []string{"overwrite", "no-clobber", "if-newer", "on-complete", "tries", "retry-wait"} {
		if c.Line[name] {
			return problem.Misuse("--"+name, "applies only with --once, which downloads a file", "")
		}
	}
	return nil
}
