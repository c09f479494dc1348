package antenna

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeptLast checks that Keep gets the bucket with the validators of feeds last.
func TestKeptLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		var told []string
		for i := range 20 { // the order of a map varies
			a.Store.Keep(func(bucket, _ string, _ []byte) { told = append(told, bucket) })
			b := batch{"feeds": {"f": []byte("x")}, "watches": {"w": []byte("x")}, "reports": {"f": []byte("x")},
				"gone": {"g": []byte("x")}}
			a.Store.kept(b)
			if told[len(told)-1] != LastBucket || len(told) != 4*(i+1) {
				t.Fatalf("told in the order %v", told)
			}
		}
		a.Store.Keep(nil)
		watchFor(t, a, j, time.Minute)
	})
}

// TestAskAnewKept checks that a copy gets the change of AskAnew: if the process ends before it has polled the feed, the
// process with the copy must not send the validators either.
func TestAskAnewKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		copied := map[string]map[string][]byte{"feeds": {}}
		var before int
		for _, anew := range []bool{false, true, false} { // the records of the first process are lost
			a.Store = storeIn(t, t.TempDir())
			if err := a.Store.Replace(copied); err != nil {
				t.Fatal(err)
			}
			a.Store.Keep(func(bucket, key string, value []byte) {
				if bucket == "feeds" {
					copied[bucket][key] = value
				}
			})
			before = len(w.to("https://feeds.example/antenna.lirs"))
			if !anew {
				watchFor(t, a, j, 15*time.Minute)
			} else if err := a.Store.AskAnew(); err != nil {
				t.Fatal(err)
			}
			closed(t, a.Store)
		}
		if asked := w.to("https://feeds.example/antenna.lirs")[before:]; len(asked) == 0 ||
			asked[0].header.Get("If-None-Match") != "" {
			t.Errorf("%d polls, the first not in full", len(asked))
		}
	})
}

// TestAskAnew checks that a feed is downloaded again if a copy of the store has its validators but not all records that
// came with them.
func TestAskAnew(t *testing.T) {
	for _, part := range [][]string{{"feeds"}, {"feeds", "watches"}, {"feeds", "reports"},
		{"feeds", "reports", "watches", "gone"}, {}} {
		synctest.Test(t, func(t *testing.T) {
			w, _, a, j := oneFeed(t)
			a.Store = storeIn(t, t.TempDir())
			copied := map[string]map[string][]byte{}
			a.Store.Keep(func(bucket, key string, value []byte) {
				if slices.Contains(part, bucket) {
					if copied[bucket] == nil {
						copied[bucket] = map[string][]byte{}
					}
					copied[bucket][key] = value
				}
			})
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
			if len(j.got()) != 1 {
				t.Fatalf("%d updates", len(j.got()))
			}
			a.Store = storeIn(t, t.TempDir())
			if err := a.Store.Replace(copied); err != nil {
				t.Fatal(err)
			}
			if err := a.Store.AskAnew(); err != nil {
				t.Fatal(err)
			}
			before := len(w.to("https://feeds.example/antenna.lirs"))
			j.updates = nil
			watchFor(t, a, j, 15*time.Minute)
			closed(t, a.Store)
			want := 1
			if slices.Contains(part, "watches") { // the file is known
				want = 0
			}
			if got := len(j.got()); got != want {
				t.Errorf("with %v: %d updates, want %d", part, got, want)
			}
			asked := w.to("https://feeds.example/antenna.lirs")[before:]
			if len(asked) == 0 || asked[0].header.Get("If-None-Match") != "" {
				t.Errorf("with %v: %d polls, the first not in full", part, len(asked))
			}
		})
	}
}
