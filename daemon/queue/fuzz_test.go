package queue

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// A world is a queue with its stored state and its running downloads.
type world struct {
	t       testing.TB
	q       *Queue
	now     time.Time
	disk    map[GID]Entry
	global  map[string]string
	working map[GID]bool  // true if it was told to stop
	known   map[GID]bool  // added and not forgotten
	seen    map[GID]Entry // by Since
	version uint64
}

func newWorld(t testing.TB) *world {
	return &world{
		t: t, q: New(7), now: time.Unix(2e9, 0).UTC(), disk: map[GID]Entry{}, global: map[string]string{},
		working: map[GID]bool{}, known: map[GID]bool{},
	}
}

// settle carries out the changes of the queue and returns the notices.
func (w *world) settle() []Notice {
	c := w.q.Drain()
	for _, g := range c.Delete {
		delete(w.disk, g)
		delete(w.known, g)
	}
	for _, e := range c.Store {
		data, err := json.Marshal(e)
		var stored Entry
		if err == nil {
			err = json.Unmarshal(data, &stored)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.disk[e.GID] = stored
	}
	if c.Global != nil {
		w.global = c.Global
	}
	for _, g := range c.Stop {
		if stopped, ok := w.working[g]; !ok || stopped {
			w.t.Fatalf("%s is to be stopped, and is at work: %t, was told: %t", g, ok, stopped)
		}
		w.working[g] = true
	}
	for _, g := range c.Changed {
		if _, ok := w.working[g]; !ok {
			w.t.Fatalf("%s is to go on with other options, and is not at work", g)
		}
	}
	return c.Notices
}

func gids(entries []Entry) (all []GID) {
	for _, e := range entries {
		all = append(all, e.GID)
	}
	return all
}

func (w *world) lists() (active, waiting, stopped []Entry) {
	return w.q.Active(), w.q.Waiting(0, 1<<30), w.q.Stopped(0, 1<<30)
}

// check checks the invariants.
func (w *world) check() {
	w.t.Helper()
	active, waiting, stopped := w.lists()
	all := map[GID]Entry{}
	for i, l := range [][]Entry{waiting, active, stopped} {
		for n, e := range l {
			if _, twice := all[e.GID]; twice {
				w.t.Fatalf("%s is in two places", e.GID)
			}
			all[e.GID] = e
			right := [][]Status{{Waiting, Paused}, {Active}, {Complete, Failed, Removed}}[i]
			if !slices.Contains(right, e.Status) || n > 0 && l[n-1].Rank >= e.Rank ||
				i == 0 && n > 0 && l[n-1].Priority < e.Priority {
				w.t.Fatalf("list %d at %d has %+v after %+v", i, n, e, l[max(n-1, 0)])
			}
		}
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, slices.Sorted(maps.Keys(w.known))) {
		w.t.Fatalf("known are %v, want %v", got, slices.Sorted(maps.Keys(w.known)))
	}
	if !reflect.DeepEqual(all, w.disk) || !maps.Equal(w.global, w.q.Global()) {
		w.t.Fatalf("the queue has\n%+v\nthe disk\n%+v", all, w.disk)
	}
	if w.follow(); !reflect.DeepEqual(all, w.seen) {
		w.t.Fatalf("the queue has\n%+v\nand tells\n%+v", all, w.seen)
	}
	for g, told := range w.working {
		if e, ok := all[g]; (!ok || e.Status != Active) && !told {
			w.t.Fatalf("%s is at work for %+v, and was not told to stop", g, e)
		}
	}
	for _, e := range active {
		if told, ok := w.working[e.GID]; !ok || told {
			w.t.Fatalf("%s is active, and nothing is at work for it", e.GID)
		}
	}
	var count [Removed + 1]int
	for _, e := range all {
		count[e.Status]++
	}
	if count != w.q.order.count {
		w.t.Fatalf("counted %v, want %v", w.q.order.count, count)
	}
}

// follow reads the changes since the last call.
func (w *world) follow() {
	d := w.q.Since(w.version)
	if w.version = d.Version; d.All || w.seen == nil {
		w.seen = map[GID]Entry{}
	}
	for _, e := range d.Entries {
		w.seen[e.GID] = e
	}
	for _, g := range d.Gone {
		delete(w.seen, g)
	}
}

// restart replaces the queue by the stored one, and checks that nothing else has changed.
func (w *world) restart() {
	w.t.Helper()
	active, waiting, stopped := w.lists()
	w.q = Restore(8, slices.Collect(maps.Values(w.disk)), w.global)
	clear(w.working)
	w.version = 0
	w.settle()
	w.check()
	nowActive, nowWaiting, nowStopped := w.lists()
	want := slices.Clone(active)
	slices.SortStableFunc(want, func(a, b Entry) int { return b.Priority - a.Priority })
	want = append(want, waiting...)
	slices.SortStableFunc(want, func(a, b Entry) int { return b.Priority - a.Priority })
	if len(nowActive) > 0 || !slices.Equal(gids(nowWaiting), gids(want)) || !slices.Equal(gids(nowStopped), gids(stopped)) {
		w.t.Fatalf("after a restart %v wait, want %v; %v stopped, want %v", gids(nowWaiting), gids(want),
			gids(nowStopped), gids(stopped))
	}
}

// A tape provides the choices of a run. At its end it returns 0.
type tape struct{ data []byte }

func (t *tape) next(n int) int {
	if len(t.data) == 0 || n <= 0 {
		return 0
	}
	b := t.data[0]
	t.data = t.data[1:]
	return int(b) % n
}

// some returns the GID of an entry, an unknown GID or 0.
func (w *world) some(in *tape) GID {
	active, waiting, stopped := w.lists()
	all := slices.Concat(active, waiting, stopped)
	if n := in.next(len(all) + 1); n < len(all) {
		return all[n].GID
	}
	return GID(in.next(3))
}

// command carries out a command and returns the entry concerned.
func (w *world) command(in *tape) (about GID) {
	switch in.next(15) {
	case 0, 1, 2:
		e := Entry{URIs: []string{fmt.Sprint("http://h/", in.next(9))}, Priority: in.next(3) - 1,
			Status: Status(in.next(3)), GID: GID(in.next(5))}
		if in.next(4) == 0 {
			e.Following = w.some(in)
		}
		g, err := w.q.Add(w.now, e, in.next(6)-1)
		if err == nil {
			w.known[g] = true
		}
		return g
	case 3, 4:
		if e, ok := w.q.Start(w.now); ok {
			if _, twice := w.working[e.GID]; twice {
				w.t.Fatalf("%s begins while it is at work", e.GID)
			}
			w.working[e.GID] = false
			return e.GID
		}
		for _, e := range w.q.Waiting(0, 1<<30) {
			if _, ok := w.working[e.GID]; e.Status == Waiting && !ok {
				w.t.Fatalf("%s could begin, and nothing does", e.GID)
			}
		}
	case 5, 6:
		at := slices.Sorted(maps.Keys(w.working))
		if len(at) == 0 {
			return 0
		}
		g := at[in.next(len(at))]
		delete(w.working, g)
		w.q.Ended(w.now, g, Outcome{Kind: []string{"", Interrupted, "network", Early}[in.next(4)]})
		return g
	case 7:
		g := w.some(in)
		w.q.Progress(g, Live{Path: []string{"", "a", "b"}[in.next(3)], Done: int64(in.next(9)), Size: 9,
			Seeding: in.next(2) == 0})
	case 8:
		g := w.some(in)
		w.q.Pause(g)
		return g
	case 9:
		g := w.some(in)
		w.q.Resume(g)
		return g
	case 10:
		g := w.some(in)
		w.q.Remove(w.now, g)
		return g
	case 11:
		w.q.Forget(w.some(in))
	case 12:
		g := w.some(in)
		w.q.Move(g, in.next(9)-4, Whence(in.next(3)))
		return g
	case 13:
		g := w.some(in)
		switch option := map[string]string{[]string{"out", whileRunning}[in.next(2)]: []string{"", "1",
			"2"}[in.next(3)]}; in.next(3) {
		case 0:
			w.q.Change(g, option)
		case 1:
			w.q.ChangeURIs(g, []string{fmt.Sprint("http://h/", in.next(3))})
		default:
			w.q.ChangeGlobal(option)
		}
		return g
	default:
		[]func(){w.q.PauseAll, w.q.ResumeAll, w.q.ForgetAll, w.restart}[in.next(4)]()
	}
	return 0
}

// orderKept reports whether the entries that are in both lists, except but, have the same order.
func orderKept(before, after []Entry, but GID) bool {
	common := func(of, in []Entry) []GID {
		there := map[GID]bool{}
		for _, e := range in {
			there[e.GID] = e.GID != but
		}
		return slices.DeleteFunc(gids(of), func(g GID) bool { return !there[g] })
	}
	return slices.Equal(common(before, after), common(after, before))
}

// live runs a tape.
func live(t testing.TB, data []byte) {
	w, in := newWorld(t), &tape{data}
	for len(in.data) > 0 {
		w.now = w.now.Add(time.Second)
		beforeActive, beforeWaiting, beforeStopped := w.lists()
		about := w.command(in)
		notices := w.settle()
		w.check()
		active, waiting, stopped := w.lists()
		if !orderKept(beforeWaiting, waiting, about) || !orderKept(beforeStopped, stopped, about) ||
			!orderKept(beforeActive, active, about) {
			t.Fatalf("a command about %s changed the order of others", about)
		}
		w.checkNotices(slices.Concat(beforeActive, beforeWaiting, beforeStopped), slices.Concat(active, waiting,
			stopped), notices)
	}
	w.restart()
}

// checkNotices checks that each change of an entry was notified once, and nothing else.
func (w *world) checkNotices(before, after []Entry, notices []Notice) {
	w.t.Helper()
	was := map[GID]Status{}
	for _, e := range before {
		was[e.GID] = e.Status
	}
	var want []Notice
	for _, e := range after {
		old, known := was[e.GID]
		what, told := map[Status]What{Active: OnStart, Paused: OnPause, Complete: OnComplete, Failed: OnError,
			Removed: OnStop}[e.Status]
		if known && old != e.Status && told {
			want = append(want, Notice{what, e.GID})
		}
	}
	for _, e := range before {
		if e.Status == Active && !slices.Contains(gids(after), e.GID) { // early
			want = append(want, Notice{OnStop, e.GID})
		}
	}
	got := slices.DeleteFunc(notices, func(n Notice) bool { return n.What == OnSeed })
	order := func(a, b Notice) int {
		return int(a.What)*4 + slices.Compare([]GID{a.GID}, []GID{b.GID}) - int(b.What)*4
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		w.t.Fatalf("told is %v, want %v", got, want)
	}
}

// TestRandomCommands checks that random commands lose nothing and keep the order, that each entry is in one state, and
// that the stored state is that of the queue.
func TestRandomCommands(t *testing.T) {
	for seed := range uint64(150) {
		chance := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
		data := make([]byte, 600)
		chance.Read(data)
		live(t, data)
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x01\x00\x00\x03\x08\x00\x05\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 2000 {
			live(t, data)
		}
	})
}
