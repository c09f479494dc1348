package antenna

import (
	"context"
	"fmt"
	"slices"
	"time"

	"braid/antenna/release"
)

// ForgetRelease makes the named watch never fetch a release, given by its version or its tag. If that release is in
// place, the newest other release becomes an update, although it is older.
func (a *Antenna) ForgetRelease(ctx context.Context, watch, version string) error {
	return a.request(ctx, func(l *loop, now time.Time) error {
		i := slices.IndexFunc(l.follow.all, func(g *following) bool { return g.w.Name == watch })
		if i < 0 {
			return fmt.Errorf("no watch %q that follows releases", watch)
		}
		if err := l.follow.forget(l.follow.all[i], version, now); err != nil {
			return err
		}
		l.buffer.save()
		return l.run.err
	})
}

// forget renounces the releases of a version.
func (f *followers) forget(g *following, version string, now time.Time) error {
	is := func(r release.Release) bool { return r.Version == version || r.Tag == version }
	found := false
	for url, o := range g.offers() {
		if is(o.Release) && g.targets[url] == nil {
			t := f.targets.target(urlKey{g.w, url}, nil)
			t.saved.Release = &savedRelease{Tag: o.Tag, Version: o.Version, Date: o.Date, Pre: o.Pre}
		}
	}
	for _, t := range g.targets {
		switch {
		case !is(t.release()):
			continue
		case t.running:
			t.renounce = true
		default:
			f.renounce(t, now)
		}
		found = true
	}
	if !found {
		return fmt.Errorf("neither the feeds of %s nor its state have the version %q", g.w.Name, version)
	}
	if !f.run.offline {
		f.decide(g, now)
	}
	return nil
}

// renounce records that the user does not want the release of t.
func (f *followers) renounce(t *target, now time.Time) {
	f.unhear(t)
	f.updates.tries.remove(t)
	t.w.follow.isSeen = false
	r, last := t.saved.Release, t.saved.Last
	t.saved = savedTarget{Watch: t.saved.Watch, URL: t.saved.URL, Print: t.saved.Print, Reported: t.saved.Reported,
		Release: &savedRelease{Tag: r.Tag, Version: r.Version, Date: r.Date, Pre: r.Pre, Stage: unwanted}}
	if r.Begun { // the current file may be the file of r, so the version before is fetched again
		for _, other := range t.w.follow.in(inPlace) {
			if other.forget = other.running; !other.forget {
				f.drop(other, now)
			}
		}
	}
	if r.Stage == inPlace || r.Begun {
		f.replaced(t.w.follow, now)
		t.saved.Release.Left, t.saved.Last = true, last
	}
	f.buffer.target(t, now)
}

// anew treats all releases of a watch that were given up or declined as new, because the user asked for the watch.
func (f *followers) anew(g *following, now time.Time) {
	for _, t := range slices.Concat(g.in(givenUp), g.in(unwanted)) {
		if r := t.saved.Release; r.Stage == givenUp || r.Declined {
			f.drop(t, now)
		}
	}
	f.decide(g, now)
}
