package antenna

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
	"braid/antenna/release"
)

// Releases makes a watch follow the releases of a project. Feeds report versions, and Template has the URL of the file
// of each version. Each version newer than that of the existing file (the current version) is an update. The newest is
// tried first. A release that is not ready (NotYet) does not delay the others.
type Releases struct {
	Template *release.Template
	Choice   release.Choice
	// Moving accepts that the file of the current version is replaced under the same tag. Only the handler uses Moving.
	// Update.Last has the previous digest.
	Moving bool
}

// Released is the Reason of an update to another version.
const Released feed.Reason = "released"

// Unordered reports that releases are ignored because their versions cannot be ordered among the others.
const Unordered Why = "unordered"

// NotYet is the error that a handler returns if the file of a release, or the required proof, is not available yet. The
// update is repeated after release.Delay, and fails only when the release is given up. See Update.LastTry.
type NotYet struct {
	Err error
	// After is how long the server asked to wait. It may be zero.
	After time.Duration
}

func (e *NotYet) Error() string { return "not there yet: " + e.Err.Error() }

func (e *NotYet) Unwrap() error { return e.Err }

const (
	// maxWaiting limits the releases of a watch that wait for another try. maxTried is how many of the newest open
	// releases are tried. An older release is tried once one of these is given up or unwanted.
	maxWaiting = 3
	maxTried   = 10
	// maxGivenUp limits the given-up releases of a watch that are remembered.
	maxGivenUp = 100
	// restingAfter is the shortest delay between tries with which a release rests, so that another release can wait.
	restingAfter = time.Hour
)

// A stage is the state of a release of a watch. It is stored.
type stage string

const (
	offered  stage = ""         // its update was not handled yet, or failed
	waiting  stage = "waiting"  // it was not ready, and is tried again
	resting  stage = "resting"  // it was not ready, and is not tried while others wait
	inPlace  stage = "in-place" // its file was downloaded: it is the current version
	givenUp  stage = "given-up" // it was not ready for too long
	unwanted stage = "unwanted" // the user does not want it
)

// A savedRelease is the release of a URL in the store. Fields may be added.
type savedRelease struct {
	Tag, Version string
	Date         feed.Time `json:",omitempty"`
	Pre          bool      `json:",omitempty"`
	Stage        stage     `json:",omitempty"`
	// Since is when the release was first found not ready. Asked is how often it was not ready. Why is the last reason.
	Since time.Time `json:",omitzero"`
	Asked int       `json:",omitempty"`
	Why   string    `json:",omitempty"`
	// Begun reports that the file of the release may be in place although its update is not done. Left reports that the
	// user renounced the release while it was the current one, and that there was no current one since.
	Begun bool `json:",omitempty"`
	Left  bool `json:",omitempty"`
	// Declined reports that the release is unwanted because the handler declined it. RunNow treats it as new.
	Declined bool `json:",omitempty"`
}

// isOpen reports whether the release is, or may become, an update.
func (r *savedRelease) isOpen() bool {
	return r.Stage == offered || r.Stage == waiting || r.Stage == resting
}

func (t *target) release() release.Release {
	r := t.saved.Release
	return release.Release{Tag: r.Tag, Version: r.Version, Date: r.Date, Pre: r.Pre, URL: t.url}
}

// describe adds the release of t to u. u gets no validators of the current version, because these belong to another
// file.
func (t *target) describe(u *Update) {
	if t.w.follow == nil {
		return
	}
	r := t.release()
	u.Release, u.LastTry = &r, t.last
	if at := t.w.follow.last(); at != nil && at != t {
		u.Previous, u.Last = at.saved.Release.Version, at.saved.Last
		u.Last.ETag, u.Last.LastModified, u.Last.Host = "", time.Time{}, ""
	}
}

// newerFirst orders targets of one watch by version, the newest first.
func newerFirst(a, b *target) int {
	return cmp.Or(release.Compare(b.saved.Release.Version, a.saved.Release.Version), strings.Compare(a.url, b.url))
}

// A following holds the releases of a watch. It belongs to the loop.
type following struct {
	w *watcher
	// reports has the releases that each feed reports. targets has the releases with a state, by their URLs.
	reports map[*member][]reported
	targets map[string]*target
	// unordered records that Unordered was reported.
	unordered bool
	// told is the last emitted event.
	told Followed
	// seen is the result of summary, if isSeen is set and the current version is still seen.Current.
	seen   FollowStatus
	isSeen bool
}

// A reported is a release and the record that reports it.
type reported struct {
	release release.Release
	record  feed.Record
}

// An offer is a release with all records that report it, and their feeds.
type offer struct {
	release.Release
	records []feed.Record
	from    []*member
}

// about returns the records of o with the URL o.URL, or all records of o if none has this URL. Release APIs list all
// files of a release.
func (o *offer) about() (records []feed.Record, from []*member) {
	for i, r := range o.records {
		if key, _ := feed.Key(r.URL); key == o.URL {
			records, from = append(records, r), append(from, o.from[i])
		}
	}
	if len(records) == 0 {
		return o.records, o.from
	}
	return records, from
}

// newFollowing returns a following for a valid release watch.
func newFollowing(w *watcher) *following {
	return &following{
		w: w, reports: map[*member][]reported{}, targets: map[string]*target{}, told: Followed{Watch: w.Name},
	}
}

// checkReleases returns an error if w, which follows releases, is not valid.
func checkReleases(w *Watch) error {
	literal := w.Releases.Template.Literal()
	switch _, rest, _ := strings.Cut(literal, "://"); {
	case w.Glob || w.AnyNews || w.CheckEvery != 0:
		return errors.New("with releases, Glob, AnyNews and CheckEvery cannot be set")
	case strings.Contains(strings.SplitN(rest, "/", 2)[0], "@"):
		return errors.New("the URL of releases has a user name or a password, and URLs in feeds have none")
	}
	return checkURL(literal)
}

// hear sets the releases that m reports to list. If more is set, it also keeps earlier releases, up to a limit. It
// reports whether m reports releases now or did before.
func (g *following) hear(m *member, list []reported, more bool) bool {
	old := g.reports[m]
	g.isSeen = false
	if more { // if the feed breaks off each time, it may report different releases each time
		fresh, kept := map[string]bool{}, map[string]bool{}
		for _, r := range list {
			fresh[r.release.URL] = true
		}
		for _, r := range old {
			if url := r.release.URL; !fresh[url] && (kept[url] || len(fresh)+len(kept) < 2*maxGlobbed) {
				kept[url], list = true, append(list, r)
			}
		}
	}
	if delete(g.reports, m); len(list) > 0 {
		g.reports[m] = list
	}
	return len(old)+len(list) > 0
}

// offers returns the reported releases by URL. The tag of a release is from the first configured feed that reports it.
func (g *following) offers() map[string]*offer {
	all := map[string]*offer{}
	members := make([]*member, 0, len(g.reports))
	for m := range g.reports {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b *member) int { return a.order - b.order })
	for _, m := range members {
		for _, r := range g.reports[m] {
			o := all[r.release.URL]
			if o == nil {
				o = &offer{Release: r.release}
				all[r.release.URL] = o
			}
			o.Pre = o.Pre || r.release.Pre
			o.Date = max(o.Date, r.release.Date)
			o.records, o.from = append(o.records, r.record), append(o.from, m)
		}
	}
	return all
}

// placed returns the target of the current version, or nil.
func (g *following) placed() (newest *target) {
	for _, t := range g.targets {
		if t.saved.Release.Stage == inPlace && (newest == nil || newerFirst(t, newest) < 0) {
			newest = t
		}
	}
	return newest
}

// version returns the current version, or "".
func (g *following) version() string {
	if t := g.placed(); t != nil {
		return t.saved.Release.Version
	}
	return ""
}

// running returns the target with the update that is being handled, or nil.
func (g *following) running() *target {
	for _, t := range g.targets {
		if t.running {
			return t
		}
	}
	return nil
}

// in returns the targets in a stage, the newest first.
func (g *following) in(s stage) (list []*target) {
	for _, t := range g.targets {
		if t.saved.Release.Stage == s {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, newerFirst)
	return list
}

// waits returns the number of releases that are not ready.
func (g *following) waits() int { return len(g.in(waiting)) + len(g.in(resting)) }

// isGone reports whether no feed reports the release of t any more, although a feed reports an earlier release. If all
// reported releases are later, the feeds may only have dropped their oldest entries. If no release is reported, a feed
// may be empty for a moment.
func (g *following) isGone(t *target, offers map[string]*offer) bool {
	if offers[t.url] != nil {
		return false
	}
	r := t.saved.Release
	for _, o := range offers {
		dated := r.Date != 0 && o.Date != 0 && o.Date != r.Date // an index page may have minutes or days only
		if dated && o.Date < r.Date || !dated && release.Compare(o.Version, r.Version) < 0 {
			return true
		}
	}
	return false
}

// excludes reports whether the settings of the watch exclude the release of t.
func (g *following) excludes(t *target) bool {
	list, _ := g.w.Releases.Choice.Newer([]release.Release{t.release()}, "")
	return len(list) == 0
}

// candidates returns the releases to try, the newest first. unordered reports that releases were ignored because their
// versions cannot be ordered.
func (g *following) candidates(offers map[string]*offer) (list []release.Release, unordered bool) {
	var all []release.Release
	for url, o := range offers {
		if t := g.targets[url]; t == nil || t.saved.Release.isOpen() {
			all = append(all, o.Release)
		}
	}
	for _, t := range g.targets {
		if r := t.saved.Release; r.isOpen() && offers[t.url] == nil && (r.Begun || !g.isGone(t, offers)) {
			all = append(all, t.release())
		}
	}
	slices.SortFunc(all, func(a, b release.Release) int { return strings.Compare(a.URL, b.URL) })
	list, rest := g.w.Releases.Choice.Newer(all, g.version())
	return list[:min(len(list), maxTried)], len(rest) > 0
}

// summary summarizes the releases that feeds report. It compares versions as candidates does.
func (g *following) summary() FollowStatus {
	at, current := g.placed(), g.version()
	if g.isSeen && g.seen.Current == current {
		return g.seen
	}
	var all []release.Release
	offers := g.offers()
	for url, o := range offers {
		if t := g.targets[url]; t == nil || t.saved.Release.Stage != unwanted {
			all = append(all, o.Release)
		}
	}
	s := FollowStatus{Name: g.w.Name, Template: g.w.masked(), Current: current, Versions: len(offers)}
	list, rest := g.w.Releases.Choice.Newer(all, current)
	if len(list) == 0 && at != nil && len(offers) > 0 && !g.excludes(at) {
		list = []release.Release{at.release()}
	}
	if len(list) > 0 {
		s.Newest, s.URL = list[0].Version, maskURL(list[0].URL)
	}
	for _, r := range rest {
		if s.Unordered++; s.Example == "" || release.Compare(r.Version, s.Example) > 0 {
			s.Example = r.Version
		}
	}
	g.seen, g.isSeen = s, true
	return s
}

// latest returns the target with the newest version among those that are due by now, or nil.
func (g *following) latest(due items[*target], now time.Time) (newest *target) {
	for _, t := range due {
		if !t.at.After(now) && (newest == nil || newerFirst(t, newest) < 0) {
			newest = t
		}
	}
	return newest
}

// isMeant reports whether name is the name of the watch or of a feed that may report its releases.
func (g *following) isMeant(name string) bool {
	return name == g.w.Name || g.w.feeds == nil || g.w.feeds[name]
}

// takes reports whether a stored state is the state of a release of the watch, as the watch is configured now.
func (g *following) takes(saved *savedTarget) bool {
	r, ok := g.w.Releases.Template.FileOf(saved.URL)
	return ok && r.URL == saved.URL && saved.Release != nil
}

// isSteady reports whether t may be updated without a report: t is not a release, or is the current release.
func (t *target) isSteady() bool { return t.saved.Release == nil || t.saved.Release.Stage == inPlace }

// restore records that t has the current version, after the store was lost.
func (t *target) restore() {
	if t.w.follow == nil {
		return
	}
	r, _ := t.w.Releases.Template.FileOf(t.url)
	t.saved.Release = &savedRelease{Tag: r.Tag, Version: r.Version, Stage: inPlace}
}

func (t *target) releaseStatus() *ReleaseStatus {
	r := t.saved.Release
	if r == nil {
		return nil
	}
	s := &ReleaseStatus{Version: r.Version, Tag: r.Tag, Stage: string(r.Stage), Since: r.Since, Why: r.Why}
	if r.Stage == offered {
		s.Stage = "update"
	}
	s.Newest = t.w.follow.summary().Newest
	return s
}
