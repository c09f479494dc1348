package antenna

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"
)

// crash copies the store as it is on disk, like a power failure that loses everything not yet written.
func crash(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(from, "antenna.db"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "antenna.db"), data, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestCrashBeforeAcknowledgement checks that after a crash an update is handled again if its acknowledgement was not
// stored, and not otherwise. The crash is during the update: before the validators of the feed and the update are
// stored, or after.
func TestCrashBeforeAcknowledgement(t *testing.T) {
	for _, work := range []time.Duration{0, 3 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			_, _, a, j := oneFeed(t)
			before, after := t.TempDir(), t.TempDir()
			a.Store = storeIn(t, before)
			j.handle = func(context.Context, Update) (Outcome, error) {
				time.Sleep(work)
				crash(t, before, after)
				return Outcome{Changed: true, ETag: `"1"`}, nil
			}
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
			if len(j.got()) != 1 {
				t.Fatalf("%d updates", len(j.got()))
			}
			for i, want := range []int{1, 0} {
				j.updates, j.handle = nil, nil
				a.Store = storeIn(t, after)
				watchFor(t, a, j, time.Hour)
				closed(t, a.Store)
				if got := len(j.got()); got != want {
					t.Errorf("work %v, start %d after the crash: %d updates, want %d", work, i+1, got, want)
				}
			}
		})
	}
}

// TestStoreRemembers checks that the next run sends the stored validators and that the handler gets the stored outcome.
func TestStoreRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		dir := t.TempDir()
		for i := range 2 {
			a.Store = storeIn(t, dir)
			j.handle = func(context.Context, Update) (Outcome, error) {
				return Outcome{Changed: true, ETag: fmt.Sprint(i), Digest: "d", Path: "p", Evidence: "e", Size: 5}, nil
			}
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
			p.set(lirsLine(fileURL, time.Now(), time.Now(), 200))
		}
		got := j.got()
		if reasons(got) != "first-sight modified" || got[1].Last.ETag != "0" || got[1].Last.Digest != "d" ||
			got[1].Last.At.IsZero() {
			t.Errorf("%s: %+v", reasons(got), got)
		}
		full := 0
		for _, v := range w.to("https://feeds.example/antenna.lirs") {
			if v.header.Get("If-None-Match") == "" {
				full++
			}
		}
		if full != 1 {
			t.Errorf("asked in full %d times", full)
		}
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		if info, err := os.Stat(filepath.Join(dir, "antenna.db")); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	})
}

// TestStoreOfAnotherConfiguration checks that a feed is downloaded without validators after its watches have changed,
// because records for new watches were not kept.
func TestStoreOfAnotherConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "https://files.example/b"
		_, p, a, j := oneFeed(t)
		p.text += lirsLine(other, time.Now(), time.Now(), 7)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		watchFor(t, a, j, time.Hour)
		closed(t, a.Store)
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		a.Watches = append(a.Watches, Watch{URL: other})
		watchFor(t, a, j, time.Hour)
		if got := j.got(); len(got) != 2 || got[1].URL != other {
			t.Errorf("%+v", got)
		}
	})
}

// TestStoreDamaged_Rule8 checks that a store that cannot be read is set aside, and that the cache in LIRS is used
// instead (rule 8).
func TestStoreDamaged_Rule8(t *testing.T) {
	damages := map[string]func(data []byte) []byte{
		"garbage":   func([]byte) []byte { return []byte(strings.Repeat("garbage ", 10_000)) },
		"truncated": func(data []byte) []byte { return data[:2*os.Getpagesize()+100] },
		"short":     func(data []byte) []byte { return data[:100] },
		"one page":  func(data []byte) []byte { return data[:os.Getpagesize()+100] },
		"noise":     func([]byte) []byte { return bytes.Repeat([]byte("noise"), os.Getpagesize()/5) },
		"zeros": func(data []byte) []byte {
			clear(data[2*os.Getpagesize():])
			return data
		},
		"a value that is none": func(data []byte) []byte {
			return bytes.ReplaceAll(data, []byte(`{"Print"`), []byte(`["Print"`))
		},
		"another version": nil,
	}
	for name, damage := range damages {
		synctest.Test(t, func(t *testing.T) {
			_, _, a, j := oneFeed(t)
			dir := t.TempDir()
			path := filepath.Join(dir, "antenna.db")
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			if damage == nil {
				setVersion(t, a.Store, "0")
			}
			closed(t, a.Store)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if damage != nil {
				data = damage(data)
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
			if got := j.got(); len(got) != 1 {
				t.Errorf("%s: %s: what the cache knows was downloaded again", name, reasons(got))
			}
			lost := eventsOf[StoreLost](j)
			if len(lost) != 1 || lost[0].Restored != 1 || lost[0].Aside != path+".bad" || lost[0].Why == "" {
				t.Errorf("%s: %+v", name, lost)
			}
			if aside, err := os.ReadFile(path + ".bad"); err != nil || !bytes.Equal(aside, data) {
				t.Errorf("%s: set aside are %d octets, %v", name, len(aside), err)
			}
		})
	}
}

// TestStoreGone_Rule8 checks that a missing store is replaced by the cache, also after a process made an empty store
// and ended.
func TestStoreGone_Rule8(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, _, a, j := oneFeed(t)
			dir := t.TempDir()
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
			if err := os.Remove(filepath.Join(dir, "antenna.db")); err != nil {
				t.Fatal(err)
			}
			if again {
				closed(t, storeIn(t, dir))
			}
			for range 2 {
				a.Store = storeIn(t, dir)
				watchFor(t, a, j, time.Hour)
				closed(t, a.Store)
			}
			if got := j.got(); len(got) != 1 {
				t.Errorf("%s: what the cache knows was downloaded again", reasons(got))
			}
			if lost := eventsOf[StoreLost](j); len(lost) != 1 || lost[0].Restored != 1 || lost[0].Aside != "" ||
				lost[0].Why == "" {
				t.Errorf("%+v", lost)
			}
		})
	}
}

func setVersion(t *testing.T, s *Store, v string) {
	t.Helper()
	err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyVersion, []byte(v)) })
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoreThatCannotBeOpened checks that a store that cannot be opened for another reason than damage is not moved.
func TestStoreThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "antenna.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(filepath.Join(dir, "antenna.db")); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := os.Stat(filepath.Join(dir, "antenna.db.bad")); err == nil {
		t.Error("a folder was set aside")
	}
	if _, err := OpenStore(filepath.Join(dir, "none", "antenna.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
}

func TestStoreLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := storeIn(t, dir)
		defer closed(t, s)
		_, err := OpenStore(filepath.Join(dir, "antenna.db"))
		var locked *LockedError
		if !errors.As(err, &locked) || locked.PID != os.Getpid() ||
			!strings.Contains(err.Error(), fmt.Sprintf("process %d (", os.Getpid())) {
			t.Errorf("opened twice: %v", err)
		}
	})
	if got := (&LockedError{Path: "p"}).Error(); got != "p is in use by another process" {
		t.Error(got)
	}
}

// TestStoreHasNoSecrets_Rule62 checks that no file contains secrets of the configuration (rule 62).
func TestStoreHasNoSecrets_Rule62(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "s3cret"
		w, j := newWorld(t), &journal{}
		dir := t.TempDir()
		a := w.antenna(j)
		a.Store = storeIn(t, dir)
		watched := "https://files.example/a?sig=" + secret
		p := &page{}
		p.set(lirsLine("https://files.example/a", time.Now(), time.Now(), 1))
		w.sites["feeds.example"] = p.answer
		w.sites["down.example"] = func(*http.Request) *http.Response { return says(500, "") }
		w.sites["files.example"] = (&page{text: "x", modified: time.Now()}).answer
		a.Feeds = []Feed{
			{URL: "https://user:" + secret + "@feeds.example/f?key=" + secret, Header: http.Header{"X-Key": {secret}}},
			{URL: "https://down.example/f?key=" + secret},
		}
		a.Watches = []Watch{{URL: watched, CheckEvery: time.Hour, Header: http.Header{"X-Key": {secret}}}}
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if u.Try < 3 {
				return Outcome{}, errors.New("down")
			}
			return Outcome{Changed: true}, nil
		}
		watchFor(t, a, j, 3*time.Hour)
		status, err := a.Status(t.Context())
		closed(t, a.Store)
		if err != nil || strings.Contains(fmt.Sprintf("%+v", status), secret) {
			t.Errorf("status: %+v, %v", status, err)
		}
		for _, e := range eventsOf[Event](j) {
			if h, ok := e.(Handled); ok {
				h.Update.URL, h.Update.Record.URL = "", "" // the handler needs the URL; it is not for logs
				e = h
			}
			if u, ok := e.(Updated); ok {
				u.Update.URL, u.Update.Record.URL = "", ""
				e = u
			}
			if strings.Contains(fmt.Sprintf("%+v", e), secret) {
				t.Errorf("event %T: %+v", e, e)
			}
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil || bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s has the secret: %v", e.Name(), err)
			}
		}
		if len(entries) != 2 || len(j.got()) == 0 {
			t.Errorf("%d files, %d updates", len(entries), len(j.got()))
		}
	})
}

// TestWatchOfAnotherURL checks that the state of a URL is not used after its watch gets another URL.
func TestWatchOfAnotherURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "https://files.example/b"
		w, p, a, j := oneFeed(t)
		p.text += lirsLine(other, time.Now().Add(-time.Hour), time.Now(), 7)
		dir := t.TempDir()
		for _, u := range []string{fileURL, other} {
			a.Store = storeIn(t, dir)
			a.Watches[0].URL = u
			watchFor(t, a, j, time.Minute)
			closed(t, a.Store)
			time.Sleep(w.gap)
		}
		if got := j.got(); reasons(got) != "first-sight first-sight" || got[1].URL != other {
			t.Errorf("%+v", got)
		}
	})
}

// TestPollsAreWrittenTogether checks that polls without news are stored together once in a round, and that an
// acknowledgement is stored at once.
func TestPollsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWorld(t), &journal{}
		a := w.antenna(j)
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		p := &page{}
		p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
		for i := range 100 {
			host := fmt.Sprintf("feeds%d.example", i)
			w.sites[host] = p.answer
			a.Feeds = append(a.Feeds, Feed{URL: "https://" + host, Every: time.Minute})
		}
		a.Watches = []Watch{{URL: fileURL}}
		before := transactions(t, a.Store)
		watchFor(t, a, j, 100*time.Minute)
		if polls, n := len(eventsOf[Polled](j)), transactions(t, a.Store)-before; polls < 9000 || n > 120 {
			t.Errorf("%d polls are %d transactions", polls, n)
		}
	})
}

// transactions returns the number of write transactions.
func transactions(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.db.View(func(tx *bbolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}
