package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"braid/antenna/release"
	"braid/download"
	"braid/internal/follow"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
)

// A followCommand is one run of braid follow. Its getCommand has the options for the download of --once.
type followCommand struct {
	*getCommand
	Asset, Into, Versions string
	Once, PreReleases     bool

	choice release.Choice
	sites  *job.Sites
	events *render.JSONWriter // nil without --json
}

func newFollow(s streams) (action, targets) {
	f := &followCommand{getCommand: newGetCommand(s)}
	return f.run, targetsOf(f)
}

// A releaseEvent is a file of the newest release of the followed project.
type releaseEvent struct {
	render.Head
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Tag        string   `json:"tag,omitempty"`
	Pre        bool     `json:"pre_release,omitempty"` // marked as a pre-release
	Date       string   `json:"date,omitempty"`
	URL        string   `json:"url"`
	Size       int64    `json:"size,omitempty"`
	Template   string   `json:"template"` // the URL, with template fields in place of the version
	Feed       string   `json:"feed"`
	Forge      string   `json:"forge,omitempty"`
	Releases   int      `json:"releases"` // number of the counted versions with such a file
	Versions   int      `json:"versions"` // number of versions in the feed, not counting unwanted versions
	Digest     string   `json:"digest,omitempty"`
	Lists      []string `json:"lists,omitempty"`      // digest lists beside the file
	Listed     string   `json:"listed,omitempty"`     // the list that names the file
	Signatures []string `json:"signatures,omitempty"` // signature files beside the file
}

// A followEvent is the result for the file that matched.
type followEvent struct {
	render.Head
	Name    string `json:"name"` // name of the new watch
	Version string `json:"version"`
	Tag     string `json:"tag,omitempty"`
	Entry   string `json:"entry,omitempty"`  // entry for watch.toml
	Config  string `json:"config,omitempty"` // file that contains the entry
	Added   bool   `json:"added,omitempty"`  // the entry was not in Config before
	Path    string `json:"path,omitempty"`   // path of the downloaded file
}

func (f *followCommand) run(ctx context.Context, words []string) error {
	if len(words) != 1 {
		return problem.Misuse("follow", "needs exactly one URL", "see braid follow --help")
	}
	page, err := job.ParseWebURL(words[0])
	if err != nil {
		return err
	}
	if err := fitsEntry(f, configurationOf(ctx)); err != nil {
		return err
	}
	if f.choice.PreReleases = f.PreReleases; f.Versions != "" {
		if f.choice.Versions, err = release.ParseRange(f.Versions); err != nil {
			return problem.Misuse("--versions", err.Error(), "")
		}
	}
	f.sites = job.NewSites(configurationOf(ctx))
	if f.JSON {
		f.events = render.NewJSONWriter(f.streams.out)
	}
	found, err := f.find(ctx, page)
	if err != nil {
		return err
	}
	if f.JSON || !f.Quiet {
		flags := f.feedFlags()
		ctx, cancel := context.WithTimeout(ctx, listsTime)
		defer cancel()
		found.Look(found.Assets, func(u *url.URL) ([]byte, error) { return flags.document(ctx, u, mostOfList) })
	}
	if err := f.show(found); err != nil {
		return err
	}
	if len(found.Assets) != 1 {
		return f.undecided(found)
	}
	return f.follow(ctx, found)
}

const (
	// mostOfList limits the size of a digest list, in bytes.
	mostOfList = 4 << 20
	// listsTime limits the time for all lists: they are only shown.
	listsTime = 10 * time.Second
)

// show shows the newest release and its files.
func (f *followCommand) show(found *found) error {
	now := time.Now()
	rows := [][]string{{"FILE", "VERSION", "SIZE", "RELEASES", "PROOF"}}
	for i := range found.Assets {
		a := &found.Assets[i]
		f.events.Write(releaseEvent{
			Head: render.NewHead(now, "release"), Name: a.Name, Version: a.Release.Version, Tag: a.Release.Tag,
			Pre: a.Release.Pre, Date: instant(a.Release.Date), URL: a.URL, Size: a.Size, Template: a.Template.String(),
			Feed: found.Feed, Forge: found.Forge, Releases: a.Releases, Versions: found.Wanted,
			Digest: a.Digest, Lists: a.Lists, Listed: a.In, Signatures: a.Signatures,
		})
		size := "-"
		if a.Size > 0 {
			size = option.SizeText(a.Size)
		}
		count := fmt.Sprintf("%d of %d", a.Releases, found.Wanted)
		rows = append(rows, []string{a.Name, a.Release.Version, size, count, proofOf(a)})
	}
	if err := f.events.Err(); f.Quiet || f.JSON || len(found.Assets) == 0 || err != nil {
		return outputFailure(err)
	}
	to := f.streams.err // standard output is only for the entry
	if len(found.Assets) > 1 {
		to = f.streams.out
	}
	f.tell("%s: %s", found.place(), option.Count(found.Wanted, "version"))
	var b strings.Builder
	writeRows(&b, rows)
	_, err := fmt.Fprint(to, b.String())
	return outputFailure(err)
}

// proofOf names what can verify the file a: a digest in the feed, a list of digests, signatures.
func proofOf(a *follow.Asset) string {
	var list []string
	if a.Digest != "" {
		list = append(list, "a digest in the feed")
	}
	switch {
	case a.In != "":
		list = append(list, a.In)
	case a.Unread:
		list = append(list, a.Lists[0]+", if it names this file")
	case len(a.Lists) > 0:
		list = append(list, a.Lists[0]+" does not name this file yet")
	}
	list = append(list, a.Signatures...)
	none := "no digest in the feed"
	if a.Unsearched {
		none = "-"
	}
	return cmp.Or(strings.Join(list, ", "), none)
}

// undecided returns a problem: no file or more than one file of the newest release matches. If the command only shows
// the files, more than one is no problem.
func (f *followCommand) undecided(found *found) error {
	p := &problem.Problem{Kind: download.Other, What: "follow", Where: found.place()}
	switch n := len(found.Assets); {
	case n > 1:
		p.Why = fmt.Sprintf("%d files of the newest release match", n)
		p.Hint = "choose one with --asset 'PATTERN'"
		if pattern, ok := follow.Pattern(&found.Assets[0]); ok {
			p.Hint = "choose the first file with --asset '" + pattern + "'"
		}
		if f.Asset == "" && !f.Once && f.Into == "" && !f.Quiet { // the user asked which files there are
			f.tell("%s", p.Hint)
			return nil
		}
	case n == 0 && found.Elsewhere != "":
		p.Why = "the files of the releases are on another host, " + found.Elsewhere
		p.Hint = "give the URL of the file with --asset 'https://" + found.Elsewhere + "/...{version}...'"
	case found.Versions == 0:
		p.Why, p.Hint = "no file name on this page has a version", f.templateHint()
	default:
		p.Why = fmt.Sprintf("no file of the %s on this page matches", option.Count(found.Versions, "version"))
		p.Hint = "check --asset, --versions and --pre-releases"
		if f.Asset != "" && !follow.IsTemplate(f.Asset) && !strings.Contains(f.Asset, "*") {
			p.Hint = "write a * in place of the version, as in --asset 'NAME-*.tar.gz'"
		}
	}
	return p
}

// follow prints the entry for the only file that matches, or appends it to a configuration. With --once it also
// downloads the file.
func (f *followCommand) follow(ctx context.Context, found *found) error {
	a := &found.Assets[0]
	if a.Releases == 1 && found.Wanted > 1 && !f.Quiet {
		f.tell("only this version has a file with this name; the file of the next version may have a different one")
	}
	e, err := f.entry(found, configurationOf(ctx))
	if err != nil {
		return err
	}
	said := followEvent{
		Head: render.NewHead(time.Now(), "follow"), Name: e.Name, Version: a.Release.Version, Tag: a.Release.Tag,
	}
	switch {
	case f.Into != "":
		if err := f.append(e, &said); err != nil {
			return err
		}
	case !f.Once:
		said.Entry = e.TOML()
		if _, err := f.warningsOf("watch.toml", []byte(said.Entry)); err != nil {
			return err
		}
		if !f.JSON {
			_, err := fmt.Fprint(f.streams.out, said.Entry)
			return outputFailure(err)
		}
	}
	if f.Once {
		if said.Path, err = f.fetch(ctx, found, e.Name); err != nil {
			return err
		}
		said.Time = render.NewHead(time.Now(), "").Time
	}
	f.events.Write(said)
	return outputFailure(f.events.Err())
}

// fetch downloads the only file of found and returns its path. As for a watch, a digest in the feed is evidence if the
// feed is on the server of the file. Otherwise a wrong one is a warning.
func (f *followCommand) fetch(ctx context.Context, found *found, name string) (path string, err error) {
	a := &found.Assets[0]
	at, err := url.Parse(a.URL)
	if err != nil {
		return "", err
	}
	f.ended = func(_ int, _ download.Request, r download.Result, err error) {
		if err != nil {
			return
		}
		path = r.Path
		for _, d := range job.StrongDigests(a.Digests) {
			for _, is := range r.Proof.Digests() {
				if is.Algorithm() == d.Algorithm() && is != d {
					f.screen.Warn("the feed has another digest: %s is %s, not %s", d.Algorithm(), is.Hex(), d.Hex())
				}
			}
		}
	}
	words := []string{a.URL}
	f.yield(configurationOf(ctx))
	err = f.carryOut(ctx, words, func(ctx context.Context, client *download.Client) (*job.List, error) {
		if err := f.check(words); err != nil {
			return nil, err
		}
		if found.Serves(a.URL) {
			f.Job.Published.Claims = job.ClaimsOfFeed(name, a.Digests, at, client.HTTP)
		}
		return job.NewList(ctx, f.Job, client, words)
	})
	if err == nil && !f.Quiet {
		f.tell("%s: version %s", cmp.Or(path, a.Name), a.Release.Version)
	}
	return path, err
}

func (f *followCommand) tell(format string, args ...any) {
	fmt.Fprintln(f.streams.err, source.Escape(fmt.Sprintf(format, args...)))
}
