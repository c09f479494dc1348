// Package release follows the releases of a project. A feed reports versions. A template that the user writes has the
// URL of the file of each version, so that a feed never chooses a host or a folder. The package also determines which
// versions are newer than that of the existing file.
//
//	t, err := release.ParseTemplate("https://example.org/dl/{tag}/tool_{version}.tar.gz", release.Patterns{})
//	r, ok := t.Of(record)                                    // .../dl/v2.1.0/tool_2.1.0.tar.gz
//	newer, _ := release.Choice{}.Newer([]release.Release{r}, "2.0.3") // r, because 2.1.0 is newer
//
// The package does no input or output. It does not determine whether a release is ready.
package release

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"braid/antenna/feed"
)

// A Release is a version of a project's file.
type Release struct {
	Tag, Version string
	// Date is the modification date in the record that reports the release.
	Date feed.Time
	// Pre reports that the feed marks the release as a pre-release.
	Pre bool
	// URL is the template with the values of its fields, in the form of feed.Key.
	URL string
}

// A Choice determines which releases are wanted.
type Choice struct {
	// Versions is the range of wanted versions. The zero Range has all.
	Versions Range
	// PreReleases means that pre-releases are wanted, too.
	PreReleases bool
}

// Newer returns the wanted releases that are newer than current, newest first. current is the version of the existing
// file, or "". unparsed are wanted releases that Newer leaves out because it cannot order their versions.
//
// If current is a semantic version, or if there is no current and most versions of list are semantic, the order is that
// of semantic versions, and other versions are left out. Else the order is that of sort -V (see Compare). If current
// then begins with a digit, versions that begin with a letter are left out, and vice versa, because such versions are
// of other files, as in tool-doc-1.1b.zip beside tool-1.1b.zip. Of several releases with the same version and URL, the
// result has one.
func (c Choice) Newer(list []Release, current string) (newer, unparsed []Release) {
	all := merge(list)
	place := read(current)
	order := byName
	if current != "" && place.semantic || current == "" && mostSemantic(all) {
		order = byPrecedence
	}
	kind := place.kind()
	if current == "" {
		kind = mostKind(all)
	}
	for _, r := range all {
		switch {
		case !c.PreReleases && (r.Pre || r.isPre()):
		case order.leavesOut(r.version), order == byName && r.isOther(kind):
			unparsed = append(unparsed, r.Release)
		case current != "" && order.compare(r.version, place) <= 0, !c.Versions.has(r.version, order):
		default:
			newer = append(newer, r.Release)
		}
	}
	versions := map[string]version{}
	for _, r := range all {
		versions[r.Version] = r.version
	}
	slices.SortFunc(newer, func(a, b Release) int {
		return cmp.Or(order.compare(versions[b.Version], versions[a.Version]), strings.Compare(a.URL, b.URL))
	})
	return newer, unparsed
}

// A readRelease is a Release with its parsed version.
type readRelease struct {
	Release
	version
}

// merge returns list with one release for each version and URL. A merged release is a pre-release if one of the
// releases merged into it is.
func merge(list []Release) (all []readRelease) {
	at := map[[2]string]int{}
	for _, r := range list {
		i, ok := at[[2]string{r.Version, r.URL}]
		if !ok {
			at[[2]string{r.Version, r.URL}] = len(all)
			all = append(all, readRelease{r, read(r.Version)})
			continue
		}
		all[i].Pre = all[i].Pre || r.Pre
		all[i].Date = cmp.Or(all[i].Date, r.Date)
	}
	return all
}

// mostSemantic reports whether more than half of the versions are semantic.
func mostSemantic(list []readRelease) bool {
	n := 0
	for _, r := range list {
		if r.semantic {
			n++
		}
	}
	return 2*n > len(list)
}

// mostKind returns the kind of most versions with a digit.
func mostKind(list []readRelease) kind {
	var n [atDigit + 1]int
	for _, r := range list {
		n[r.kind()]++
	}
	if n[atLetter] > n[atDigit] {
		return atLetter
	}
	return atDigit
}

// delays has the pauses before the first repeated requests for a release that was not ready. Later pauses are as long
// as the last of these.
var delays = []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// patience is how long a release may be reported without being ready, and leastTries how often it is requested at
// least, because the watcher may not have run in that time, or with a wrong clock.
const patience, leastTries = 48 * time.Hour, 12

// Delay returns the pause before a release that is not ready is requested again. tries is the number of requests so
// far, and since is the time since the first of them. over reports that the release is given up.
func Delay(tries int, since time.Duration) (d time.Duration, over bool) {
	return delays[min(max(tries, 1), len(delays))-1], since >= patience && tries >= leastTries
}
