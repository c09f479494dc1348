package antenna

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errProgram = errors.New("the program failed")

// TestReleasesBegun_Rule80 checks that while the file of a version is in place and its program fails, no older version
// is handled: neither one lower in the list nor the one before. If the user leaves it out, the newest other one follows
// it.
func TestReleasesBegun_Rule80(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		p.tag("v1.2", 0)
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			o, err := p.handle(ctx, u)
			if err == nil && u.Release.Version == "1.3" {
				err = errProgram
			}
			return o, err
		}
		w.later(time.Hour, func() { p.tag("v1.2.5", 0); p.tag("v1.3", 0) })
		watchFor(t, a, j, 2*time.Hour)
		watchAsking(t, a, j, 3*time.Hour+30*time.Second, func() {
			if err := a.RunNow(t.Context(), "tool"); err != nil {
				t.Error(err)
			}
		})
		if got := versions(j.got()); !strings.HasPrefix(got, "1.2 1.3 1.3 ") || strings.Contains(got, "1.3 1.2") {
			t.Errorf("updates to %s", got)
		}
		before := len(j.got())
		if err := a.ForgetRelease(t.Context(), "tool", "1.3"); err != nil {
			t.Fatal(err)
		}
		watchFor(t, a, j, time.Hour)
		after := j.got()[before:]
		if versions(after) != "1.2.5" || after[0].Previous != "1.3" {
			t.Errorf("then updates to %s: %+v", versions(after), after)
		}
		if got := stages(t, a); got != "1.3 unwanted, 1.2.5 in-place" {
			t.Errorf("stages: %s", got)
		}
	})
}

// TestReleasesNotBegun checks that a version that fails without its file being in place holds up no other one.
func TestReleasesNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		p.tag("v1.2", 0)
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			if u.Release.Version == "1.3" {
				return Outcome{}, errors.New("a wrong digest")
			}
			return p.handle(ctx, u)
		}
		w.later(time.Hour, func() { p.tag("v1.2.5", 0); p.tag("v1.3", 0) })
		watchFor(t, a, j, 12*time.Hour)
		if got := done(j); got != "1.2 1.2.5" {
			t.Errorf("in place were %s", got)
		}
	})
}

// TestReleasesKilled_Rule80 checks that after the process was killed while a version was handled, this version is
// handled before the older one is looked at again, although the user asks for it.
func TestReleasesKilled_Rule80(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := follower(t)
		m := &mirror{values: map[string]map[string][]byte{}}
		a.Store = storeIn(t, t.TempDir())
		a.Store.Keep(m.keep)
		p.tag("v1.2", 0)
		var kept map[string]map[string][]byte
		j.handle = func(ctx context.Context, u Update) (Outcome, error) {
			if u.Begun != (u.Release.Version == "1.3" && kept != nil) {
				t.Errorf("version %s: Begun is %t", u.Release.Version, u.Begun)
			}
			if u.Release.Version == "1.3" && kept == nil {
				kept = m.now()
			}
			return p.handle(ctx, u)
		}
		w.later(time.Hour, func() { p.tag("v1.3", 0) })
		watchFor(t, a, j, 2*time.Hour)
		closed(t, a.Store)
		a.Store = storeIn(t, t.TempDir())
		defer func() { closed(t, a.Store) }()
		if err := a.Store.Replace(kept); err != nil {
			t.Fatal(err)
		}
		before := len(j.got())
		if err := a.Once(t.Context(), j.take, "tool"); err != nil {
			t.Fatal(err)
		}
		if got := versions(j.got()[before:]); got != "1.3" {
			t.Errorf("after the restart, updates to %s", got)
		}
	})
}
