package antenna

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/release"
)

// A mirror has what a store has written, as a killed process leaves it.
type mirror struct {
	mu     sync.Mutex
	values map[string]map[string][]byte
}

// keep records a written value.
func (m *mirror) keep(bucket, key string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[bucket] == nil {
		m.values[bucket] = map[string][]byte{}
	}
	if m.values[bucket][key] = value; value == nil {
		delete(m.values[bucket], key)
	}
}

// now returns a copy of what was written so far.
func (m *mirror) now() map[string]map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]map[string][]byte{}
	for bucket, values := range m.values {
		all[bucket] = maps.Clone(values)
	}
	return all
}

// A fetcher is a handler of one project that takes its time, fails now and then, and checks what it is asked for.
type fetcher struct {
	t       *testing.T
	p       *project
	random  *rand.Rand
	running int
	// inPlace has the versions that were put in place, and when. dead reports that the process was killed.
	inPlace []string
	dead    atomic.Bool
}

func (f *fetcher) handle(ctx context.Context, u Update) (Outcome, error) {
	if f.running++; f.running > 1 {
		f.t.Error("two releases of a watch are handled at once")
	}
	defer func() { f.running-- }()
	select {
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	case <-time.After(time.Duration(f.random.IntN(600)) * time.Second):
	}
	switch {
	case f.dead.Load():
		return Outcome{}, errors.New("killed")
	case !f.p.isReady(u.Release.Version):
		return Outcome{}, &NotYet{Err: errMissing}
	case f.random.IntN(10) == 0:
		return Outcome{}, errors.New("the connection broke")
	}
	if n := len(f.inPlace); n > 0 {
		switch c := release.Compare(f.inPlace[n-1], u.Release.Version); {
		case c > 0:
			f.t.Errorf("%s after %s", u.Release.Version, f.inPlace[n-1])
		case c == 0:
			return Outcome{}, nil // in place before the watcher was killed: not fetched again
		}
	}
	f.inPlace = append(f.inPlace, u.Release.Version)
	return Outcome{Changed: true}, nil
}

// TestReleasesWorld_Rule80 invents the history of a project, with late files, files that never come, removed releases and old
// series, and kills the watcher at random. It checks that no version comes after a newer one, that each comes once, and
// that in the end the newest one that is there is in place.
func TestReleasesWorld_Rule80(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { releasesWorld(t, rand.New(rand.NewPCG(seed, 30))) })
		})
	}
}

func releasesWorld(t *testing.T, random *rand.Rand) {
	w, p, a, j := follower(t)
	p.most = 10
	a.Feeds[0].Every, a.Round = 15*time.Minute, 10*time.Minute // each round is a write to the disk
	f := &fetcher{t: t, p: p, random: random}
	j.handle = f.handle
	last := ""
	minor, patch := 0, 0
	for at := time.Duration(0); at < 48*time.Hour; at += time.Duration(random.IntN(120)) * time.Minute {
		late, kind := time.Duration(random.IntN(180))*time.Minute, random.IntN(8)
		if random.IntN(3) > 0 {
			late = 0
		}
		if patch++; kind == 0 {
			minor, patch = minor+1, 0
		}
		version := fmt.Sprintf("1.%d.%d", minor, patch)
		switch kind {
		case 1: // an old series
			version = fmt.Sprintf("0.9.%d", random.IntN(1000))
		case 2: // without a file
			version, late = fmt.Sprintf("99.0.%d", random.IntN(1000)), -1
		default:
			last = version
		}
		w.later(at, func() { p.tag("v"+version, late) })
		if kind == 2 {
			w.later(at+time.Duration(random.IntN(20))*time.Hour, func() { p.remove("v" + version) })
		}
	}
	m := &mirror{values: map[string]map[string][]byte{}}
	for left := 60 * time.Hour; left > 0; {
		run := min(left, time.Duration(random.IntN(300)+10)*time.Minute)
		left -= run
		a.Store = storeIn(t, t.TempDir())
		if err := a.Store.Replace(m.now()); err != nil {
			t.Fatal(err)
		}
		a.Store.Keep(m.keep)
		ctx, cancel := context.WithCancel(t.Context())
		var kept map[string]map[string][]byte
		time.AfterFunc(run, func() {
			kept = m.now()
			f.dead.Store(true)
			cancel()
		})
		if err := a.Watch(ctx, j.take); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		closed(t, a.Store)
		time.Sleep(time.Second)
		f.dead.Store(false)
		m.values = kept
	}
	if n := len(f.inPlace); n == 0 || f.inPlace[n-1] != last {
		t.Errorf("in place were %v, and the last is %s", f.inPlace, last)
	}
}
