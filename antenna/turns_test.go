package antenna

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowHostLeavesRoom checks that updates that hang at one host do not delay those of another host, or of another
// watch at the same host.
func TestSlowHostLeavesRoom(t *testing.T) {
	const glob = "https://slow.example/pub/**"
	for _, other := range []string{"https://fast.example/a", "https://slow.example/other"} {
		synctest.Test(t, func(t *testing.T) {
			_, p, a, j := oneFeed(t)
			a.Watches = []Watch{{Name: "slow", URL: glob, Glob: true}, {Name: "other", URL: other}}
			var feed strings.Builder
			for i := range 20 {
				feed.WriteString(lirsLine(fmt.Sprintf("https://slow.example/pub/%d", i), time.Now(), time.Now(), 1))
			}
			p.set(feed.String() + lirsLine(other, time.Now(), time.Now(), 1))
			var mu sync.Mutex
			var done time.Time
			running, most := 0, 0
			j.handle = func(ctx context.Context, u Update) (Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				if u.URL == other {
					done = time.Now()
					return Outcome{Changed: true}, nil
				}
				running++
				most = max(most, running)
				mu.Unlock()
				<-ctx.Done()
				mu.Lock()
				return Outcome{}, ctx.Err()
			}
			start := time.Now()
			watchFor(t, a, j, time.Hour)
			if done.IsZero() || done.Sub(start) > time.Minute || most != 3 {
				t.Errorf("%s: done %v, %d of four places for the others", other, done, most)
			}
		})
	}
}

// TestOneWatchHasAllPlaces checks that a single watch may use all places.
func TestOneWatchHasAllPlaces(t *testing.T) {
	s := turns{places: 4}
	w := &watcher{host: "h"}
	for i := range 6 {
		s.put(&target{w: w, url: fmt.Sprint(i)}, time.Unix(1, 0))
	}
	for range 4 {
		if s.next(time.Unix(2, 0)) == nil {
			t.Fatal("a place is kept")
		}
	}
}

// TestTurns checks with random operations that every update that is due gets its turn, that no watch has more than its
// part, and that watches take turns.
func TestTurns(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := turns{places: 1 + r.IntN(6)}
		var watchers []*watcher
		for i := range 1 + r.IntN(5) {
			watchers = append(watchers, &watcher{host: fmt.Sprint(i % 3)})
			s.lane(watchers[i])
		}
		now := time.Unix(1000, 0)
		waiting, running := map[*target]bool{}, []*target{}
		count := func(same func(*target) bool) (n int) {
			for _, other := range running {
				if same(other) {
					n++
				}
			}
			return n
		}
		for i := 0; i < 300 || len(waiting)+len(running) > 0; i++ {
			if i > 5000 {
				t.Fatalf("seed %d: %d wait for ever, %d run", seed, len(waiting), len(running))
			}
			now = now.Add(time.Second)
			switch n := r.IntN(4); {
			case n == 0 && i < 300:
				x := &target{w: watchers[r.IntN(len(watchers))]}
				waiting[x] = true
				s.put(x, now.Add(time.Duration(r.IntN(5)-2)*time.Second))
			case n == 1 && len(running) > 0:
				at := r.IntN(len(running))
				s.done(running[at])
				running = slices.Delete(running, at, at+1)
			case n == 2 && i < 300:
				for x := range waiting {
					delete(waiting, x)
					s.remove(x)
					break
				}
			}
			for len(running) < s.places {
				x := s.next(now)
				if x == nil {
					break
				}
				if !waiting[x] {
					t.Fatalf("seed %d: a turn of one that does not wait", seed)
				}
				delete(waiting, x)
				running = append(running, x)
				if n := count(func(o *target) bool { return o.w == x.w }); n > s.part(len(watchers) > 1) {
					t.Fatalf("seed %d: %d of a watch in %d places", seed, n, s.places)
				}
				if n := count(func(o *target) bool { return o.w.host == x.w.host }); n > s.part(len(s.hosts) > 1) {
					t.Fatalf("seed %d: %d of a host in %d places", seed, n, s.places)
				}
			}
		}
	}
	s := turns{places: 2}
	a, b := &watcher{host: "a"}, &watcher{host: "b"}
	for i := range 3 {
		s.put(&target{w: a}, time.Unix(int64(i), 0))
	}
	s.put(&target{w: b}, time.Unix(50, 0))
	order := ""
	for i := range 4 {
		x := s.next(time.Unix(int64(100+i), 0))
		order += x.w.host
		s.done(x)
	}
	if order != "abaa" {
		t.Errorf("turns of %s", order)
	}
}
