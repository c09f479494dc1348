package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"braid/antenna/feed"
	"braid/download"
	"braid/internal/follow"
	"braid/internal/problem"
	"braid/source"
)

// A found is a source of releases, with those of its files that match.
type found struct {
	follow.Source
	*follow.Found
}

// hasFiles reports whether the feed contains URLs of release files, on the project's host or on another.
func (f *found) hasFiles() bool { return f.Versions > 0 || f.Elsewhere != "" }

// place returns the URL of the feed for messages.
func (f *found) place() string {
	u, err := url.Parse(f.Feed)
	if err != nil {
		return f.Feed
	}
	return source.Mask(u)
}

// find finds the releases of the project that has the given page.
func (f *followCommand) find(ctx context.Context, page *url.URL) (*found, error) {
	if s, ok := follow.Known(page); ok {
		return f.read(ctx, s)
	}
	finder := &feedFind{feedFlags: f.feedFlags()}
	p, err := finder.fetch(ctx, page)
	if err != nil {
		return nil, err
	}
	feeds, err := finder.find(p)
	at := page // unless the server redirects to another host
	if u := p.Answer.URL; u != nil && follow.SameHost(page, u) {
		at = u
	}
	kind := p.header().Get("Content-Type") + path.Ext(at.Path)
	isFile := !strings.Contains(kind, "htm") && !strings.HasSuffix(at.Path, "/")
	p.Close()
	switch {
	case err != nil:
		return nil, finder.failure(ctx, source.Mask(page), err)
	case len(feeds) > 0 && feeds[0].Where == "itself":
		return f.read(ctx, follow.Itself(at))
	}
	for _, s := range follow.Probes(at) {
		if found, err := f.read(ctx, s); err == nil && found.hasFiles() {
			return found, nil
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	for _, e := range feeds {
		u, err := url.Parse(e.URL)
		if err != nil || !follow.SameHost(page, u) {
			continue
		}
		if found, err := f.read(ctx, follow.Itself(u)); err == nil && found.hasFiles() {
			found.Name = follow.Itself(at).Name
			return found, nil
		}
	}
	none := f.none(source.Mask(page), feeds)
	if isFile && len(feeds) == 0 {
		none.Why = "this is a file, not a page of releases"
		none.Hint = "try the folder of the file, which may have an index of the versions: " +
			source.Mask(at.ResolveReference(&url.URL{Path: "./"}))
	}
	return nil, none
}

// none returns a problem: no releases were found on page. feeds are the feeds that page links to.
func (f *followCommand) none(page string, feeds []foundEvent) *problem.Problem {
	p := &problem.Problem{Kind: download.Other, What: "follow", Where: page, Why: "no releases found",
		Hint: "give the project page of a forge such as GitHub, a folder with an index, or a feed"}
	if len(feeds) > 0 {
		p.Why, p.Hint = "the feeds of this page name no file with a version on the same host", f.templateHint()
	}
	return p
}

func (f *followCommand) templateHint() string {
	return "give the URL of the file, as in --asset 'https://.../{tag}/NAME-{version}.tar.gz'"
}

// feedFlags returns the options for requests of feeds, with the values of f's own options.
func (f *followCommand) feedFlags() feedFlags {
	flags := newFeedFlags(f.streams)
	flags.HTTP = &f.Job.HTTP
	flags.Timeout = cmp.Or(f.Job.Transfer.Timeout, flags.Timeout)
	flags.MaxTime = cmp.Or(f.MaxTime, flags.MaxTime)
	return flags
}

// mostRecords limits the number of records read from a feed. mostOfURLs limits the total length of their URLs. All
// records are kept in memory, because the newest version may be the last record.
const (
	mostRecords = 50_000
	mostOfURLs  = 8 << 20
)

// read reads the feed of s and returns the releases in it.
func (f *followCommand) read(ctx context.Context, s follow.Source) (*found, error) {
	flags := f.feedFlags()
	o, err := flags.open(ctx, "show", []string{s.Feed})
	if err != nil {
		return nil, err
	}
	defer o.close()
	s.Answered = o.base
	var records []feed.Record
	var long int
	for r, err := range flags.decoder(o, false, nil).Records() {
		if err != nil {
			return nil, flags.failure(ctx, o.name, err)
		}
		long += len(r.URL)
		if records = append(records, r); len(records) > mostRecords || long > mostOfURLs {
			why := fmt.Sprintf("the page names more than %d files, or their URLs have more than %d MiB",
				mostRecords, mostOfURLs>>20)
			return nil, &problem.Problem{Kind: download.Limit, What: "follow", Where: o.name, Why: why}
		}
	}
	has, err := s.Find(records, follow.Options{Asset: f.Asset, Choice: f.choice})
	if err != nil {
		return nil, problem.Misuse("--asset", err.Error(), "")
	}
	return &found{s, has}, nil
}
