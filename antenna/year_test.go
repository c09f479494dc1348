package antenna

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/release"
)

// A version that stays up as long as stayed must not be missed. fetching is how long it may take to fetch it, with a
// failed attempt.
const (
	stayed   = time.Hour
	fetching = 15 * time.Minute
)

// A year is a simulation of projects that are followed for some time.
type year struct {
	t      *testing.T
	forge  *forge
	list   []*saga
	random *rand.Rand
	start  time.Time
	span   time.Duration
	late   []time.Duration // how late versions were put in place
	missed int
	runs   int
}

var (
	errBroke    = errors.New("the connection broke")
	errReplaced = errors.New("the file was replaced")
)

// TestYear_Rule80 follows projects with all kinds of feeds and releases, and checks that no version is missed that stayed
// up for an hour with its proof, that none is fetched twice, and none before its proof. The environment variables
// BRAID_YEAR_DAYS and BRAID_YEAR_PROJECTS set its size; scripts/bench year has 200 projects for a year.
func TestYear_Rule80(t *testing.T) {
	days, projects := number("BRAID_YEAR_DAYS", 12), number("BRAID_YEAR_PROJECTS", 20)
	synctest.Test(t, func(t *testing.T) {
		y := &year{t: t, random: rand.New(rand.NewPCG(uint64(number("BRAID_YEAR_SEED", 1)), 2)), start: time.Now(),
			span: time.Duration(days) * 24 * time.Hour}
		y.found(projects)
		y.run()
		y.check()
		y.report()
	})
}

// number returns the number in an environment variable, or n.
func number(variable string, n int) int {
	if set, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return set
	}
	return n
}

// found makes the projects. A fifth of them has the limited API. Its limit is 60 an hour for 200 projects.
func (y *year) found(n int) {
	y.forge = &forge{projects: map[string]*saga{}, limit: number("BRAID_YEAR_LIMIT", (n*60+199)/200)}
	for i := range n {
		p := &saga{name: fmt.Sprintf("p%d", i), host: "forge.example"}
		switch i % 10 {
		case 0, 1:
			p.shelf, p.host = limitShelf, "api.forge.example"
		case 2:
			p.shelf, p.host = apiShelf, fmt.Sprintf("api%d.example", i%7)
		case 3, 4:
			p.shelf, p.host = folderShelf, fmt.Sprintf("folder%d.example", i%20)
		}
		invent(y.random, p, y.start, y.span)
		y.list, y.forge.projects[p.name] = append(y.list, p), p
	}
}

// run follows the projects. The watcher is restarted now and then.
func (y *year) run() {
	dir := y.t.TempDir()
	for left := y.span; left > 0; {
		a := &Antenna{Transport: y.forge, Round: 6 * time.Hour, Store: storeIn(y.t, dir), Handlers: 16,
			Judge: func(err error) (int, bool) { return 0, errors.Is(err, errReplaced) }}
		a.Store.db.NoSync = true // the test has no power failure
		for _, p := range y.list {
			a.Feeds = append(a.Feeds, p.feed())
			a.Watches = append(a.Watches, p.watch(templateOf(y.t, p.template())))
		}
		run := min(left, time.Duration(2+y.random.IntN(20))*24*time.Hour)
		left -= run
		y.runs++
		ctx, cancel := context.WithTimeout(y.t.Context(), run)
		if err := a.Watch(ctx, y.handle); !errors.Is(err, context.DeadlineExceeded) {
			y.t.Error(err)
		}
		cancel()
		closed(y.t, a.Store)
	}
}

// handle fetches the file of a release, if file and proof are there.
func (y *year) handle(ctx context.Context, u Update) (Outcome, error) {
	y.forge.mu.Lock()
	defer y.forge.mu.Unlock()
	p := y.forge.projects[u.Watch]
	s := p.story(u.Release.Version)
	p.asks++
	rest := func(d time.Duration) error {
		y.forge.mu.Unlock()
		defer y.forge.mu.Lock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
	if err := rest(time.Duration(1+y.random.IntN(5)) * time.Second); err != nil {
		return Outcome{}, err
	}
	now := time.Now()
	switch {
	case s == nil:
		y.t.Errorf("%s: %s is no release", p.name, u.Release.Version)
		return Outcome{}, errMissing
	case !s.isThere(s.file, now), !s.isThere(s.proof, now):
		return Outcome{}, &NotYet{Err: errMissing}
	case u.Previous == "" && !u.Last.At.IsZero():
		if u.Last.Digest != s.digest(now) {
			return Outcome{}, errReplaced
		}
		o := u.Last
		o.At, o.Changed = now, false
		return o, nil
	}
	if err := rest(time.Duration(y.random.IntN(5*60)) * time.Second); err != nil {
		return Outcome{}, err
	}
	if p.broke = !p.broke && y.random.IntN(50) == 0; p.broke {
		return Outcome{}, errBroke
	}
	y.place(p, s)
	return Outcome{Changed: true, Digest: s.digest(now), At: time.Now()}, nil
}

// place records that a version was put in place.
func (y *year) place(p *saga, s *story) {
	n := len(p.inPlace)
	switch {
	case n > 0 && release.Compare(s.version, p.inPlace[n-1].version) == 0:
		y.t.Errorf("%s: %s is fetched twice", p.name, s.version)
	case n > 0 && release.Compare(s.version, p.inPlace[n-1].version) < 0:
		y.t.Errorf("%s: %s after %s", p.name, s.version, p.inPlace[n-1].version)
	case s.isPre():
		y.t.Errorf("%s: %s is a pre-release", p.name, s.version)
	}
	p.inPlace = append(p.inPlace, placing{time.Now(), s.version})
	if up, _ := s.up(); up.After(y.start) {
		y.late = append(y.late, time.Since(up))
	}
}

func (s *story) isPre() bool {
	newer, _ := release.Choice{}.Newer([]release.Release{{Tag: s.tag, Version: s.version, Pre: s.marked}}, "")
	return len(newer) == 0
}

// story returns the history of a version, or nil.
func (p *saga) story(version string) *story {
	if i := slices.IndexFunc(p.stories, func(s *story) bool { return s.version == version }); i >= 0 {
		return p.stories[i]
	}
	return nil
}

// had returns the version that was in place at a time, or "".
func (p *saga) had(at time.Time) (version string) {
	for _, x := range p.inPlace {
		if !x.at.After(at) {
			version = x.version
		}
	}
	return version
}

// leaves returns when a feed does not list a release any more, because it was removed or others came. The zero time is
// never.
func (p *saga) leaves(i int) time.Time {
	at := p.stories[i].removed
	if p.shelf != folderShelf && i+listed < len(p.stories) {
		if drop := p.stories[i+listed].listed; drop.Sub(p.stories[i].listed) < stayed && (at.IsZero() || drop.Before(at)) {
			return drop
		}
	}
	return at
}

// check checks that no version was missed that stayed up, and that the limited API refused nothing, except that a new
// run may not know yet how many requests are left.
func (y *year) check() {
	if y.forge.refused > y.runs {
		y.t.Errorf("%d requests were refused in %d runs", y.forge.refused, y.runs)
	}
	for _, p := range y.list {
		for i, s := range p.stories {
			up, ever := s.up()
			if up.Before(y.start) {
				up = y.start
			}
			until := up.Add(stayed + fetching)
			if leaves := p.leaves(i); !ever || s.isPre() || until.After(y.start.Add(y.span)) ||
				!leaves.IsZero() && leaves.Before(until) {
				continue
			}
			if had := p.had(until); had == "" || release.Compare(had, s.version) < 0 {
				y.missed++
				if y.missed < 20 {
					y.t.Errorf("%s (%v): %s was up at %v with file and proof, and in place was %s at %v", p.name,
						p.shelf, s.version, up, had, until)
				}
			}
		}
	}
}

// report prints the cost.
func (y *year) report() {
	days := y.span.Hours() / 24
	for kind := range folderShelf + 1 {
		var polls, asks, versions, n, most int
		for _, p := range y.list {
			if p.shelf == kind {
				polls, asks, versions, n, most = polls+p.polls, asks+p.asks, versions+len(p.inPlace), n+1,
					max(most, p.polls+p.asks)
			}
		}
		each := float64(n) * days
		y.t.Logf("%-11v: %3d projects, %5d versions in place; each project and day %5.1f polls and %4.2f requests for "+
			"files, the busiest %.1f",
			kind, n, versions, float64(polls)/each, float64(asks)/each, float64(most)/days)
	}
	if slices.Sort(y.late); len(y.late) > 0 {
		y.t.Logf("versions in place after %v (median), %v (19 of 20), %v (most); %d refused by the limit, %d missed",
			y.late[len(y.late)/2].Round(time.Second),
			y.late[len(y.late)*19/20].Round(time.Second), y.late[len(y.late)-1].Round(time.Second), y.forge.refused, y.missed)
	}
}
